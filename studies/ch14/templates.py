"""Multi-hop baseline without a network: a table from question templates to sentence templates, one set per hop.

A question template is a question with its names blanked: "where was the founder of the company that _ works for born
?". A sentence template is the context of a hop's target, with names blanked as well: its whole sentence, or up to
four words on each side (`WINDOWS`). From each training question with a single answer path the table learns the question
template and, for each hop, the sentence templates that lead on. To answer a test question, it starts at the page that
the question names. On each page it takes the words whose context is a known template of the hop, the widest context
first, then the most frequent one; they name the next page, and at the last hop the answer. Names are titles of pages
and capitalized words, with numbers. The table never compares a question with a page, so it has no answer to a question
template that does not occur in training.

The table was added at a reader's request, after the results of the trained models and of a first version of the table
were known. The rule, written before this run: if its joint F1 is at least CogQA's mean for every number of hops, the
test set of seen compositions measures whether the templates of its questions are known, and cannot show that CogQA
finds its way; the unseen compositions are then the main test set.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

from plmlab.chapters.ch14.answering import Outcome, outcome
from plmlab.chapters.ch14.gold_graphs import KINDS, gold_graph
from plmlab.chapters.ch14.training import pages, training_rows
from plmlab.models.cogqa_search import Clue
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.questions.bank import Question

BLANK, EDGE = "_", "|"
WINDOWS = ((99, 99), (4, 4), (3, 3), (2, 2), (3, 0), (0, 3), (1, 1), (2, 0), (0, 2), (1, 0), (0, 1))
"""Numbers of words to the left and to the right of a target that a sentence template keeps, widest first; the first
keeps the whole sentence."""

Hop = tuple[str, int, str]
"""The title of a page, the index of the sentence, and the name found there."""
Template = tuple[int, tuple[str, ...], str, tuple[str, ...]]
"""The index of the window, the words to the left, the kind of the target, and the words to the right."""


def segments(words: Sequence[str], articles: ArticlePages) -> list[tuple[str, str]]:
    """The words of a text as pairs (template word, text): a name is one segment, whose template word is `BLANK`."""
    found, place = list[tuple[str, str]](), 0
    while place < len(words):
        title = next((end for end in range(len(words), place, -1)
                      if " ".join(words[place:end]) in articles.keys), place)
        end = max(title, next((end for end in range(place, len(words)) if words[end][0].islower()
                               or not words[end][0].isalnum()), len(words)))
        found.append((BLANK, " ".join(words[place:end])) if end > place else (words[place], words[place]))
        place = max(end, place + 1)
    return found


def templates(sentence: str, articles: ArticlePages) -> Iterator[tuple[str, list[Template]]]:
    """Each segment of a sentence with its templates, the widest first."""
    parts = segments(sentence.split(), articles)
    symbols = [EDGE, *(symbol for symbol, _ in parts), EDGE]
    for place, (symbol, text) in enumerate(parts, 1):
        kind = "word" if symbol != BLANK else "number" if text[0].isdigit() else "name"
        yield text, [(index, tuple(symbols[max(0, place - left):place]), kind,
                      tuple(symbols[place + 1:place + 1 + right])) for index, (left, right) in enumerate(WINDOWS)]


@cache
def on_page(title: str, articles: ArticlePages) -> list[tuple[Hop, list[Template]]]:
    """Each segment of a page, except its own title, with its templates; empty if there is no such page."""
    return [((title, number, text), found) for number, sentence in enumerate(articles.texts.get(title, ()))
            for text, found in templates(sentence, articles) if text != title]


def question_template(question: Question, articles: ArticlePages) -> str:
    """A question with its names blanked."""
    return " ".join(symbol for symbol, _ in segments(question.words, articles))


def gold_path(question: Question, articles: ArticlePages) -> list[Hop]:
    """The hops of the gold graph of a question with a single path, in order."""
    return [(title, number, node.name) for node in gold_graph(question, articles).nodes.values()
            for title, number in node.clues]


class TemplateTable:
    """Maps a question template to the sentence templates of each hop, each with its precision on the training pages:
    hits / (1 + hits + misses)."""

    def __init__(self, questions: Sequence[Question]) -> None:
        hits: defaultdict[str, list[Counter[Template]]] = defaultdict(list)
        seen: defaultdict[str, list[Counter[Template]]] = defaultdict(list)
        articles = pages("train")
        for question in questions:
            key = question_template(question, articles)
            for hop, (title, number, name) in enumerate(gold_path(question, articles)):
                for counts in (hits[key], seen[key]):
                    counts.extend(Counter() for _ in range(hop + 1 - len(counts)))
                for (_, place, target), found in on_page(title, articles):
                    seen[key][hop].update(found)
                    hits[key][hop].update(found if (place, target) == (number, name) else ())
        self.hops = {key: [{one: count / (1 + every[one]) for one, count in counts.items()}
                           for counts, every in zip(hops, seen[key], strict=True)] for key, hops in hits.items()}

    def path(self, question: Question, articles: ArticlePages) -> list[Hop]:
        """The first answer path that the templates allow, the most precise templates first; empty if there is none."""
        hops = self.hops.get(question_template(question, articles), [])
        starts = articles.named(articles.ids(question.words)) if hops else []
        return next((path for start in starts for path in self._onward(start, hops, articles)), [])

    def _onward(self, title: str, hops: list[dict[Template, float]], articles: ArticlePages) -> Iterator[list[Hop]]:
        scores = {hop: max(hops[0].get(one, 0.0) for one in found) for hop, found in on_page(title, articles)}
        for hop in sorted((hop for hop, score in scores.items() if score), key=lambda hop: -scores[hop]):
            if len(hops) == 1:
                yield [hop]
            else:
                yield from ([hop, *rest] for rest in self._onward(hop[2], hops[1:], articles))


def learn_table(questions_per_kind: int | None = None) -> TemplateTable:
    """The table of the first training questions with one and with several hops; of all of them if None."""
    return TemplateTable([question for kind in ("one-hop", "bridge")
                          for question in training_rows(kind)[:questions_per_kind]])


def template_outcome(table: TemplateTable, question: Question, split: str) -> Outcome:
    """The outcome of a question answered by the table; comparison questions get no answer."""
    articles = pages(split)
    path = table.path(question, articles) if KINDS[question.form] == "special" else []
    return outcome(question, articles, path[-1][2] if path else None,
                   {Clue(title, number) for title, number, _ in path}, len({title for title, _, _ in path}))
