"""A question of the world as CogQA learns from it (Ding et al. 2019, §3.4): its gold graph, with nodes beside it that
lead nowhere.

- *Hop nodes* of the graph are asked for the spans that lead on, and for those that are answers. In a comparison the
  value that is compared is the answer of its paragraph.
- A *negative hop node* is something else that a page of the graph mentions; the sentence that does is its clue. Its
  paragraph is to give nothing. (The authors take the other paragraphs of the question, without clues.)
- A *negative answer node* is a name, year or number in such a page, with its sentence. System 2 is to prefer the
  answer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from random import Random

from plmlab.draws import choice, shuffled
from plmlab.example import Example
from plmlab.objectives.cognitive_graphs import CognitiveExample, Kind
from plmlab.objectives.cogqa_spans import Span, fit_to_length
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.questions.bank import Question
from plmlab.world.questions.chains import find_words
from plmlab.world.questions.cloze import salient
from plmlab.world.questions.cognitive_graph import ANSWER, Clue

KINDS: Mapping[str, Kind] = {"one-hop": "special", "bridge": "special", "either-or": "either-or", "yes-no": "yes-no"}
"""Form of a question → what is asked of System 2."""
NEGATIVES = 2
"""So many of each kind stand beside a graph."""


@dataclass(frozen=True)
class GoldNode:
    """A title, or the words of a value; where it was found, as (title, sentence); and by sentence of its own page, the
    ids that lead on and those that are answers. ``read_on``: whether it is asked for these, and is no answer itself.
    """

    name: str
    clues: tuple[tuple[str, int], ...] = ()
    hops: tuple[tuple[int, Span], ...] = ()
    answers: tuple[tuple[int, Span], ...] = ()
    read_on: bool = True


@dataclass(frozen=True)
class GoldGraph:
    """The nodes of a question by name, in the order in which they are found, and who was found from whom."""

    nodes: dict[str, GoldNode] = field(default_factory=dict)
    edges: dict[tuple[str, str], None] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, int]:
        """Each node's number."""
        return {name: number for number, name in enumerate(self.nodes)}

    def add(self, node: GoldNode) -> None:
        """A node, with the edges along which it was found; of one that is there already, these alone."""
        before = self.nodes.setdefault(node.name, node)
        self.nodes[node.name] = replace(before, clues=(*dict.fromkeys((*before.clues, *node.clues)),))
        self.edges.update(dict.fromkeys((title, node.name) for title, _ in node.clues))


def gold_graph(question: Question, pages: ArticlePages) -> GoldGraph:
    """The gold graph of a question, without the outcome of a comparison. ValueError where a page does not name what is
    to be found in it."""
    graph, facts = GoldGraph(), pages.world.facts
    names = {node.key: facts[node.key].name for node in question.graph.nodes if node.key != ANSWER}
    if question.answer_entity in names and KINDS[question.form] == "special":
        names[question.answer_entity] = " ".join(question.answer)
    edges = [edge for edge in question.graph.edges if edge.clue]
    ends = set(names) - {edge.source for edge in edges}
    for key, name in names.items():
        leads_to: dict[bool, list[tuple[int, Span]]] = {True: [], False: []}
        for edge in edges:
            if edge.source == key:
                assert edge.clue
                leads_to[edge.target in ends].append((edge.clue.sentence, span_in(
                    pages, edge.clue, names[edge.target])))
        clues = tuple((names[edge.source], edge.clue.sentence) for edge in edges if edge.target == key and edge.clue)
        graph.add(GoldNode(name, clues, (*leads_to[False],), (*leads_to[True],), read_on=key not in ends))
    return graph


def span_in(pages: ArticlePages, clue: Clue, name: str) -> Span:
    """Where a sentence says a name first, in ids; ValueError where it does not."""
    words = pages.article(clue.article).sentences[clue.sentence].words
    start = find_words(words, name.split())
    if start is None:
        raise ValueError(f"{name!r} does not stand in {' '.join(words)!r}")
    return len(pages.ids(words[:start])), len(pages.ids(words[:start + len(name.split())]))


def asked(question: Question, pages: ArticlePages, graph: GoldGraph) -> tuple[int, ...]:
    """What is asked of System 2, the nodes by their numbers (`CognitiveExample`)."""
    numbers = graph.numbers
    kind = KINDS[question.form]
    if kind == "special":
        return (numbers[" ".join(question.answer)],)
    first, second = pages.named(pages.ids(question.words))
    compared = [numbers[teller(graph, name)] for name in (first, second)]
    outcome = question.answer == ("yes",) if kind == "yes-no" else " ".join(question.answer) == second
    return (*compared, int(outcome))


def teller(graph: GoldGraph, name: str) -> str:
    """The node on the way from one that is compared whose page says what is compared."""
    while not graph.nodes[name].answers:
        name = next(target for source, target in graph.edges if source == name)
    return name


def told_on_pages(graph: GoldGraph, pages: ArticlePages) -> Iterator[tuple[Sentence, str, int]]:
    """All sentences of the pages that are read on: each with its title and number."""
    for name, node in graph.nodes.items():
        if node.read_on:
            for number, sentence in enumerate(pages.article(pages.keys[name]).sentences):
                yield sentence, name, number


def other_hops(graph: GoldGraph, pages: ArticlePages, rng: Random) -> Iterator[GoldNode]:
    """What else the pages of the graph mention and has a page, in random order."""
    told = [(mention.entity, name, number) for sentence, name, number in told_on_pages(graph, pages)
            for mention in sentence.mentions]
    for key, name, number in shuffled(rng, told):
        title = pages.world.facts[key].name
        if title in pages.keys and title not in graph.nodes:
            yield GoldNode(title, ((name, number),))


def other_answers(graph: GoldGraph, pages: ArticlePages, rng: Random) -> Iterator[GoldNode]:
    """Names, years and numbers of the pages of the graph that are none of its nodes: one a sentence, in random order.
    """
    for sentence, name, number in shuffled(rng, told_on_pages(graph, pages)):
        spans = salient(sentence, pages.world.facts)
        said = {" ".join(sentence.words[start:end]): None for (start, end), _ in spans}
        if others := [words for words in said if words not in graph.nodes]:
            yield GoldNode(choice(rng, others), ((name, number),), read_on=False)


def read(question: Question, node: GoldNode, pages: ArticlePages, vocab: Vocabulary, time: int, clues: bool) -> Example:
    """What System 1 reads of a node, and what it is asked, in so many positions; ``clues``: whether they go along."""
    along = [pages.sentences(title)[number] for title, number in node.clues] if clues else []
    fit = fit_to_length(pages.ids(question.words), along, pages.sentences(node.name), time)
    first = [0, *accumulate(map(len, fit.sentences))]
    spans = [[(first[number] + start, first[number] + end) for number, (start, end) in told
              if number < len(fit.sentences)] for told in (node.hops, node.answers)]
    return fit.example(vocab, *spans) if node.read_on else fit.example(vocab)


def example(question: Question, pages: ArticlePages, vocab: Vocabulary, time: int, rng: Random, clues: bool = True,
            negatives: int = NEGATIVES) -> CognitiveExample:
    """A question with its gold graph and so many negatives of each kind, as CogQA learns from it."""
    graph = gold_graph(question, pages)
    found, kind = asked(question, pages, graph), KINDS[question.form]
    for node in islice(other_hops(graph, pages, rng), negatives):
        graph.add(node)
    for node in islice(other_answers(graph, pages, rng), negatives if kind == "special" else 0):
        graph.add(node)
    numbers = graph.numbers
    return CognitiveExample(tuple(read(question, node, pages, vocab, time, clues) for node in graph.nodes.values()),
                            tuple((numbers[source], numbers[target]) for source, target in graph.edges), kind, found)
