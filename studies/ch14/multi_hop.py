"""Baselines that go several steps, without training a network: the table of templates, and iterated word overlap.

*Iterated word overlap* starts at the page that the question names. On each page it takes the sentence that shares the
most distinct words with the question, among those with a name, year or number that neither the question nor the path
has named, and goes on to the first of these; it is given the number of hops. Both baselines answer the seen
compositions of `studies.ch14.compared` and the unseen compositions.
"""

from collections.abc import Callable
from typing import Any

from plmlab.chapters.ch14.answering import Outcome, outcome
from plmlab.chapters.ch14.bm25_baseline import normalized_words
from plmlab.chapters.ch14.compared import HOPPING
from plmlab.chapters.ch14.test_set import unseen_compositions
from plmlab.chapters.ch14.training import pages
from plmlab.models.cogqa_search import Clue
from plmlab.recipes import Parts
from plmlab.world.questions.bank import Question
from plmlab.world.questions.cloze import salient
from studies.ch14.outcomes import by_group, mean_scores
from studies.ch14.ranking import ranked_outcome
from studies.ch14.templates import learn_table, template_outcome

FEW = 300
"""Training questions of each kind for the smaller table of templates."""
BASELINES = ("template table", f"template table, {FEW} questions per kind", "iterated word overlap", "retrieval only")


def iterated_overlap(question: Question, split: str) -> Outcome:
    """The outcome of a question answered by iterated word overlap; comparison questions are not answered."""
    articles = pages(split)
    words, path = set(normalized_words(question.words)), list[Clue]()
    title = next(iter(articles.named(articles.ids(question.words))), "")
    visited = {title}
    for _ in range(question.hops):
        ranked = []
        for number, sentence in enumerate(articles.article(articles.keys[title]).sentences
                                          if title in articles.keys else ()):
            spans = [sentence.words[start:end] for (start, end), _ in salient(sentence, articles.world.facts)]
            new = [" ".join(span) for span in spans
                   if not set(normalized_words(span)) <= words and " ".join(span) not in visited]
            if new:
                ranked.append((len(words & set(normalized_words(sentence.words))), -number, new[0]))
        if not ranked:
            return outcome(question, articles, None, set(path), len(path))
        _, number, target = max(ranked)
        path.append(Clue(title, -number))
        visited.add(target)
        title = target
    return outcome(question, articles, title, set(path), len(path))


def answering(name: str) -> Callable[[Question, str], Outcome]:
    """Return a baseline's function from (question, split) to the outcome."""
    if name.startswith("template table"):
        table = learn_table(None if name == BASELINES[0] else FEW)
        return lambda question, split: template_outcome(table, question, split)
    return iterated_overlap if name == "iterated word overlap" else ranked_outcome


def baseline(name: str) -> dict[str, dict[str, dict[str, float]]]:
    """``seen compositions`` and ``unseen compositions``: group → the results of `mean_scores`."""
    answer = answering(name)
    return {"seen compositions": by_group(answer, HOPPING),
            "unseen compositions": {group: mean_scores([answer(one, "combinations") for one in some])
                                 for group, some in unseen_compositions().items()}}


def measure(parts: Parts) -> dict[str, Any]:
    """Baseline → the output of `baseline`."""
    return {name: run for (name,), run in parts(baseline, [(name,) for name in BASELINES]).items()}
