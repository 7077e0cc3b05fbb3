"""The four tasks as text to text: rows, measures, fine-tuning and generation."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from toy_size import changed

from plmlab import generation, transfer
from plmlab.example import PairBatch
from plmlab.generation import LONGEST, generate
from plmlab.models.bart import BART, BARTConfig
from plmlab.models.registry import architecture_of
from plmlab.models.t5 import T5, T5Config
from plmlab.models.unilm import UniLMConfig, UniLMPretraining
from plmlab.world.datasets import generation_tasks
from plmlab.world.datasets.generation_tasks import exact_match
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from studies.ch13 import text_to_text
from studies.ch13.text_to_text import TASKS, fine_tune, mode_of

VOCAB = bilingual_tokenizer().vocab
SIZE: dict[str, Any] = {"vocab": VOCAB.size, "layers": 1, "model": 32, "heads": 2, "inner": 64, "dropout": 0.0}
TOY = tuple(((40 + i, 41 + 2 * i, 90 - i)[:2 + i % 2], (60 + i, 70 - i, 61)[:1 + i % 3]) for i in range(5))
"""Sources of two or three tokens, targets of one to three."""

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True, scope="module")
def as_many_as_are_used() -> Iterator[None]:
    """Only the training pairs that are used, and one wording of each article."""
    with changed((generation_tasks, "PAIRS", text_to_text.LABELS), (generation_tasks, "WORDINGS", 1),
                 forget=[generation_tasks.translation, generation_tasks.summarization]):
        yield


@pytest.fixture
def toy_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task named "toy" of five rows, which are its training, development and test rows."""
    rows = generation_tasks.GenerationTask(TOY, TOY, TOY)
    monkeypatch.setitem(TASKS, "toy", text_to_text.Task(lambda: rows, exact_match))


def new(name: str) -> Any:
    """A small model with random weights."""
    torch.manual_seed(1)
    if name == "UniLM":
        return UniLMPretraining(UniLMConfig(**SIZE, time=80, attention_dropout=0.0)).eval()
    return (T5(T5Config(**SIZE)) if name == "T5" else BART(BARTConfig(**SIZE, time=80))).eval()


def one_pair(model: Any, source: Sequence[int], target: Sequence[int]) -> PairBatch:
    """A source and a target, or the beginning of one, in the format of the model."""
    return PairBatch.of([architecture_of(model).example(source, target, VOCAB)], pad=0)  # type: ignore[list-item]


@pytest.mark.parametrize("task", TASKS)
def test_rows_are_apart_have_known_tokens_and_fit_into_what_is_generated(task: str) -> None:
    rows = TASKS[task].rows()
    sources = [{source for source, _ in some} for some in (rows.train, rows.development, rows.test_set)]
    assert sum(map(len, sources)) == len(set().union(*sources)), "no test source is a training or development source"
    for source, target in (*rows.train[:text_to_text.LABELS], *rows.development, *rows.test_set):
        assert VOCAB.unk not in (*source, *target) and 0 < len(target) < LONGEST
        assert len(source) + len(target) + 3 <= 200, "positions of the networks of the studies"


def test_answers_occur_in_the_texts_after_the_questions() -> None:
    rows, sep = text_to_text.extractive_qa(), VOCAB.need("sep")
    for source, answer in (*rows.train, *rows.development, *rows.test_set):
        assert source.count(sep) == 1
        text = source[source.index(sep) + 1:]
        assert answer in [text[i:i + len(answer)] for i in range(len(text))]


def test_acceptability_is_generated_as_yes_or_no() -> None:
    rows = text_to_text.acceptability()
    words = [tuple(bilingual_tokenizer().tokens(target)) for _, target in rows.test_set]
    assert words == [("yes",) if row.right else ("no",) for row in transfer.test_set("acceptability")]


@pytest.mark.filterwarnings("ignore:no generated text has four words")
@pytest.mark.parametrize("task", TASKS)
def test_targets_have_score_1_and_empty_texts_0(task: str) -> None:
    some = TASKS[task].rows().test_set[:20]
    assert TASKS[task].measure([target for _, target in some], some) == pytest.approx(1)
    assert TASKS[task].measure([() for _ in some], some) == 0


@pytest.mark.usefixtures("toy_task")
@pytest.mark.parametrize("name", ["BART", "T5", "UniLM"])
def test_every_mode_trains_and_generates(name: str) -> None:
    model = new(name)
    before = [weight.clone() for weight in model.parameters()]
    fine_tune(model, "toy", updates=2, lr=1e-2, seed=0, show=False)
    assert not all(map(torch.equal, before, model.parameters()))
    texts = generate(mode_of(model), model, [source for source, _ in TOY])
    assert len(texts) == len(TOY) and not {*VOCAB.special} & {token for text in texts for token in text}
    assert all(len(text) <= LONGEST for text in texts)


@pytest.mark.parametrize("name", ["BART", "T5"])
def test_generation_is_the_argmax_of_teacher_forced_logits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each source alone and without a cache, compared with sources of unequal lengths in one batch."""
    monkeypatch.setattr(generation, "LONGEST", 4)
    model = new(name)
    sources = [(40, 41, 42), (43, 44, 45, 46, 47)]
    allowed = torch.tensor([token == VOCAB.end or token not in VOCAB.special for token in range(VOCAB.size)])
    for source, text in zip(sources, generate(mode_of(model), model, sources), strict=True):
        tokens: list[int] = []
        for _ in range(4):
            with torch.no_grad():
                logits = model(one_pair(model, source, tokens))[0, -1]
            (best, second), (token, _) = (top.tolist() for top in logits.masked_fill(~allowed, -torch.inf).topk(2))
            assert best - second > 1e-4, "rounding does not change the argmax"
            if token == VOCAB.end:
                break
            tokens.append(token)
        assert list(text) == tokens


@pytest.mark.parametrize("name", ["BART", "T5"])
def test_no_logit_depends_on_later_target_tokens(name: str) -> None:
    model = new(name)
    one, other = (one_pair(model, (40, 41), target) for target in ((60, 61, 62), (60, 61, 99)))
    with torch.no_grad():
        same, changes = model(one)[0], model(other)[0]
    assert torch.equal(same[:-1], changes[:-1]) and not torch.allclose(same[-1], changes[-1])


@pytest.mark.usefixtures("toy_task")
@pytest.mark.parametrize(("name", "updates", "lr"), [("T5", 100, 2e-2), ("UniLM", 150, 1e-2)])
def test_a_model_that_memorizes_five_rows_has_score_1(name: str, updates: int, lr: float,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_to_text, "BATCH", 16)
    monkeypatch.setattr(generation, "LONGEST", 5)
    model = new(name)
    assert text_to_text.score(model, "toy", TOY) < 0.5
    fine_tune(model, "toy", updates=updates, lr=lr, seed=0, show=False)
    assert text_to_text.score(model, "toy", TOY) >= 0.8
