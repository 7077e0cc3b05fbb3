"""The entity-spans of a text, to which the words attend in a model with knowledge bases (`plmlab.layers.kar`)."""

from collections.abc import Sequence
from random import Random

from jaxtyping import Float
from torch import Tensor

from plmlab.candidates import Candidates, LinkedExample
from plmlab.example import Example
from plmlab.objectives.entity_linking import with_mentions
from plmlab.text.knowledge import KnowledgeBase
from plmlab.text.tokenizers import Tokenizer


def with_candidates(example: Example, tokenizer: Tokenizer, text: str, second: str | None,
                    knowledge: Sequence[KnowledgeBase]) -> LinkedExample:
    """The unmasked input of one or two texts, [CLS] A [SEP] B [SEP], with their candidate mentions."""
    pair = () if second is None else tokenizer.encode(second)
    return with_mentions(lambda *_, **choices: example, *knowledge)(
        tokenizer.encode(text), vocab=tokenizer.vocab, rng=Random(0), pair=pair)


def span_names(tokens: Sequence[str], mentions: Candidates, weights: Float[Tensor, "batch mention candidate"],
               knowledge: KnowledgeBase) -> list[str]:
    """A label for each candidate mention of the only text: its tokens, and the key of the entity with the largest of
    the linker's ``weights``; NULL if no entity has a weight. A mention that occurs more than once is labelled with its
    position."""
    entities = mentions.entities[0].gather(1, weights[0].argmax(1, keepdim=True))[:, 0]
    linked = weights[0].any(1)
    spans = [(start, " ".join(tokens[start:end])) for start, end in mentions.spans[0][mentions.mask[0]].tolist()]
    texts = [text for _, text in spans]
    names = [text if texts.count(text) == 1 else f"{text} (position {start})" for start, text in spans]
    return [f"{name} → {(knowledge.key(int(entity)) if has_weight else None) or 'NULL'}"
            for name, entity, has_weight in zip(names, entities, linked, strict=False)]
