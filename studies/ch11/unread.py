"""Hidden words of sentences that nobody read: the full world's test, put to what was pretrained on its training text.

Of the full world's plain test, only the sentences of *open* patterns stand in no training text
(`plmlab.world.grammar.splits.is_test`): those are asked. They state no fact, so that whose name stands in one is left
to chance. All their names are in the training text; names and facts that are not make other splits, which are not asked
here. The exact reader knows the grammar, and not which of its sentences were held back.

Written before the runs: *the dependence holds in sentences that nobody read* if XLNet, and likewise MPNet, pays less
for both words of a name, and for a noun and its verb, than the best product, and draws fewer pairs that no sentence
has. Of a single word, a difference of less than 0.05 nats says nothing: there is one run of each.
"""

from typing import Any

from plmlab import world
from plmlab.chapters.ch11.arms import ARMS
from plmlab.chapters.ch11.hidden import KINDS, Source, described, different, paid
from plmlab.recipes import Parts
from plmlab.world import World
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.grammar.sentence import Sentence
from studies.ch11.pretrained import PLANS, pretrained


def held_back(of: World) -> list[Sentence]:
    """Sentences of the plain test that training text leaves out."""
    return [one for one in different(of) if one.pattern in of.open_patterns]


FULL = Source(world.full, world_tokenizer, held_back)


def examined(folder: str, model: str) -> dict[str, dict[str, float]]:
    """What a pretrained model pays, by kind (`plmlab.chapters.ch11.hidden.paid`); it is asked as the arm of its
    name."""
    return paid(ARMS[model], pretrained(folder, model), FULL)


def exact(kind: str) -> dict[str, float | int]:
    """The exam of a kind (`plmlab.chapters.ch11.hidden.described`)."""
    return described(kind, FULL)


def measure(parts: Parts) -> dict[str, Any]:
    """``models``: model → kind → what `examined` tells; ``exact``: kind → what `exact` tells."""
    folder = str(parts.folder)
    paid_by = parts(examined, [(folder, model) for model in PLANS])
    by_kind = parts(exact, [(kind,) for kind in KINDS])
    return {"models": {model: paid_by[folder, model] for model in PLANS},
            "exact": {kind: by_kind[kind,] for kind in KINDS}}
