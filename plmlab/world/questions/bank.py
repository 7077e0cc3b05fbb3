"""Questions with full annotation: answer, evidence, distractors, and gold cognitive graph."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from plmlab.draws import choice, randint, shuffled
from plmlab.world.facts.facts import Facts
from plmlab.world.facts.relations import Entity, Triple
from plmlab.world.grammar.patterns import GENDER_WORDS
from plmlab.world.grammar.splits import HeldOut, checked
from plmlab.world.lexicon import Lexicon
from plmlab.world.questions.chains import Case, Cases, Chain, facts_of
from plmlab.world.questions.cognitive_graph import ANSWER, Clue, CognitiveGraph, Edge, Node, joined
from plmlab.world.questions.corpora import Corpora, corpus_of
from plmlab.world.questions.distractors import Distractors
from plmlab.world.questions.shapes import Shape, Wording, read_shapes
from plmlab.world.tables import TABLES

KINDS = ("one-hop", "bridge", "comparison")
PLURAL = ("food", "product")
CHINESE_GENDER = {"he": ("他", "她"), "spouse": ("丈夫", "妻子")}
YES, NO = (("yes",), ("是",)), (("no",), ("否",))


class QuestionError(ValueError):
    """Raised if the kind of question is unknown or has no question in this split."""


@dataclass(frozen=True)
class Question:
    """A question. The articles it refers to are ``world.article(key, question.corpus)``."""

    words: tuple[str, ...]
    chinese: tuple[str, ...]                # segmented
    kind: str                               # one-hop, bridge, comparison
    form: str                               # as kind, but either-or or yes-no for comparisons
    shape: str                              # name of the row of question_shapes.tsv
    split: str
    corpus: str | None                      # articles used as context: "train", or None (which state all facts)
    hops: int                               # length of the chain of facts from an entity named in the question
    answer: tuple[str, ...]                 # as worded in the evidence ("apples"); yes or no
    answer_chinese: tuple[str, ...]
    answer_entity: str | None               # its key; None for yes and no
    graph: CognitiveGraph
    evidence: tuple[Clue, ...]              # (key of the article, index of the sentence), in the order of the hops
    needed: tuple[str, ...]                 # keys of the articles needed, in the order of the hops
    distractors: tuple[str, ...]            # keys of plausible articles without any needed fact
    context: tuple[str, ...]                # needed and distractors, shuffled
    facts: tuple[Triple, ...]               # the facts needed for the answer

    @property
    def text(self) -> str:
        """The English words joined by spaces."""
        return " ".join(self.words)


@dataclass(frozen=True)
class Outcome:
    """A case as it is asked: its chains in the order in which the question names them, and the answer."""

    chains: Case
    entity: Entity | None                   # the answer, if it is an entity
    yes: bool | None = None                 # the answer of a yes-no question


class QuestionBank:
    """All questions of a world (found by :class:`plmlab.world.questions.chains.Cases`), to be sampled with a seed.

    Raises:
        TableError: if a question table is incomplete or inconsistent; the message names file and rows.
    """

    def __init__(self, facts: Facts, held: HeldOut, lexicon: Lexicon, corpora: Corpora, folder: Path = TABLES):
        self.shapes = read_shapes(facts.relations, folder)
        self.cases = Cases(facts, held, self.shapes, corpora)
        self.lexicon = lexicon
        self.distractors = Distractors(facts, corpora)

    def draw(self, kind: str, split: str, seed: int) -> Iterator[Question]:
        """All cases of the split, each once, in random order and wording. At each draw, every shape with cases left is
        equally likely.

        Comparisons come in balanced pairs: of two consecutive questions, one is answered yes and one no, or the first
        entity is the answer to one and the second entity the answer to the other. A case without a counterpart is left
        out.

        Raises:
            QuestionError: for an unknown kind, or one that has no question in the split.
            SplitError: for an unknown split.
        """
        if kind not in KINDS:
            raise QuestionError(f"unknown kind of question {kind!r:.60}; the kinds are {', '.join(KINDS)}")
        rng = Random(seed)
        piles = {shape: self._batches(shape, checked(split), rng) for shape in self.shapes if shape.kind == kind}
        piles = {shape: batches for shape, batches in piles.items() if batches}
        if not piles:
            raise QuestionError(f"this world has no {kind} question in the split {split!r:.60}"
                                + ("; a one-hop question composes no relations" if kind == "one-hop" else ""))
        return self._drawn(piles, split, rng)

    def _drawn(self, piles: dict[Shape, list[Sequence[Case]]], split: str, rng: Random) -> Iterator[Question]:
        while piles:
            shape = choice(rng, list(piles))
            for case in piles[shape].pop():
                yield self._question(shape, _outcome(shape, case), split, rng)
            if not piles[shape]:
                del piles[shape]

    def _batches(self, shape: Shape, split: str, rng: Random) -> list[Sequence[Case]]:
        """Groups of cases to be asked consecutively: single cases, or pairs with balanced answers."""
        cases = shuffled(rng, self.cases.of(shape, split))
        if shape.sign is None:
            return [(case,) for case in cases]
        if shape.sign == "=":
            same, other = list[Case](), list[Case]()
            for case in cases:
                (same if case[0].end == case[1].end else other).append(case)
            twins = [(_either_way(one, rng), _either_way(two, rng)) for one, two in zip(same, other, strict=False)]
        else:
            twins = [(one, two[::-1]) for one, two in zip(cases[::2], cases[1::2], strict=False)]
        return [shuffled(rng, pair) for pair in twins]

    def _question(self, shape: Shape, outcome: Outcome, split: str, rng: Random) -> Question:
        chains = outcome.chains
        wording = choice(rng, shape.wordings)
        shelf = Random(randint(rng, 2**31))      # a separate generator: draws for articles do not affect questions
        clues = [[clue for clue in self.cases.clues(chain, split) if clue] for chain in chains]
        facts = facts_of(chains)
        needed = _by_hop([[entity.key for entity in chain.entities[:-1]] for chain in chains])
        everything = [entity for chain in chains for entity in chain.entities]
        others = self.distractors.draw(everything, needed, split, shelf)
        answer, answer_chinese = self._answer(outcome)
        return Question(
            words=_english(wording, shape, chains), chinese=_chinese(wording, shape, chains),
            kind=shape.kind, form=shape.form, shape=shape.name, split=split, corpus=corpus_of(split),
            hops=len(shape.steps), answer=answer, answer_chinese=answer_chinese,
            answer_entity=outcome.entity.key if outcome.entity else None,
            graph=_graph(shape, outcome, clues), evidence=tuple(_by_hop(clues)), needed=tuple(needed),
            distractors=others, context=tuple(shuffled(shelf, (*needed, *others))), facts=facts)

    def _answer(self, outcome: Outcome) -> tuple[tuple[str, ...], tuple[str, ...]]:
        entity = outcome.entity
        if entity is None:
            return YES if outcome.yes else NO
        if entity.kind in PLURAL:
            return (self.lexicon[entity.traits["word"]].forms["pl"],), entity.chinese
        return entity.words, entity.chinese


def _outcome(shape: Shape, case: Case) -> Outcome:
    """The case in the form of its question; the first chain of the case is named first."""
    if shape.sign is None:
        return Outcome(case, case[0].end)
    left, right = (chain.end for chain in case)
    if shape.sign == "=":
        return Outcome(case, None, left == right)
    holds = left.number < right.number if shape.sign == "<" else left.number > right.number
    return Outcome(case, None, holds) if shape.form == "yes-no" else Outcome(case, case[0 if holds else 1].start)


def _either_way(case: Case, rng: Random) -> Case:
    return case[::-1] if randint(rng, 2) else case


def _by_hop(rows: list[list]) -> list:
    """Merge the items of the chains hop by hop, without duplicates."""
    return list(dict.fromkeys(item for hop in zip(*rows, strict=True) for item in hop))


def _variables(shape: Shape, chains: tuple[Chain, ...]) -> dict[str, Entity]:
    bound = dict(zip(("a", "b"), (chain.start for chain in chains), strict=False))
    return bound | {step.variable: entity for step, entity in zip(shape.steps, chains[0].entities[1:], strict=True)}


def _english(wording: Wording, shape: Shape, chains: tuple[Chain, ...]) -> tuple[str, ...]:
    bound, words = _variables(shape, chains), []
    for text in wording.english:
        word, _, variable = text[1:-1].partition("@") if text.startswith("{") else (text, "", "")
        if variable:
            words.append(GENDER_WORDS[word][bound[variable].traits["gender"] == "woman"])
        else:
            words += bound[word].words if text.startswith("{") else (word,)
    return tuple(words)


def _chinese(wording: Wording, shape: Shape, chains: tuple[Chain, ...]) -> tuple[str, ...]:
    bound, words = _variables(shape, chains), []
    for text in wording.chinese:
        name, _, form = text[1:-1].partition(".") if text.startswith("{") else (text, "", "")
        if form:
            words.append(CHINESE_GENDER[form][bound[name].traits["gender"] == "woman"])
        else:
            words += bound[name].chinese if text.startswith("{") else (name,)
    return tuple(words)


def _graph(shape: Shape, outcome: Outcome, clues: list[list[Clue]]) -> CognitiveGraph:
    """The cognitive graph, start nodes first, then hop by hop; the chains of a comparison meet in its outcome."""
    last = "answer" if shape.sign is None else "hop"
    roles = ["question"] + ["hop"] * (len(shape.steps) - 1) + [last]
    nodes = [[Node(entity.key, role, entity.key) for entity, role in zip(chain.entities, roles, strict=True)]
             for chain in outcome.chains]
    edges = [[Edge(here.key, there.key, step.name, clue)
              for here, there, step, clue in zip(chain.entities, chain.entities[1:], shape.steps, read, strict=False)]
             for chain, read in zip(outcome.chains, clues, strict=True)]
    found, ways = _by_hop(nodes), _by_hop(edges)
    if shape.sign is not None:
        found.append(Node(ANSWER, "answer", outcome.entity.key if outcome.entity else None))
        ways += [Edge(chain.end.key, ANSWER, shape.sign, None) for chain in outcome.chains]
    return joined(found, ways)
