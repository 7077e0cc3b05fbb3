"""The tasks: what is learned, chosen and asked is apart; a run reaches what its vectors tell."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch05 import tasks
from plmlab.chapters.ch05.invented import WAYS
from plmlab.chapters.ch05.labelled import KINDS, known_names, new_names, task_of
from plmlab.chapters.ch05.readers import bundled
from plmlab.models.seq2seq import BidirectionalSeq2Seq
from plmlab.objectives import bidirectional_lm
from plmlab.recipes import Parts, recorded
from plmlab.recipes.study import Run
from plmlab.train import Diverged, History
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from studies.ch05 import pretrained
from studies.ch05 import tasks as recording
from studies.ch05.counting import keys_of, without_a_network
from studies.ch05.pretrained import WordELMo, build
from studies.ch05.readers import of_elmo, reader
from studies.ch05.tasks import by_model

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize(("name", "count"), [(name, count) for name in tasks.COUNTS for count in tasks.COUNTS[name]])
def test_what_is_learned_chosen_by_and_asked_is_apart(name: str, count: int) -> None:
    task = task_of(name)
    known, development, asked = task.known(count, 0), task.development(count, 0), task.test_set()
    read = [{tuple(one.words) for one in part} for part in (known, development, asked)]
    if name != "parts of speech":
        assert not read[0] & read[1] and not read[0] & read[2] and not read[1] & read[2]
    labels = {label for part in (known, development, asked) for one in part for label in one.labels}
    assert labels - {None} <= set(task.labels)
    assert task.score([[label or task.labels[0] for label in one.labels] for one in asked], asked) == 1
    assert task.score([[task.labels[0]] * len(one.words) for one in asked], asked) < 0.5
    assert 0 < without_a_network(name, count, 0) < 0.9


def test_names_of_the_exam_stand_nowhere_else() -> None:
    by_part = new_names()
    names = {part: {one.mentions[0].entity for one in some} for part, some in by_part.items()}
    assert not names["test_set"] & names["development"]
    training_rows = {mention.entity for some in known_names(0).values() for one in some for mention in one.mentions}
    assert not training_rows & (names["test_set"] | names["development"])
    kinds = Counter(one.mentions[0].entity.split(":")[0] for one in by_part["test_set"])
    assert set(kinds) == set(KINDS) and set(kinds.values()) == {60}


def test_capitals_and_kinds_are_counted_by_hand() -> None:
    assert keys_of("Ann") == ["Ann", "-Ann:A", "-nn:A", "-n:A", "-:A"] and keys_of("a") == ["a", "-a:a", "-:a"]


def test_other_names_are_told() -> None:
    with pytest.raises(ValueError, match="unknown task 'sense'; expected names, parts of speech or senses"):
        task_of("sense")
    with pytest.raises(ValueError, match=r"unknown reader 'bilm'; expected one of word vectors, "):
        reader("bilm", "", 0)
    with pytest.raises(ValueError, match="'CoVe' is not bundled with the course"):
        bundled("CoVe", "", 0)


def test_senses_are_asked_of_one_word_a_sentence() -> None:
    assert all(sum(label is not None for label in one.labels) == 1 for one in task_of("senses").test_set())


def test_a_reader_that_tells_the_label_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors that name each word's tag are learned from few sentences."""
    task = task_of("parts of speech")
    tag_of = {(tuple(one.words), place): label for part in (task.known(64, 0), task.development(64, 0), task.test_set())
              for one in part for place, label in enumerate(one.labels)}

    def telling(name: str, folder: str, seed: int):
        def read(sentences: Sequence[Sequence[str]]) -> list[torch.Tensor]:
            tags = [tag_of[tuple(words), place] for words in sentences for place in range(len(words))]
            right = torch.eye(len(task.labels))[[task.labels.index(tag) for tag in tags]]
            return [torch.zeros_like(right), right, torch.zeros_like(right)]
        return read

    monkeypatch.setattr(tasks, "STEPS", 50)
    told = tasks.run_result("", "parts of speech", "+ layer 1", 64, 3e-2, 0, telling)
    assert told["score"] > 0.97 and told["shares"] is None
    assert told["updates"] <= len(told["curve"]) * tasks.EVERY


def test_a_mix_tells_its_shares_and_names_are_asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build("characters", 0).eval()
    monkeypatch.setattr(tasks, "STEPS", 20)
    told = tasks.run_result("", "names", "+ ELMo", 2, 1e-2, 0, lambda name, folder, seed: of_elmo(model))
    assert sum(told["shares"]) == pytest.approx(1) and len(told["shares"]) == 3
    assert set(told["invented"]) == {"as it is", "alike", "at random", "small letters"}


def arms(*scores: float) -> dict:
    return {count: {"score": {"values": list(scores)}} for count in ("1", "10")}


def test_the_rules_hold_fail_or_stay_open() -> None:
    told = {"+ ELMo": arms(0.8, 0.82, 0.81), "+ mean": arms(0.79, 0.80, 0.80)}
    assert tasks.scalar_mix_over(told, "+ mean", "10") == "supported"
    told["+ mean"] = arms(0.79, 0.82, 0.80)
    assert tasks.scalar_mix_over(told, "+ mean", "10") == "inconclusive"
    told["+ mean"] = arms(0.89, 0.92, 0.90)
    assert tasks.scalar_mix_over(told, "+ mean", "10") == "not supported"
    for whole, said in (((0.80, 0.82, 0.81), "supported"), ((0.9, 0.9, 0.9), "not supported"),
                        ((0.8, 0.9, 0.9), "inconclusive")):
        assert tasks.fewer_labels(told | {"word vectors": arms(*whole)}, "names") == said


def test_a_models_score_is_the_mean_of_its_runs() -> None:
    assert by_model([*range(9)])["values"] == [3, 4, 5]


def test_updates_are_counted_to_the_same_score() -> None:
    def curves(*some: Sequence[float]) -> dict:
        return {"10": {"best": [max(scores) for scores in some], "curves": [list(scores) for scores in some]}}

    slow, quick = [*[0.0] * 19, 0.795, 0.8], [0.5, 0.793, 0.9]
    told = {"word vectors": curves(slow, slow, slow), "+ ELMo": curves(quick, [0.5], quick)}
    assert tasks.updates_to_reach(told, "names", "word vectors", 10) == 200
    assert tasks.updates_to_reach(told, "names", "+ ELMo", 10) == 20
    assert tasks.updates_to_reach(told | {"+ ELMo": curves([0.5], [0.6], quick)}, "names", "+ ELMo", 10) == inf


@torch.no_grad()
def test_a_model_with_a_table_reads_as_one_with_letters_does_and_new_words_as_unknown() -> None:
    model = build("words", 0).eval()
    assert isinstance(model, WordELMo)
    layers = model.layers([["the", "Bankful", "."], ["the", "Xyzzy", "."]])
    torch.testing.assert_close(layers[2][0], layers[2][1])
    batch = sentence_batches(world.full(), "train", world_tokenizer(), bidirectional_lm, 3, 0)(0)
    text = [word for word in world_tokenizer().tokens(batch.forwards.tokens[0, 1:].tolist()) if word != "[PAD]"]
    own = model.layers([text])
    torch.testing.assert_close(own[0][0, 1, :96], model.table.weight[ids(text[:1])[0]])
    torch.testing.assert_close(model(batch)[0, 0], model.softmax(own[2][0, 0, :96]), rtol=1e-4, atol=1e-5)
    model.train()
    torch.manual_seed(0)
    assert not torch.equal(model.words(batch.forwards.tokens), model.words(batch.forwards.tokens))


def best_at_1e_2(run: Run) -> float:
    return -abs(run.lr - 1e-2)


def test_all_kinds_are_trained_on_as_many_sentences_and_kept(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("UPDATES", 2), ("BATCH", 4), ("HELD_OUT", 1), ("WIDTH", 16)):
        monkeypatch.setattr(pretrained, name, value)
    toy = replace(pretrained.STUDY, updates=(2,), pilot_updates=1, seeds=(0,), pilots=(9,), development=best_at_1e_2)
    told = pretrained.measure(parts, toy)
    for kind in pretrained.KINDS:
        assert len(pretrained.texts(kind, 0)(0).targets) == 4
        model = pretrained.pretrained(str(parts.folder), kind, 0)
        assert told[kind]["loss"]["low"] > 0 and told[kind]["lr"] == 1e-2 and not model.training
        assert isinstance(model, BidirectionalSeq2Seq) == (kind == "translation")


def made_up(folder: str, name: str, arm: str, count: int, lr: float, run: int) -> dict[str, Any]:
    """As if 0.003 were the best rate for few labels, 0.01 for ten and more, and 0.03 too fast."""
    if lr > 1e-2:
        raise Diverged("too fast", 1, History(steps=1))
    score = run - abs(lr - (1e-2 if count >= 10 else 3e-3))
    return {"score": score, "development": score, "updates": 10, "ended": True, "curve": [score], "shares": None,
            "invented": dict.fromkeys(("as it is", *WAYS), score)}


def test_few_labels_lend_their_rate_to_all_counts_but_many(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "run_result", made_up)
    monkeypatch.setattr(recording, "without_a_network", lambda name, count, run: float(run))
    told, known = recording.measure(parts), recorded("05")["numbers"]["tasks"]
    assert told.keys() == known.keys() and told["rules"].keys() == known["rules"].keys()
    for name, arms in known["tasks"].items():
        assert {arm: set(some) for arm, some in arms.items()} == {
            arm: set(some) for arm, some in told["tasks"][name].items()}
    rates = {(name, count): one["lr"] for name in ("names", "parts of speech")
             for count, one in told["tasks"][name]["+ ELMo"].items()}
    assert rates == {("names", "1"): 3e-3, ("names", "3"): 3e-3, ("names", "10"): 3e-3, ("parts of speech", "8"): 3e-3,
                     ("parts of speech", "80"): 1e-2}
    many = told["tasks"]["parts of speech"]["+ ELMo"]["80"]
    assert many.keys() == known["tasks"]["parts of speech"]["+ ELMo"]["80"].keys()
    assert many["rates"][-1] == (3e-2, None) and many["score"]["values"] == [3, 4, 5]
