"""The Small World: facts drawn from a seed, and a grammar that generates text about them with exactly known
probabilities."""

import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, cached_property, lru_cache, partial
from itertools import islice
from pathlib import Path as Folder
from random import Random
from typing import Any

from plmlab.world.documents.articles import Article, Library
from plmlab.world.documents.pairs import (
    NextSentence,
    SentenceOrder,
    Translation,
    next_sentences,
    sentence_orders,
    translations,
)
from plmlab.world.documents.stories import Story, Storyteller
from plmlab.world.facts.facts import Facts
from plmlab.world.facts.naming import draw_entities
from plmlab.world.facts.relations import Triple, read_relations
from plmlab.world.facts.sampler import FactSampler
from plmlab.world.grammar.checksum import Parts, parts
from plmlab.world.grammar.compiler import Token, compile_grammar
from plmlab.world.grammar.explain import Explanation, explain
from plmlab.world.grammar.patterns import read_patterns
from plmlab.world.grammar.sentence import Annotator, Sentence
from plmlab.world.grammar.splits import Allowed, checked, draw_held_out, is_test, open_patterns
from plmlab.world.lexicon import read_lexicon
from plmlab.world.probability.ambiguity import SelfProduct
from plmlab.world.probability.automaton import Arc, Automaton, Entropy, Path, Start
from plmlab.world.probability.floors import Floor, FloorError, MakesExamples, Reader
from plmlab.world.probability.posterior import NotInGrammar, joint, posterior
from plmlab.world.questions.bank import Question, QuestionBank
from plmlab.world.questions.cloze import Cloze, Clozes, statements
from plmlab.world.questions.corpora import Corpora, corpus_of
from plmlab.world.tables import TABLES, TableError, clash


class World:
    """A world of one size and seed: its facts, its grammar, and all text generated from them.

    Splits: "train"; "test", sentences of the same grammar that are kept out of the training text (open patterns only;
    the sentences of the other patterns occur in both); and "facts", "entities" and "combinations", each about something
    that the training text never states.

    Attributes:
        lexicon, facts, patterns: the words, the entities with their triples, and the sentence patterns.
        held: what is held out of the training text (:class:`plmlab.world.grammar.splits.HeldOut`).

    Raises:
        TableError: if a table has an empty cell, a duplicate or an unknown reference; the message names file and rows.
    """

    def __init__(self, name: str = "full", seed: int = 1, folder: Folder = TABLES):
        size = read_size(name, folder)
        rng = Random(seed)
        self.name, self.seed, self.folder = name, seed, folder
        relations = read_relations(folder)
        full = read_lexicon(folder)
        self.lexicon = full.restricted(size["words"]) if "words" in size else full
        first, last = size["years"]
        years = range(first, last + 1, size.get("year_step", 1))
        entities = draw_entities(size["entities"], years, self.lexicon, rng, folder)
        self.facts = Facts(relations, entities, FactSampler(entities, rng).draw())
        self.held = draw_held_out(self.facts, self.lexicon, size["held_out"], rng)
        patterns = read_patterns(full, relations, folder)
        wanted = size.get("patterns", [pattern.id for pattern in patterns])
        unknown = set(wanted) - {pattern.id for pattern in patterns}
        if unknown:
            raise TableError(f"sizes.toml lists unknown patterns for '{name}': {', '.join(sorted(unknown))}")
        self.patterns = [pattern for pattern in patterns if pattern.id in wanted]
        self._annotator = Annotator(self.patterns, self.facts, self.lexicon)
        self._automata: dict[str, Automaton] = {}

    def automaton(self, split: str = "train") -> Automaton:
        """The grammar of a split as an automaton, compiled once; the plain test ("test") uses the training grammar."""
        split = "train" if checked(split) == "test" else split
        if split not in self._automata:
            allowed = Allowed(self.held, split)
            self._automata[split] = compile_grammar(self.patterns, self.facts, self.lexicon, allowed)
        return self._automata[split]

    def prove_unambiguous(self, split: str = "train") -> int:
        """Prove that no sentence has two derivations. Returns the number of state pairs that were examined.

        Raises:
            TableError: if a sentence has two derivations; the message quotes it and names the rows of the two patterns.
        """
        product = SelfProduct(self.automaton(split))
        found = product.clash()
        if found is None:
            return product.pairs
        one, other = found
        sentence = " ".join(arc.word for arc in one.arcs)
        labels = [(arc.word, arc.label, twin.label) for arc, twin in zip(one.arcs, other.arcs, strict=True)
                  if arc.label != twin.label]
        differ = [f"'{word}' is {reading(a)} or {reading(b)}" for word, a, b in labels if reading(a) != reading(b)]
        patterns = {pattern.id: pattern.row for pattern in self.patterns}
        rows = [patterns[name] for name in dict.fromkeys((str(one.label), str(other.label)))]
        rows += [self.lexicon[key].row for key in dict.fromkeys(reading(label) for _, *pair in labels for label in pair)
                 if key in self.lexicon]
        raise clash(f"two readings of '{sentence}', by the patterns {one.label} and {other.label}"
                    f"{': ' if differ else ''}{'; '.join(differ)}", *rows)

    @cached_property
    def vocabulary(self) -> list[str]:
        """All English words of the sentence grammar, including held-out ones, sorted."""
        words = set(self.automaton("train").vocabulary)
        for split in ("facts", "entities", "combinations"):
            words.update(self.automaton(split).vocabulary)
        return sorted(words)

    @cached_property
    def open_patterns(self) -> frozenset[str]:
        """The ids of the open patterns: those with sentences reserved for the plain test."""
        return open_patterns(self.automaton("train"), self.patterns)

    @cached_property
    def parts(self) -> Parts:
        """Exact statistics of the training text and of the plain test: the entropy of each, and the proportion of test
        sentences."""
        return parts(self.automaton("train"), self.open_patterns)

    def entropy(self, split: str = "train") -> Entropy:
        """The exact entropy of a split's text, in nats per sentence and per token (the end of the sentence counts as a
        token).

        For "train" and "test" this is the mean of −log p(sentence) over that part, where p is the grammar's
        distribution (``parts``).
        """
        if checked(split) in ("train", "test"):
            return self.parts.train if split == "train" else self.parts.test
        return self.automaton(split).entropy

    def logprob(self, words: Sequence[str], split: str = "train") -> float:
        """log p(sentence) in nats, including its end; −inf if the words are not a sentence of the split's grammar."""
        return self.automaton(split).logprob(words)

    def next_words(self, prefix: Sequence[str], split: str = "train") -> dict[str, float]:
        """Word (or END) → its exact probability after the prefix, most likely first; empty if no sentence begins with
        the prefix."""
        return self.automaton(split).next_words(prefix)

    def posterior(self, words: Sequence[str], hidden: Collection[int],
                  split: str = "train") -> list[dict[str, float]]:
        """For each masked position, in order, word → its exact posterior probability given the visible words.

        Raises:
            NotInGrammar: if no sentence of this length has the visible words.
        """
        return posterior(self.automaton(split), words, hidden)

    def joint(self, words: Sequence[str], hidden: Collection[int],
              split: str = "train") -> dict[tuple[str, ...], float]:
        """The exact joint distribution over the words at all masked positions (a tuple) given the visible words.

        Raises:
            NotInGrammar: if no sentence of this length has the visible words.
        """
        return joint(self.automaton(split), words, hidden)

    def explain(self, words: Sequence[str], split: str = "train") -> Explanation:
        """Whether the words are a sentence of the split; if not, where they leave the grammar and which words could
        follow."""
        return explain(self.automaton(split), words, set(self.vocabulary))

    def parse(self, words: Sequence[str], split: str = "train") -> Sentence:
        """Parse the words into a sentence with its gold labels.

        Raises:
            NotInGrammar: if the words are not a sentence of the grammar; the message shows the first word that does not
                fit.
        """
        found = self.automaton(split).paths(words)
        if not found:
            raise NotInGrammar(self.explain(words, split).message)
        return self._annotator.sentence(found[0], self.automaton(split).path_logprob(found[0]))

    def sentences(self, split: str = "train", seed: int = 0) -> Iterator[Sentence]:
        """Endless iterator over sentences with their labels; the same sentences as :meth:`text` for the same seed."""
        for start, arcs in self._draws(split, seed):
            yield self._labelled(split, Path(start.label, tuple(arcs)))

    @cached_property
    def _labelled(self) -> Callable[[str, Path], Sentence]:
        """A function from derivations to sentences; recent ones are cached, because a small world often samples the
        same ones."""
        @lru_cache(4096)
        def labelled(split: str, path: Path) -> Sentence:
            return self._annotator.sentence(path, self.automaton(split).path_logprob(path))
        return labelled

    def text(self, split: str = "train", seed: int = 0) -> Iterator[list[str]]:
        """Endless iterator over sentences as lists of words. The same seed gives the same text on every machine."""
        for _, arcs in self._draws(split, seed):
            yield [arc.word for arc in arcs]

    def translations(self, split: str = "train", seed: int = 0) -> Iterator[Translation]:
        """Endless iterator over sentences as (English words, Chinese words)."""
        return translations(self.sentences(split, seed))

    def next_sentences(self, split: str = "train", seed: int = 0) -> Iterator[NextSentence]:
        """Endless iterator over sentence pairs (first, second, is_next) from articles (``pairs.next_sentences``)."""
        return next_sentences(self.paired(split), Random(seed))

    def sentence_orders(self, split: str = "train", seed: int = 0) -> Iterator[SentenceOrder]:
        """Endless iterator over sentence pairs (first, second, in_order) from articles (``pairs.sentence_orders``)."""
        return sentence_orders(self.paired(split), Random(seed))

    def paired(self, split: str) -> list[Article]:
        """The articles from which the sentence pairs of a split are drawn; for "entities" only those of held-out
        entities."""
        return [article for article in self.corpora.articles(split).values()
                if split != "entities" or article.entity in self.held.entities]

    def _draws(self, split: str, seed: int) -> Iterator[tuple[Start, list[Arc]]]:
        automaton, rng = self.automaton(split), Random(seed)
        apart = self.open_patterns if split in ("train", "test") else frozenset()
        while True:
            start = automaton.draw_start(rng)
            arcs = automaton.walk(start, rng)
            while start.label in apart and is_test(arc.word for arc in arcs) != (split == "test"):
                arcs = automaton.walk(start, rng)
            yield start, arcs

    @cached_property
    def library(self) -> Library:
        """The generator of the world's articles."""
        return Library(self.facts, self.held, self.seed, self.folder)

    def article(self, key: str, split: str | None = None) -> Article:
        """The article of the entity with this key. Split None states all facts, "train" no held-out facts.

        Raises:
            FactError: if the entity is unknown or has no article (a value, or an entity held out of "train").
        """
        return self.library.article(key, split)

    def articles(self, split: str | None = None) -> Iterator[Article]:
        """The articles of all named entities in a fixed order. Split None states all facts, "train" no held-out
        facts."""
        return self.library.articles(split)

    @cached_property
    def storyteller(self) -> Storyteller:
        """The generator of the world's stories."""
        return Storyteller(self.facts, self.held, self.folder)

    def stories(self, seed: int = 0, words: tuple[int, int] = (500, 4000)) -> Iterator[Story]:
        """Endless iterator over stories whose length lies between the two bounds; in each, a fact stated early is
        needed late."""
        return self.storyteller.stories(seed, words)

    def triples(self, split: str | None = None) -> list[Triple]:
        """Facts as triples: all (None), the held-out ones ("facts", "entities"), or those stated in the training
        text."""
        part = "train" if split and corpus_of(split) else split
        return [fact for fact in self.facts.triples if part is None or self.held.split_of(fact) == part]

    @cached_property
    def corpora(self) -> Corpora:
        """The articles that serve as context for questions and clozes, by split."""
        return Corpora(self.library)

    @cached_property
    def question_bank(self) -> QuestionBank:
        """The bank from which questions of all kinds and splits are drawn."""
        return QuestionBank(self.facts, self.held, self.lexicon, self.corpora, self.folder)

    def questions(self, kind: str = "bridge", split: str = "train", seed: int = 0) -> Iterator[Question]:
        """All questions of a kind ("one-hop", "bridge", "comparison") and split, each once (``QuestionBank.draw``)."""
        return self.question_bank.draw(kind, split, seed)

    @cached_property
    def clozes(self) -> Clozes:
        """The generator of cloze statements."""
        return Clozes(self.facts, self.held, self.corpora,
                      lambda split: statements(self.automaton(split), self.patterns, self._annotator))

    def cloze(self, split: str = "train", seed: int = 0) -> Iterator[Cloze]:
        """All statements of a split with a masked name, year or number, each once (``Clozes.draw``)."""
        return self.clozes.draw(split, seed)

    def floor(self, objective: MakesExamples, *, split: str = "train", sentences: int = 400, rng: Random | None = None,
              reader: Reader | None = None, **choices: Any) -> Floor:
        """The floor (entropy lower bound) of an objective: the lowest possible mean loss, in nats per predicted token.

        Args:
            objective: a function of :mod:`plmlab.objectives`, with its ``choices``. The floors of ``causal`` and
                ``bidirectional_lm`` are exact: in either direction, the terms of a sentence add up to −log p(sentence)
                by the chain rule. For any other objective, the floor is computed from its Examples as a mean over
                sentences (:func:`plmlab.world.probability.example_floor.example_floor`).
            sentences: number of sentences over which the mean is taken.
            rng: source of randomness for the sentences and for the objective (default: a fixed seed).
            reader: what is assumed to be known about the sentence length, a function of
                :mod:`plmlab.world.probability.readers`. The default, ``length_known``, gives the lower bound for every
                model. With ``positions_known`` the loss is higher where an Example does not show the end (XLNet's),
                and equal for ``causal`` (GPT) and ``masked`` (BERT). Blanks of unknown length (GLM's) need
                ``visible_blanks`` or ``drawn_blanks`` of :mod:`plmlab.world.probability.infilling`; the latter gives
                their floor.

        Raises:
            FloorError: for fewer than two sentences, an objective that predicts nothing, or one whose Examples hide
                from ``positions_known`` where the visible tokens are.
        """
        # these need torch, which nothing else in this module does
        from plmlab.objectives import bidirectional_lm, causal
        from plmlab.world.probability.example_floor import example_floor
        from plmlab.world.probability.readers import length_known

        if objective in (causal, bidirectional_lm):
            return Floor(self.entropy(split).token, 0.0, True)
        if sentences < 2:
            raise FloorError(f"sentences={sentences} is too few for a mean with a standard error; give at least 2")
        rng = rng or Random(0)
        drawn = islice(self.text(split, seed=int(rng.random() * 2**31)), sentences)
        return example_floor(self.automaton(split), drawn, partial(objective, **choices), rng, reader or length_known,
                             lambda words: self.parse(words, split).named)


def reading(label: Token) -> str:
    """Describe a word for messages: by its lexicon entry, its entity, or its part of speech."""
    return label.value or label.sense or label.tag


def read_size(name: str, folder: Folder = TABLES) -> dict:
    """Read one size from sizes.toml: "entities", "years" and "held_out"; optionally "year_step", "patterns" and
    "words".

    Raises:
        TableError: if the file cannot be read or has no such size, or the size lacks one of the first three keys.
    """
    try:
        sizes = tomllib.loads((folder / "sizes.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise TableError(f"sizes.toml cannot be read: {error}") from error
    if name not in sizes:
        raise TableError(f"unknown size {name!r}; sizes.toml has {', '.join(sizes)}")
    for key in ("entities", "years", "held_out"):
        if key not in sizes[name]:
            raise TableError(f"sizes.toml: '{name}' has no key '{key}'")
    return sizes[name]


@cache
def small(seed: int = 1) -> World:
    """The small world, with at most 150 words and about twenty named entities; a tiny model learns it in a minute."""
    return World("small", seed)


@cache
def full(seed: int = 1) -> World:
    """The full world, with more than a thousand words and hundreds of entities."""
    return World("full", seed)
