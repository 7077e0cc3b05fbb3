"""Cloze statements: a sentence that states a fact, with one salient span masked, as in REALM's pretraining.

As in Guu et al. (2020), section 3.4, the masked span is a name or a date, so that predicting it requires world
knowledge, and the article from which a sentence was taken must not be retrieved for that sentence.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

from plmlab.draws import shuffled
from plmlab.world.facts.facts import Facts
from plmlab.world.facts.relations import Triple
from plmlab.world.grammar.patterns import Pattern
from plmlab.world.grammar.sentence import Annotator, Sentence
from plmlab.world.grammar.splits import HeldOut, checked
from plmlab.world.probability.automaton import Arc, Automaton, Path
from plmlab.world.questions.chains import Parting, names
from plmlab.world.questions.cognitive_graph import Clue
from plmlab.world.questions.corpora import Corpora, corpus_of

MASK = "[MASK]"
DATES = ("year", "number")


class ClozeError(ValueError):
    """Raised if the split has no cloze statement."""


@dataclass(frozen=True)
class Cloze:
    """A statement with a masked span. The articles it refers to are ``world.article(key, cloze.corpus)``."""

    words: tuple[str, ...]             # the whole sentence
    span: tuple[int, int]              # the masked span: words[start:end]
    entity: str                        # key of the masked entity
    fact: Triple                       # the fact needed to fill it; no other filling makes it true
    articles: tuple[str, ...]          # keys of all articles that state the fact, except the source
    source: Clue | None                # the article and sentence it was taken from, not to be retrieved
    split: str

    @property
    def answer(self) -> tuple[str, ...]:
        """The masked words."""
        return self.words[self.span[0]:self.span[1]]

    @property
    def masked(self) -> tuple[str, ...]:
        """The words, with every word of the span replaced by [MASK]."""
        start, end = self.span
        return self.words[:start] + (MASK,) * (end - start) + self.words[end:]

    @property
    def corpus(self) -> str | None:
        """The articles used as context: "train", or None for those that state all facts."""
        return corpus_of(self.split)


class Clozes:
    """All cloze statements of a world: sentences of the grammar that state facts, and sentences of articles.

    ``stated`` yields the sentences of the grammar for a split. They are processed only once.
    """

    def __init__(self, facts: Facts, held: HeldOut, corpora: Corpora, stated: Callable[[str], Iterator[Sentence]]):
        self.facts = facts
        self.parting = Parting(facts, held)
        self.corpora = corpora
        self.stated = stated
        self._of = cache(self._found)

    def draw(self, split: str, seed: int) -> Iterator[Cloze]:
        """Every statement of the split with every possible masked span, each once, in random order.

        Raises:
            ClozeError: if the split has no statement.
            SplitError: for an unknown split.
        """
        found = self._of(checked(split))
        if not found:
            raise ClozeError(f"this world has no cloze statement in the split {split!r:.60}"
                             + ("; a statement needs one fact and composes no relations"
                                if split == "combinations" else ""))
        return iter(shuffled(Random(seed), found))

    def _found(self, split: str) -> list[Cloze]:
        candidates = [*((sentence, None) for sentence in self.stated(split)), *self._from_articles(split)]
        return [cloze for sentence, source in candidates for cloze in self._hidden(sentence, source, split)]

    def _from_articles(self, split: str) -> Iterator[tuple[Sentence, Clue]]:
        for key, article in self.corpora.articles(split).items():
            for place, sentence in enumerate(article.sentences):
                yield sentence, Clue(key, place)

    def _hidden(self, sentence: Sentence, source: Clue | None, split: str) -> Iterator[Cloze]:
        """The clozes of a sentence: spans that occur in exactly one fact, which belongs to the split, can be filled in
        only one way, and is stated in some article."""
        spans = salient(sentence, self.facts)
        keys = [key for _, key in spans]
        for span, key in spans:
            stated = {self.parting.plain(fact) for fact in sentence.facts if key in (fact.subject, fact.object)}
            if len(stated) != 1 or keys.count(key) != 1:
                continue
            fact = stated.pop()
            other = self.facts[fact.object if key == fact.subject else fact.subject]
            unsaid = other.named and other.key not in keys       # "she was born in …"
            if unsaid or not self._one_way(fact, key) or self.parting.split_of([self.parting.need(fact)]) != split:
                continue
            if names((*sentence.words[:span[0]], MASK, *sentence.words[span[1]:]), self.facts[key]):
                continue                                             # "Milton Clocks , a company in …"
            tellers = tuple(teller for teller in self.corpora.tellers(fact, split)
                            if source is None or teller != source.article)
            if tellers:
                yield Cloze(sentence.words, span, key, fact, tellers, source, split)

    def _one_way(self, fact: Triple, hidden: str) -> bool:
        """Whether only the masked entity makes the fact true."""
        if hidden == fact.object:
            return len(self.facts.objects(self.facts[fact.subject], fact.relation)) == 1
        return len(self.facts.subjects(fact.relation, self.facts[fact.object])) == 1


def salient(sentence: Sentence, facts: Facts) -> list[tuple[tuple[int, int], str]]:
    """The names (not pronouns), years and numbers of a sentence: (start, end) and the entity's key."""
    found = [((mention.start, mention.end), mention.entity) for mention in sentence.mentions
             if sentence.words[mention.start:mention.end] == facts[mention.entity].words]
    dates = {key: facts[key].words[0] for fact in sentence.facts for key in (fact.subject, fact.object)
             if facts[key].kind in DATES}
    return found + [((place, place + 1), key) for key, word in dates.items()
                    for place, other in enumerate(sentence.words) if other == word]


def statements(automaton: Automaton, patterns: list[Pattern], annotator: Annotator) -> Iterator[Sentence]:
    """Yield every sentence of the grammar that is not a question, states facts about everything it mentions, and states
    no derived facts."""
    derived = {name for name, relation in annotator.facts.relations.items() if relation.derived}
    stating = {pattern.id for pattern in patterns if "?" not in pattern.row.words("english")
               and not any(atom.relation in derived for atom in pattern.facts)
               and set(pattern.slots) == {name for atom in pattern.facts for name in atom.variables}}
    for start in automaton.starts:
        if start.label in stating:
            for arcs in derivations(automaton, start.state):
                path = Path(start.label, arcs)
                yield annotator.sentence(path, automaton.path_logprob(path))


def derivations(automaton: Automaton, state: int) -> Iterator[tuple[Arc, ...]]:
    """All sequences of arcs from a state to the end of the sentence."""
    if state == 0:
        yield ()
    for arc in automaton.arcs[state] if state else ():
        for rest in derivations(automaton, arc.target):
            yield arc, *rest
