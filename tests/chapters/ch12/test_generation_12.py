"""How the models of chapter 12 are fine-tuned for generation, how they generate, and what their scores are compared
with."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch
from toy_size import changed

import plmlab.generation
from plmlab.chapters.ch12 import generation as tasks
from plmlab.chapters.ch12.pretrained import RANDOM_INIT
from plmlab.example import Batch, PairBatch
from plmlab.generation import LONGEST, generate
from plmlab.models.bert import BERTPretraining
from plmlab.models.unilm import UniLMPretraining
from plmlab.objectives import always_mask, both_directions, masked, masked_seq2seq_target, sequence_to_sequence
from plmlab.recipes import Parts
from plmlab.train import Diverged, History
from plmlab.world.datasets import generation_tasks as rows
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from studies.ch12 import generation, generation_modes, pretrained

VOCAB = bilingual_tokenizer().vocab


def new(name: str) -> Any:
    """A model of an arm with random weights."""
    torch.manual_seed(0)
    model = pretrained.ARMS[name].network(len(bilingual_tokenizer()))
    return generation_modes.GENERATION_MODES[name].begin(model).eval()


@pytest.fixture(autouse=True, scope="module")
def two_wordings() -> Iterator[None]:
    """Each article is told twice."""
    with changed((rows, "WORDINGS", 2), forget=[rows.summarization]):
        yield


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks of two layers of 16, which write six words at most."""
    for module, name, value in ((pretrained, "LAYERS", 2), (pretrained, "WIDTH", 16), (pretrained, "NARROW", 16),
                                (plmlab.generation, "LONGEST", 6)):
        monkeypatch.setattr(module, name, value)


def test_each_arm_has_its_manner() -> None:
    assert tuple(generation_modes.GENERATION_MODES) == tasks.GENERATORS


def test_rows_fit_into_the_networks_and_into_what_they_may_generate() -> None:
    assert generation.TASKS.keys() == generation.BUDGETS.keys()
    for make in generation.TASKS.values():
        task = make()
        assert max(len(target) for _, target in (*task.train, *task.test_set)) < LONGEST
        assert max(len(source) + len(target) + 3 for source, target in (*task.train, *task.test_set)) <= pretrained.TIME


def test_gpt_is_asked_for_the_target_alone() -> None:
    example = generation_modes.prompted([40, 41, 42], [50, 51], rng=Random(0))
    assert example.tokens.tolist() == [VOCAB.start, 40, 41, 42, VOCAB.sep, 50, 51]
    assert example.targets.tolist() == [-100, -100, -100, -100, 50, 51, VOCAB.end]


def test_a_bert_with_six_segments_reads_as_before() -> None:
    torch.manual_seed(0)
    size = pretrained.bert(len(bilingual_tokenizer())).config
    bert = BERTPretraining(replace(size, activation="relu", eps=1e-5)).eval()
    torch.nn.init.normal_(bert.encoder.embeddings.segment.weight)
    made = generation_modes.with_unilm_segments(bert)
    segments = made.encoder.embeddings.segment.weight
    assert torch.equal(segments[[0, 0, 0, 1]], segments[[2, 3, 4, 5]]) and not torch.equal(segments[0], segments[1])
    one, other = (make([40, 41, 42], pair=[43], vocab=VOCAB, rng=Random(0), select=[2], corrupt=always_mask)
                  for make in (masked, both_directions))
    with torch.no_grad():
        assert torch.allclose(bert(Batch.of([one], pad=0)), made.eval()(Batch.of([other], pad=0)), atol=1e-6)


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("name", ["UniLM", "BERT", "GPT", "encoder-decoder"])
def test_what_is_written_is_the_likeliest_word_each_time(name: str) -> None:
    """Of sources of unequal lengths, side by side: as reading everything anew for each word says."""
    model, sources = new(name), [[40, 41, 42], [43, 44, 45, 46, 47]]
    found = generate(generation_modes.GENERATION_MODES[name], model, sources)
    allowed = torch.tensor([token == VOCAB.end or token not in VOCAB.special for token in range(VOCAB.size)])
    for source, text in zip(sources, found, strict=True):
        said: list[int] = []
        for _ in range(4):
            if name == "GPT":
                logits = model(Batch.of([generation_modes.prompted(source, said, rng=Random(0))], pad=0))[0, -1]
            elif name == "encoder-decoder":
                logits = model(PairBatch.of([sequence_to_sequence(source, said, vocab=VOCAB)], pad=0))[0, -1]
            else:
                position = len(source) + 2 + len(said)
                example = masked_seq2seq_target(source, [*said, 99], vocab=VOCAB, rng=Random(0), select=[position],
                                                corrupt=always_mask)
                logits = model(Batch.of([example], pad=0))[0, position].clone()
                logits[VOCAB.end] = logits[VOCAB.sep]
            (best, second), (word, _) = (top.tolist() for top in logits.masked_fill(~allowed, -torch.inf).topk(2))
            assert best - second > 1e-4, "no rounding makes another word the likeliest"
            if word == VOCAB.end:
                break
            said.append(word)
        assert list(text[:4]) == said


def test_the_first_sentences_of_an_article_are_often_its_gist() -> None:
    test_set = rows.summarization().test_set
    spelling, found = bilingual_tokenizer(), 0
    for source, target in test_set:
        text, gist = " ".join(spelling.tokens(source)), " ".join(spelling.tokens(target))
        sentences = [part + " ." for part in text.replace(" ?", " .").split(" .")]
        found += "".join(sentences[:2]).replace(" ", "") == gist.replace(" ", "")
    assert tasks.baselines()["two"]["exact"] == pytest.approx(found / len(test_set))


def test_the_nearest_pair_by_hand() -> None:
    known = [((40, 41), (1,)), ((40, 42, 42), (2,)), ((43, 44, 45), (3,))]
    assert tasks.nearest([((42, 40), ()), ((44, 44, 41), ()), ((41, 40), ())], known) == [(2,), (3,), (1,)]
    assert tasks.baselines()["nearest"]["exact"] < 0.1, "the exam's sentences are not those of training"


def test_who_is_not_pretrained_begins_with_random_weights() -> None:
    """Of the size of UniLM, and the same for every run."""
    one, other = (generation.initialized("", RANDOM_INIT) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert {name: weight.shape for name, weight in one.named_parameters()} == {
        name: weight.shape for name, weight in new("UniLM").named_parameters()}


@pytest.mark.usefixtures("little")
def test_a_run_is_judged_and_no_rate_that_diverges_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    made = tuple(((40 + i, 41 + i), (60 + i, 61 + i, 62 + i)) for i in range(9))
    few = rows.GenerationTask(made[:4], made[4:6], made[6:], read=1)
    monkeypatch.setattr(generation, "TASKS", {"translation": lambda: few})
    monkeypatch.setattr(generation, "BUDGETS", {"translation": generation.Budget(2, pilot=2)})
    monkeypatch.setattr(generation, "initialized", lambda folder, name: new(name))
    monkeypatch.setattr(generation, "EVERY", 1)
    assert 0 <= generation.lr_score("", "UniLM", "translation", 1e-3, 0) <= 1
    told = generation.run_result("", "UniLM", "translation", 1e-3, 0)
    assert set(told) == {"exact", "bleu", "rouge-l", "unread", "development", "updates"} and told["updates"] in (1, 2)

    def diverges(*_: Any, **__: Any) -> None:
        raise Diverged("not a number", 1, History(1, "cpu", "float32"))
    monkeypatch.setattr(generation, "tune", diverges)
    assert generation.lr_score("", "UniLM", "translation", 1e-3, 0) is None


def test_rates_are_chosen_by_the_development_rows_of_short_runs(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    best = {"translation": 3e-3, "summarization": 1e-2}

    def told(_: str, name: str, kind: str, lr: float, seed: int) -> dict[str, float]:
        assert lr == best[kind]
        return {"exact": {"UniLM": 0.9, "BERT": 0.5}[name] + seed / 100, "development": 0.5, "updates": 5}
    monkeypatch.setattr(generation, "run_result", told)
    monkeypatch.setattr(generation, "lr_score", lambda _, name, kind, lr, seed: -abs(lr - best[kind]))
    monkeypatch.setattr(generation, "GENERATORS", ("UniLM", "BERT"))
    found = generation.measure(parts)
    gist = found["tasks"]["summarization"]["BERT"]
    assert gist["lr"] == 1e-2 and [lr for lr, _ in gist["rates"]] == [1e-3, 3e-3, 1e-2, 3e-2]
    assert found["tasks"]["translation"]["UniLM"]["exact"]["values"] == [0.9, 0.91, 0.92]
    assert found["better"]["summarization"] == {"UniLM": ["BERT"], "BERT": []}
    assert found["rows"]["translation"] == [8192, 100, 300]


def test_the_encoder_decoder_and_the_others_are_of_a_size() -> None:
    sizes = {name: sum(weight.numel() for weight in arm.network(len(bilingual_tokenizer())).parameters())
             for name, arm in pretrained.ARMS.items()}
    assert max(sizes.values()) / min(sizes.values()) < 1.06
    assert isinstance(new("UniLM"), UniLMPretraining)
