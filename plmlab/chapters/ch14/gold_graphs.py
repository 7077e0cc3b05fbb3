"""Training examples for CogQA (Ding et al. 2019, §3.4): the gold graph of a question, with negative nodes.

- The targets of a *hop node* are the spans that name next hops and the spans that are answers. In a comparison
  question, the compared value is the answer in its paragraph.
- A *negative hop node* is another entity that a page of the graph mentions; the sentence that mentions it is its clue.
  No span should be predicted in its paragraph. (The authors use the other paragraphs of the question, without clues.)
- A *negative answer node* is a name, year or number on such a page, with its sentence as the clue. System 2 should
  assign a higher score to the answer.
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
"""Form of a question → question type for System 2."""
NEGATIVES = 2
"""Number of negative nodes of each kind per graph."""


@dataclass(frozen=True)
class GoldNode:
    """A node of the gold graph.

    ``name`` is a title, or the words of a value; ``clues`` are the sentences in which the node is found, as (title,
    sentence index). ``hops`` and ``answers`` are pairs of a sentence index on the node's page and a span (in token
    ids), of a next hop or of an answer. ``read_on`` is true if the page is input to System 1, and false for a final
    answer.
    """

    name: str
    clues: tuple[tuple[str, int], ...] = ()
    hops: tuple[tuple[int, Span], ...] = ()
    answers: tuple[tuple[int, Span], ...] = ()
    read_on: bool = True


@dataclass(frozen=True)
class GoldGraph:
    """The nodes of a question by name, in the order in which they are found, and the edges between them, from a page to
    the nodes found on it."""

    nodes: dict[str, GoldNode] = field(default_factory=dict)
    edges: dict[tuple[str, str], None] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, int]:
        """Map the name of each node to its index."""
        return {name: number for number, name in enumerate(self.nodes)}

    def add(self, node: GoldNode) -> None:
        """Add a node and its incoming edges; if the node already exists, add only the edges."""
        before = self.nodes.setdefault(node.name, node)
        self.nodes[node.name] = replace(before, clues=(*dict.fromkeys((*before.clues, *node.clues)),))
        self.edges.update(dict.fromkeys((title, node.name) for title, _ in node.clues))


def gold_graph(question: Question, pages: ArticlePages) -> GoldGraph:
    """The gold graph of a question, without the outcome of a comparison. Raises ValueError if a page does not contain a
    name that should occur on it."""
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
    """The span of a name's first occurrence in a sentence, in token ids. Raises ValueError if the name does not
    occur."""
    words = pages.article(clue.article).sentences[clue.sentence].words
    start = find_words(words, name.split())
    if start is None:
        raise ValueError(f"{name!r} does not occur in the sentence {' '.join(words)!r}")
    return len(pages.ids(words[:start])), len(pages.ids(words[:start + len(name.split())]))


def system2_target(question: Question, pages: ArticlePages, graph: GoldGraph) -> tuple[int, ...]:
    """The target of System 2, with nodes given by their indices (see `CognitiveExample`)."""
    numbers = graph.numbers
    kind = KINDS[question.form]
    if kind == "special":
        return (numbers[" ".join(question.answer)],)
    first, second = pages.named(pages.ids(question.words))
    compared = [numbers[value_node(graph, name)] for name in (first, second)]
    outcome = question.answer == ("yes",) if kind == "yes-no" else " ".join(question.answer) == second
    return (*compared, int(outcome))


def value_node(graph: GoldGraph, name: str) -> str:
    """The node whose page states the compared value, on the path from a compared entity."""
    while not graph.nodes[name].answers:
        name = next(target for source, target in graph.edges if source == name)
    return name


def sentences_on_pages(graph: GoldGraph, pages: ArticlePages) -> Iterator[tuple[Sentence, str, int]]:
    """All sentences of the expanded pages, each with its title and index."""
    for name, node in graph.nodes.items():
        if node.read_on:
            for number, sentence in enumerate(pages.article(pages.keys[name]).sentences):
                yield sentence, name, number


def negative_hops(graph: GoldGraph, pages: ArticlePages, rng: Random) -> Iterator[GoldNode]:
    """Negative hop nodes: other entities that have a page and are mentioned on the pages of the graph, in random
    order."""
    mentions = [(mention.entity, name, number) for sentence, name, number in sentences_on_pages(graph, pages)
                for mention in sentence.mentions]
    for key, name, number in shuffled(rng, mentions):
        title = pages.world.facts[key].name
        if title in pages.keys and title not in graph.nodes:
            yield GoldNode(title, ((name, number),))


def negative_answers(graph: GoldGraph, pages: ArticlePages, rng: Random) -> Iterator[GoldNode]:
    """Negative answer nodes: names, years and numbers on the pages of the graph that are not nodes, one per sentence,
    in random order."""
    for sentence, name, number in shuffled(rng, sentences_on_pages(graph, pages)):
        spans = salient(sentence, pages.world.facts)
        values = {" ".join(sentence.words[start:end]): None for (start, end), _ in spans}
        if others := [words for words in values if words not in graph.nodes]:
            yield GoldNode(choice(rng, others), ((name, number),), read_on=False)


def node_input(question: Question, node: GoldNode, pages: ArticlePages, vocab: Vocabulary, time: int, clues: bool,
               ) -> Example:
    """System 1's input for a node, with the targets, in at most ``time`` positions; ``clues`` determines whether the
    node's clues are included."""
    along = [pages.sentences(title)[number] for title, number in node.clues] if clues else []
    fit = fit_to_length(pages.ids(question.words), along, pages.sentences(node.name), time)
    first = [0, *accumulate(map(len, fit.sentences))]
    spans = [[(first[number] + start, first[number] + end) for number, (start, end) in targets
              if number < len(fit.sentences)] for targets in (node.hops, node.answers)]
    return fit.example(vocab, *spans) if node.read_on else fit.example(vocab)


def example(question: Question, pages: ArticlePages, vocab: Vocabulary, time: int, rng: Random, clues: bool = True,
            negatives: int = NEGATIVES) -> CognitiveExample:
    """A training example for CogQA: a question with its gold graph and ``negatives`` negative nodes of each kind."""
    graph = gold_graph(question, pages)
    queried, kind = system2_target(question, pages, graph), KINDS[question.form]
    for node in islice(negative_hops(graph, pages, rng), negatives):
        graph.add(node)
    for node in islice(negative_answers(graph, pages, rng), negatives if kind == "special" else 0):
        graph.add(node)
    numbers = graph.numbers
    inputs = tuple(node_input(question, node, pages, vocab, time, clues) for node in graph.nodes.values())
    return CognitiveExample(inputs, tuple((numbers[source], numbers[target]) for source, target in graph.edges),
                            kind, queried)
