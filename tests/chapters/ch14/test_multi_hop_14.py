"""Baselines without a network, and what fails in the bundled model: templates and rules by hand, a few questions."""

import pytest
import torch

from plmlab.chapters.ch14 import test_set, training, verdicts
from plmlab.chapters.ch14.answering import start_search, supporting
from plmlab.chapters.ch14.training import pages
from plmlab.checkpoints import load
from studies.ch14 import candidates, gold_path, multi_hop, templates


def test_names_are_blanked() -> None:
    words = ["in", "1951", "Anna", "Bell", "wrote", "The", "Long", "Way", ",", "a", "book"]
    found = templates.segments(words, pages("test"))
    assert found == [("in", "in"), ("_", "1951 Anna Bell"), ("wrote", "wrote"), ("_", "The Long Way"), (",", ","),
                     ("a", "a"), ("book", "book")]


def test_the_context_of_a_word() -> None:
    (first, widest), *_, (last, _) = templates.templates("he keeps a goat", pages("test"))
    assert (first, last) == ("he", "goat")
    assert widest[0] == (0, ("|",), "word", ("keeps", "a", "goat", "|"))
    assert widest[-1] == (len(templates.WINDOWS) - 1, (), "word", ("keeps",))


def test_a_table_answers_the_questions_that_it_has_learned_from() -> None:
    some = [one for kind in ("one-hop", "bridge") for one in training.training_rows(kind)[:40]]
    table, articles = templates.TemplateTable(some), pages("train")
    correct = 0
    for question in some:
        path = table.path(question, articles)
        correct += bool(path) and path[-1][2] == " ".join(question.answer)
        assert all(target in articles.texts[title][number] for title, number, target in path)
    assert correct > 0.8 * len(some)
    perfect = next(one for one in some if templates.template_outcome(table, one, "train").answer.exact)
    assert templates.template_outcome(table, perfect, "train").supporting.exact
    for few in test_set.unseen_compositions().values():
        assert not any(table.path(question, pages("combinations")) for question in few[:10])
    assert table.path(test_set.questions("test")["yes-no"][0], pages("test")) == []


def test_word_overlap_goes_as_many_hops_as_it_is_given() -> None:
    for group, hops in (("one hop", 1), ("2 hops", 2), ("3 hops", 3)):
        found = [multi_hop.iterated_overlap(question, "test") for question in test_set.questions("test")[group][:30]]
        assert max(one.read for one in found) == hops
    easy = next(one for one in test_set.questions("test")["one hop"]
                if multi_hop.iterated_overlap(one, "test").answer.exact)
    clue, = supporting(easy, pages("test"))
    assert set(easy.words) & set(pages("test").texts[clue.title][clue.sentence].split())


@pytest.mark.parametrize(("alone", "led", "said"), [
    (0.0, 0.51, "the path"), (0.0, 0.5, "both"), (0.5, 0.76, "the path"), (0.5, 0.74, "both"), (0.5, 0.56, "both"),
    (0.5, 0.54, "the answer span"), (0.1, 0.05, "the answer span"), (1.0, 1.0, "the answer span")])
def test_what_fails(alone: float, led: float, said: str) -> None:
    assert gold_path.what_fails(alone, led) == said


def test_led_along_the_gold_path_the_answers_page_is_read() -> None:
    model, _ = load("cogqa-world")
    for some in test_set.unseen_compositions().values():
        for question in some[:3]:
            alone, led = (gold_path.scores(model, question, hops) for hops in gold_path.ROWS.values())
            assert led["read"] == 1 and led["read"] >= alone["read"] and led["exact"] <= led["among"]


def test_simpler_choices_are_among_the_same_candidates() -> None:
    model, _ = load("cogqa-world")
    chosen = 0
    for question in test_set.questions("test")["3 hops"][:25]:
        found = candidates.choices(model, question, "test")
        if not found["several"]:
            assert not found["choice"] and len({found[name] for name in ("System 2", *verdicts.SIMPLER)}) == 1
        if found["choice"]:
            chosen += 1
            assert 0 < found["random candidate"] < 1
    assert chosen


def test_the_depth_of_a_node() -> None:
    model, _ = load("cogqa-world")
    search = start_search(model, pages("test"), test_set.questions("test")["3 hops"][0])
    state = search.finished()
    for node in state.graph:
        back = torch.tensor([candidates.depth(search, state, other) for other in state.graph.predecessors(node)])
        assert candidates.depth(search, state, node) == (0 if node in search.named else int(back.min()) + 1)
