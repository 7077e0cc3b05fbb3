"""Three tasks as clozes: what is read, worked by hand; and that no text is learned from and asked."""

from collections.abc import Iterator
from itertools import islice

import pytest

from plmlab import transfer
from plmlab.chapters.ch12 import cloze_tasks
from plmlab.chapters.ch12.cloze_tasks import TASKS, Agreeing, read_by_bert, read_by_glm
from plmlab.example import IGNORE
from plmlab.world.datasets.tasks import Acceptability, Paraphrase
from plmlab.world.datasets.tokenizer import world_tokenizer

AGREEING = Agreeing(("the", "cups", "near", "the", "wall"), ("wet", "."), True, 1)
RIGHT = Acceptability(("the", "cups", "are", "wet", "."), True)
PAIR = Paraphrase(("the", "cup", "is", "wet", "."), ("the", "cups", "are", "clean", "."), False)
READ = {"number agreement": (AGREEING, "the cups near the wall [MASK] wet .", 1),
        "acceptability": (RIGHT, "the cups are wet ? [MASK] .", 1),
        "paraphrase": (PAIR, "the cup is wet ? [MASK] , the cups are clean .", 0),
}


@pytest.mark.parametrize("name", TASKS)
def test_what_glm_reads_by_hand(name: str) -> None:
    row, text, kind = READ[name]
    example, words = read_by_glm(TASKS[name], row), text.split()
    assert world_tokenizer().tokens(example.tokens.tolist()) == [*words, "[START]"]
    assert example.position_ids.tolist() == [[*range(1, len(words) + 1), words.index("[MASK]") + 1],
                                             [0] * len(words) + [1]]
    assert int(example.labels["position"]) == len(words) and int(example.labels["class"]) == kind
    assert set(example.targets.tolist()) == {IGNORE}
    dense = example.visible.dense()
    assert bool(dense[-1].all()) and not bool(dense[:-1, -1].any()), "[START] sees all, and nobody sees it"


@pytest.mark.parametrize("name", TASKS)
def test_what_bert_reads_by_hand(name: str) -> None:
    row, text, kind = READ[name]
    example, words = read_by_bert(TASKS[name], row), text.split()
    first = words.index("[MASK]") if name == "paraphrase" else len(words)
    parts = [*words[:first], "[SEP]", *([*words[first:], "[SEP]"] if name == "paraphrase" else [])]
    assert world_tokenizer().tokens(example.tokens.tolist()) == ["[CLS]", *parts]
    position = int(example.labels["position"])
    assert world_tokenizer().tokens([int(example.tokens[position])]) == ["[MASK]"]
    assert int(example.labels["class"]) == kind
    assert example.segments.tolist() == [0] * (first + 2) + [1] * (len(parts) - first - 1)


def test_what_berts_head_reads() -> None:
    plain = {name: world_tokenizer().tokens(TASKS[name].text(READ[name][0]).tokens.tolist()) for name in TASKS}
    assert plain["acceptability"] == ["[CLS]", *RIGHT.words, "[SEP]"]
    assert plain["paraphrase"] == ["[CLS]", *PAIR.first, "[SEP]", *PAIR.second, "[SEP]"]
    assert plain["number agreement"] == ["[CLS]", *READ["number agreement"][1].split(), "[SEP]"]


def test_a_question_is_a_question_already() -> None:
    first, _ = cloze_tasks.blank_behind_question(Acceptability(("is", "the", "cup", "wet", "?"), True))
    assert world_tokenizer().tokens(first) == ["is", "the", "cup", "wet", "?", "[MASK]", "."]


def test_the_words_are_words() -> None:
    unknown = world_tokenizer().vocab.need("unk")
    for task in TASKS.values():
        found = [world_tokenizer().encode(word, plain=True) for word in task.verbalizers]
        assert all(len(one) == 1 for one in found) and [unknown] not in found and found[0] != found[1]


def test_sentences_that_agree() -> None:
    rows = list(islice(cloze_tasks.agreeing("train", 3), 12))
    assert {row.plural for row in rows} == {False, True}
    assert all(row.behind[-1] in (".", "?") for row in rows)
    assert all(row.before and row.attractors < len(row.before) for row in rows)


def row(number: int, plural: bool = False, attractors: int = 0) -> Agreeing:
    return Agreeing((f"w{number}",), (".",), plural, attractors)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Little to draw from, with the same texts in both splits and twice in each."""
    def drawn(split: str, seed: int) -> Iterator[Agreeing]:
        for number in range(seed % 7, 60):
            yield row(number // 2, number % 3 == 0, number // 2 % 2)
    caches = cloze_tasks.test_set, cloze_tasks.training_rows, cloze_tasks.development
    for cached in caches:
        cached.cache_clear()
    for name, value in (("agreeing", drawn), ("TEST_SIZE", 5), ("MOST", 6), ("DEVELOPMENT", 4)):
        monkeypatch.setattr(cloze_tasks, name, value)
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_text_is_learned_from_and_asked(seed: int) -> None:
    task = TASKS["number agreement"]
    parts = task.training_rows(seed), task.development(seed), task.test_set()["score"]
    assert [len(part) for part in parts] == [6, 4, 5]
    texts = [(one.before, one.behind) for part in parts for one in part]
    assert len(set(texts)) == len(texts)
    assert [one.before for one in task.test_set()["score"]] == [(f"w{number}",) for number in range(5)]


@pytest.mark.usefixtures("few")
def test_attracted_rows_and_the_commoner_class() -> None:
    told = TASKS["number agreement"].test_set()
    assert told["attracted"] == [one for one in told["score"] if one.attractors > 0]
    assert [one.before for one in told["attracted"]] == [("w1",), ("w3",)]
    learned = [one.plural for one in TASKS["number agreement"].training_rows(0)]
    commoner = sum(learned) > len(learned) / 2
    assert cloze_tasks.majority("number agreement") == sum(one.plural == commoner for one in told["score"]) / 5


@pytest.mark.parametrize("name", ["acceptability", "paraphrase"])
def test_rows_are_those_of_transfer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"acceptability": [RIGHT._replace(right=right) for right in (True, False, True, True)],
            "paraphrase": [PAIR._replace(same=same) for same in (False, True, False, False)]}[name]
    monkeypatch.setattr(transfer, "training_rows", lambda task, seed: rows if task == name else [])
    monkeypatch.setattr(transfer, "development", lambda task, seed: rows[:seed] if task == name else [])
    monkeypatch.setattr(transfer, "test_set", lambda task: rows[1:] if task == name else [])
    task = TASKS[name]
    assert task.training_rows(0) == rows and task.development(2) == rows[:2] and task.test_set() == {"score": rows[1:]}
    assert cloze_tasks.majority(name) == transfer.majority(name) == pytest.approx(2 / 3)
    assert [task.verbalizers[task.kind(one)] for one in rows[:2]] == {
        "acceptability": ["yes", "no"], "paraphrase": ["no", "yes"]}[name]
