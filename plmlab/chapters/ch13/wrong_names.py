"""Summaries with a wrong name: nearly the same words, and another meaning."""

from collections.abc import Sequence
from random import Random

from plmlab.draws import randint
from plmlab.world.datasets.generation_tasks import bilingual_ids
from plmlab.world.datasets.summaries import fact_extractor
from plmlab.world.datasets.tokenizer import bilingual_tokenizer


def with_wrong_name(summary: Sequence[int], rng: Random) -> tuple[int, ...]:
    """The summary with the name that it mentions last replaced by a random other name of the same kind, such as another
    town. Raises ValueError if it mentions none."""
    extractor, text = fact_extractor(), " ".join(bilingual_tokenizer().tokens(summary))
    *_, last = extractor.mention.finditer(text)
    [entity, *_] = extractor.facts.named(last[0])
    others = [other for other in extractor.facts.kind(entity.kind) if other.name != entity.name]
    name = others[randint(rng, len(others))].name
    return bilingual_ids([*text[:last.start()].split(), *name.split(), *text[last.end():].split()])
