"""Answers to the `FactStatement`s of a world after changes of its facts: what they follow."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random
from statistics import fmean
from typing import NamedTuple

from plmlab.example import IGNORE, Batch
from plmlab.models.fae import FaE, fact_memory
from plmlab.objectives.entity_mentions import masked_mention
from plmlab.retrieval.facts import Fact
from plmlab.world.datasets.changed_documents import Changes
from plmlab.world.datasets.fact_worlds import FactStatement, FactWorld, joined
from plmlab.world.datasets.linked_texts import LinkedText
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.facts.relations import Entity

KINDS = FOLLOWS, OLD, OTHER = ("follows", "old answer", "another answer")
"""What becomes of a correct answer if its fact is changed."""
EDITED, UNRELATED = (*KINDS, "removed, old answer"), ("unrelated", "removed, unrelated")
"""Figures of correct answers whose facts are changed or removed, and of the others."""
Words = tuple[str, ...]
Figures = dict[str, float]


class Answer(NamedTuple):
    """A predicted ``entity``, the probability of the null fact (``null``), and the retrieved ``facts``, best first."""

    entity: Entity
    null: float
    facts: tuple[Fact, ...]

    def found(self, key: tuple[int, int], top_k: int) -> bool:
        """Whether the fact with this key is among the ``top_k`` best ones."""
        return key in [fact.key for fact in self.facts[:top_k]]


def answers(model: FaE, world: FactWorld, statements: Sequence[FactStatement], facts: Sequence[Fact],
            before: Sequence[LinkedText] | None = None) -> list[Answer]:
    """Predict the masked object of each statement with these facts in the memory; ``before`` has a text that precedes
    each statement. The spans of names are given, as in training."""
    vocab, examples = world_tokenizer().vocab, []
    for one, first in zip(statements, before or [world.linked()] * len(statements), strict=True):
        text, links = joined(first, world.linked(one.sentence))
        examples.append(masked_mention(text, vocab=vocab, rng=Random(0), links=links,
                                       select=len(first.links) + one.mention))
    if not examples:
        return []
    memory, batch = fact_memory(model.eval(), facts), Batch.of(examples, pad=vocab.need("pad"))
    found = model.answers(batch, memory)
    rows = (found.mentions.at_first(batch.targets) != IGNORE).nonzero()[:, 0].tolist()
    best, null, retrieved = found.logits.argmax(1).tolist(), found.facts.probs()[:, 0].tolist(), found.facts.lists()
    return [Answer(world.entities[best[row]], null[row], tuple(memory.documents[number] for number in retrieved[row]
                                                               if number in memory.documents)) for row in rows]


def correct(world: FactWorld, found: Sequence[Answer]) -> list[float]:
    """For each statement of `FactWorld.test`, 1 if the answer is the object of its fact, otherwise 0."""
    return [float(answer.entity.key == one.fact.object) for one, answer in zip(world.test, found, strict=True)]


def outcome(answer: Words, old: Words, new: Words) -> str:
    """Which of the `KINDS` an answer is."""
    return FOLLOWS if answer == new else OLD if answer == old else OTHER


def other_wording(world: FactWorld, one: FactStatement, instead: Entity | None = None) -> LinkedText | None:
    """Another sentence that states the fact of a statement, with the object ``instead`` of its own if one is given;
    None if there is no other sentence."""
    for other in world.statements[world.documents.plain(one.fact)]:
        if other.sentence.words != one.sentence.words:
            new = [*range(len(world.ids))]
            if instead is not None:
                new[world.ids[one.fact.object]] = world.ids[instead.key]
            return world.renamed(world.linked(other.sentence), new)
    return None


def edited(world: FactWorld, answered: Callable[[Changes], Sequence[Words | None]],
           labels: Callable[[FactStatement], Sequence[str]] = lambda one: ("all",)) -> Figures:
    """What becomes of the answers to `FactWorld.test` if either set of `FactWorld.changes` is made, or its facts are
    removed; ``answered`` returns all answers after changes, None for a statement that is not asked.

    Each figure is a mean over the statements with a label: the ``accuracy`` before, and after a change of the fact
    (``new object``); and, of the answers that were correct before, the `KINDS` after a change, the old ones after a
    removal (``removed, old answer``), and those that stay if other facts are changed or removed (``unrelated``,
    ``removed, unrelated``); 0 without such statements. The number of correct answers whose facts are changed is
    ``changed``.
    """
    found, original = defaultdict[str, list[bool]](list), answered({})
    for changes in world.changes:
        after, gone = answered(changes), answered(dict.fromkeys(changes))
        for one, first, then, without in zip(world.test, original, after, gone, strict=True):
            old, new = world.world.facts[one.fact.object].words, changes.get(one.fact)
            for label in labels(one) if first is not None else ():
                rows = {"accuracy": [first == old], **{name: list[bool]() for name in (*EDITED, *UNRELATED)},
                        "new object": [] if new is None else [then == new.words]}
                if first == old and new is None:
                    rows |= zip(UNRELATED, ([then == old], [without == old]), strict=True)
                elif first == old and new is not None and then is not None:
                    kind = outcome(then, old, new.words)
                    rows |= zip(EDITED, ([kind == each] for each in KINDS), strict=False)
                    rows |= {EDITED[-1]: [without == old]}
                for name, values in rows.items():
                    found[f"{label}: {name}"] += values
    counts = {name.replace(FOLLOWS, "changed"): len(values) for name, values in found.items() if name.endswith(FOLLOWS)}
    return {name: fmean(values) if values else 0.0 for name, values in found.items()} | counts
