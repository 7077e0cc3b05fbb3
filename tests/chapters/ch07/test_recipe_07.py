"""What chapter 07 measures with: its text, its floor, its exam, its prompts, its record."""

import math
from random import Random

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch07 import acceptability, corpus, prompts
from plmlab.example import IGNORE, Batch
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.objectives import causal
from plmlab.recipes import recorded
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from studies.ch07 import sizes
from studies.ch07.recipe import PILOTS, SEEDS


def test_no_text_holds_a_sentence_from_test_set() -> None:
    assert len(corpus.held_out_sentences()) == corpus.TEST_SIZE
    assert not corpus.held_out_sentences() & set(corpus.sentences(0.3, 5000))
    whole = list(map(tuple, (words for words, _ in zip(world.small().text("train", 3), range(5000), strict=False))))
    assert corpus.held_out_sentences() & set(whole)


def test_the_floor_is_the_mean_bayes_optimal_loss() -> None:
    assert corpus.bayes_optimal_loss(corpus.sentences(0.3, 20_000)) == pytest.approx(corpus.floor(), abs=3e-3)
    assert corpus.floor() < world.small().floor(causal).mean - 5e-3


def test_what_was_read_is_what_training_is_given() -> None:
    read = corpus.training_sentences(4, steps=3)
    assert len(read) == 96 and not set(read) & corpus.held_out_sentences()
    assert all(world.small().logprob(words) > -math.inf for words in read)
    batch = corpus.training_batches(4)(2)
    assert torch.equal(batch.targets, corpus.causal_batch(read[64:]).targets)


def test_labels_are_right() -> None:
    rows = acceptability.training_rows(100, seed=0)
    assert [right for _, right in rows] == [1, 0] * 50
    whole = {words if right else acceptability.corrupt(words) for words, right in rows}
    apart = set(list(corpus.agreement_sentences())[corpus.TEST_SIZE:corpus.TEST_SIZE + acceptability.DEVELOPMENT])
    held_out = corpus.held_out_sentences()
    assert len(whole) == 100 and not whole & held_out and not whole & apart and not apart & held_out
    for words, right in rows:
        assert (world.small().logprob(words) > -math.inf) == bool(right)
    assert len(acceptability.training_rows(acceptability.LABELS[-1], seed=0)) == acceptability.LABELS[-1]


@pytest.mark.parametrize(("batch", "count"), [
    (acceptability.test_set, corpus.TEST_SIZE), (acceptability.development, acceptability.DEVELOPMENT)])
def test_an_exam_asks_each_sentence_twice(batch, count: int) -> None:
    assert batch().labels["class"].tolist() == [1, 0] * count
    rows = [[id for id in row.tolist() if id] for row in batch().tokens]
    for whole, other in zip(rows[::2], rows[1::2], strict=True):
        assert sum(a != b for a, b in zip(whole, other, strict=True)) == 1


def test_the_likelier_of_two_by_readers_that_know_that_do_not_and_that_are_contrary() -> None:
    def exactly(words):
        return -world.small().logprob(words)
    assert acceptability.zero_shot_accuracy(exactly) == 1
    assert acceptability.zero_shot_accuracy(lambda words: -exactly(words)) == 0
    assert acceptability.zero_shot_accuracy(lambda words: len(words)) == 0
    gpt = corpus.fresh(0)
    words = ("the", "keys", "are", "lost", ".")
    tokens = len(words) + 1
    loss = gpt.loss(corpus.causal_batch([words])).item()
    assert acceptability.negative_log_prob(gpt)(words) == pytest.approx(loss * tokens, rel=1e-5)


def test_tuning_keeps_the_weights_that_were_best_on_the_development_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptability, "EVERY", 10)
    model, history = acceptability.fine_tune(corpus.fresh(0), 16, 0.5, seed=1, lr=3e-2, steps=30, show=False)
    assert history.best is not None and history.best[1] == min(loss for _, loss in history.validation)
    with torch.no_grad():
        logits, wanted = model(acceptability.development()), acceptability.development().labels["class"]
        assert float(torch.nn.functional.cross_entropy(logits, wanted)) == pytest.approx(history.best[1], abs=1e-5)


class Knowing(GPT2):
    """Says the name that the prompt's examples give the last sentence's kind; or always the same."""

    def __init__(self, knows: bool) -> None:
        super().__init__(GPTConfig(len(small_world_tokenizer()), layers=1))
        self.knows = knows

    def forward(self, batch: Batch, caches: None = None) -> torch.Tensor:
        logits = torch.zeros(*batch.tokens.shape, len(small_world_tokenizer()))
        for row, ids in enumerate(batch.tokens.tolist()):
            words = small_world_tokenizer().tokens([id for id in ids[1:] if id])
            *told, asked = prompts.examples_of(words)
            kinds = {corpus.agreement_sentences()[tuple(one[:-1])]: one[-1] for one in told}
            name = kinds.get(corpus.agreement_sentences()[tuple(asked)], "red") if self.knows else "red"
            logits[row, len(words), small_world_tokenizer().id(name)] = 1
        return logits


@pytest.mark.parametrize("shots", [0, 4])
def test_who_knows_the_names_is_always_right_and_who_says_always_the_same_half_the_time(shots: int) -> None:
    asked = prompts.test_set(shots, seed=0)
    knowing = prompts.metrics_of(*prompts.answers(Knowing(True), asked), asked)
    always = prompts.metrics_of(*prompts.answers(Knowing(False), asked), asked)
    assert knowing["right"] == (1 if shots else pytest.approx(0.5, abs=0.08)) and knowing["one of two"] == 1
    assert always["most given"] == 1 and always["right"] == pytest.approx(0.5, abs=0.08)


def test_rows_reward_and_prompts_ask_what_was_never_in_a_row() -> None:
    for words, example in zip([prompts.row(Random(i), ("no", "her"), [0, 1, 1, 0], False) for i in range(20)],
                              prompts.label_word_examples([prompts.row(Random(i), ("no", "her"), [0, 1, 1, 0], False)
                                             for i in range(20)]), strict=True):
        said = [id for id in example.targets.tolist() if id != IGNORE]
        assert small_world_tokenizer().tokens(said) == ["no", "her", "her", "no"]
        assert not {tuple(sentence[:-1]) for sentence in prompts.examples_of(words)[:-1]} & corpus.held_out_sentences()
    assert all({one, other} != {"red", "blue"} for one, other in prompts.PAIRS)
    for words, name in prompts.test_set(8, seed=1):
        *told, asked = prompts.examples_of(words)
        assert len(told) == 8 and tuple(asked) in corpus.held_out_sentences() and name in prompts.TEST_NAMES
        assert sorted(one[-1] for one in told) == ["blue"] * 4 + ["red"] * 4
        kinds = {corpus.agreement_sentences()[tuple(one[:-1])]: one[-1] for one in told}
        assert kinds[corpus.agreement_sentences()[tuple(asked)]] == name


def test_the_rival_takes_the_example_that_is_most_alike() -> None:
    def rival(text: str) -> str:
        return prompts.nearest_neighbour_answer(text.split())
    assert rival("the key is new . blue the cups are old . red the keys are old .") == "red"
    assert rival("the cups are old . blue the key is new . red the keys are old .") == "blue"
    assert rival("the key is new .") == "red"


def test_sizes_read_the_same_sentences_and_another_exam() -> None:
    assert not torch.equal(sizes.new(3).tokens[:, :5], sizes.new(4).tokens[:, :5])
    counts = [sum(weight.numel() for weight in sizes.build(size, 0).parameters()) for size in sizes.SIZES]
    assert counts == sorted(counts) and counts[-1] > 3 * counts[0]


def test_what_is_recorded_is_what_the_recipe_measures() -> None:
    numbers = recorded("07")["numbers"]
    assert not set(PILOTS) & set(SEEDS) and numbers["labels"] == list(acceptability.LABELS)
    assert list(numbers["fine-tuning"]) == list(acceptability.KINDS)
    assert list(numbers["sizes"]["sizes"]) == list(sizes.SIZES)
    for told in (*numbers["fine-tuning"].values(), numbers["prompts"], *numbers["sizes"]["sizes"].values()):
        rates = dict(told["rates"])
        assert min(rates) < told["lr"] < max(rates) and rates[told["lr"]] == max(rates.values())
