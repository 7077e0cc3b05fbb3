"""Skip-gram and CBOW against loops over pairs and positions; and that all that models share takes them."""

from pathlib import Path
from random import Random

import pytest
import torch
from standin import SENTENCES
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from plmlab import world
from plmlab.checkpoints import load, save
from plmlab.example import IGNORE, Batch
from plmlab.interpret.attention_maps import attention_maps
from plmlab.interpret.readable import readable
from plmlab.labs import AttentionLab, ClozeLab, GateLab, NextTokenLab, PositionLab
from plmlab.layers import sampled_softmax
from plmlab.layers.sampled_softmax import FullSoftmax
from plmlab.models.registry import MODELS
from plmlab.models.word2vec import (
    CBOW,
    NCESkipGram,
    SkipGram,
    SoftmaxSkipGram,
    Word2Vec,
    Word2VecConfig,
    set_noise_distribution,
)
from plmlab.objectives import window
from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit

SIZE, WIDTH, FIRST = 60, 6, 39
VOCAB = Vocabulary(SIZE)
TEXT = SENTENCES[12]
Pair = tuple[list[int], int]
"""The words whose mean says a word, and that word."""


class SoftmaxCBOW(CBOW):
    loss_class = staticmethod(lambda vocab, negatives: FullSoftmax(0, 0))


def made(kind: type[Word2Vec]) -> Word2Vec:
    """A model of loud random weights, and noise that is not even."""
    torch.manual_seed(3)
    model = kind(Word2VecConfig(SIZE, WIDTH, negatives=3))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.6)
    model.word_loss.set_noise(torch.arange(SIZE).float())
    return model.double()


def texts(lengths: tuple[int, ...] = (3, 9, 1, 6), seed: int = 0) -> list[tuple[list[int], list[int]]]:
    """Texts of odd lengths, and the reach of each of their positions."""
    rng = Random(seed)
    return [([FIRST + int(rng.random() * (SIZE - FIRST)) for _ in range(n)], [int(rng.random() * 4) for _ in range(n)])
            for n in lengths]


def batch_of(told: list[tuple[list[int], list[int]]]) -> Batch:
    return Batch.of([window(ids, vocab=VOCAB, rng=Random(0), reach=reach) for ids, reach in told], pad=0)


def neighbours(told: list[tuple[list[int], list[int]]]) -> list[list[tuple[list[int], int]]]:
    """Of each text, for each position: the words within its reach, and its own."""
    return [[([ids[j] for j in range(len(ids)) if 0 < abs(i - j) <= reach[i]], ids[i]) for i in range(len(ids))]
            for ids, reach in told]


def pairs(kind: type[Word2Vec], told: list[tuple[list[int], list[int]]]) -> list[list[Pair]]:
    """What says what, by text: of skip-gram each neighbour by itself, of CBOW their mean."""
    if issubclass(kind, CBOW):
        return [[(pair_mask, word) for pair_mask, word in text if pair_mask] for text in neighbours(told)]
    return [[([other], word) for pair_mask, word in text for other in pair_mask] for text in neighbours(told)]


def hidden(model: Word2Vec, pair_mask: list[int]) -> Tensor:
    return torch.stack([model.token.weight[id] for id in pair_mask]).mean(0)


def by_softmax(model: Word2Vec, found: list[list[Pair]]) -> Tensor:
    return torch.stack([F.cross_entropy(model.output.weight @ hidden(model, pair_mask), torch.tensor(word))
                        for text in found for pair_mask, word in text]).mean()


def by_draws(model: Word2Vec, found: list[list[Pair]], draws: Tensor) -> Tensor:
    """Negative sampling with the same draws for all pairs of a text."""
    losses = []
    for text, drawn in zip(found, draws, strict=True):
        for pair_mask, word in text:
            vector = hidden(model, pair_mask)
            refused = torch.stack([F.logsigmoid(-vector @ model.output.weight[id]) for id in drawn]).mean()
            losses.append(-F.logsigmoid(vector @ model.output.weight[word]) - 3 * refused)
    return torch.stack(losses).mean()


def same(model: Word2Vec, mine: Tensor, theirs: Tensor) -> None:
    """The losses agree, and so do the gradients of both tables."""
    assert_close(mine, theirs, atol=1e-10, rtol=0)
    tables = (model.token.weight, model.output.weight)
    for one, other in zip(torch.autograd.grad(mine, tables), torch.autograd.grad(theirs, tables), strict=True):
        assert one.any()
        assert_close(one, other, atol=1e-10, rtol=0)


@pytest.mark.parametrize("kind", [SoftmaxSkipGram, SoftmaxCBOW])
def test_with_the_full_softmax_it_is_a_loop_over_its_pairs(kind: type[Word2Vec]) -> None:
    model, told = made(kind), texts()
    found = pairs(kind, told)
    assert sum(map(len, found)) > 10 and not found[2]
    same(model, model.loss(batch_of(told)), by_softmax(model, found))


@pytest.mark.parametrize("kind", [SkipGram, CBOW])
def test_with_the_same_draws_negative_sampling_is_one_too(kind: type[Word2Vec], monkeypatch) -> None:
    model, told = made(kind), texts()
    draws = torch.randint(FIRST, SIZE, (len(told), 7), generator=torch.Generator().manual_seed(5))
    monkeypatch.setattr(sampled_softmax, "SHARED_NEGATIVES", 7)
    monkeypatch.setattr(torch, "multinomial", lambda noise, count, replacement: draws.flatten())
    same(model, model.loss(batch_of(told)), by_draws(model, pairs(kind, told), draws))


@pytest.mark.parametrize("kind", [SkipGram, CBOW, SoftmaxSkipGram, SoftmaxCBOW, NCESkipGram])
def test_padding_changes_nothing(kind: type[Word2Vec], monkeypatch) -> None:
    """Wider padding, of another id, leaves loss and gradients as they are; the padding's own vector gets none."""
    monkeypatch.setattr(torch, "multinomial", lambda noise, count, replacement: torch.full((count,), 50))
    model, told = made(kind), texts()
    told = [(ids, reach) for ids, reach in told if max(reach) > 0]
    whole, longer = batch_of(told), batch_of([*told, ([FIRST] * 15, [0] * 15)])
    longer.tokens[longer.targets == IGNORE] = 7
    same(model, model.loss(longer), model.loss(whole))
    model.zero_grad()
    model.loss(longer).backward()
    assert not model.token.weight.grad[7].any() and not model.token.weight.grad[0].any()


def test_cbow_reads_its_context_in_no_order_and_as_a_mean() -> None:
    model = made(SoftmaxCBOW)
    reach = [0, 0, 0, 4, 0, 0]
    losses = [model.loss(batch_of([(ids, reach)])) for ids in
              ([40, 41, 42, 50, 43, 44], [44, 42, 41, 50, 40, 43], [40, 40, 42, 50, 43, 44])]
    assert_close(losses[0], losses[1], atol=1e-12, rtol=0)
    assert (losses[0] - losses[2]).abs().item() > 1e-3
    twice = model.loss(batch_of([([40, 41, 50, 41, 40], [0, 0, 2, 0, 0])]))
    assert_close(twice, model.loss(batch_of([([40, 50, 41], [0, 1, 0])])), atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", [SoftmaxSkipGram, SoftmaxCBOW])
def test_its_gradient_is_the_slope_of_its_loss(kind: type[Word2Vec]) -> None:
    model, batch = made(kind), batch_of(texts((4, 3), seed=1))

    def loss(token: Tensor, output: Tensor) -> Tensor:
        weights = {"token.weight": token, "output.weight": output}
        return torch.func.functional_call(Asked(model), {f"model.{name}": one for name, one in weights.items()},
                                          (batch,))
    assert torch.autograd.gradcheck(loss, (model.token.weight, model.output.weight), fast_mode=True)


class Asked(torch.nn.Module):
    """A model whose forward is the loss."""

    def __init__(self, model: Word2Vec) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> Tensor:
        return self.model.loss(batch)


@pytest.mark.parametrize("kind", [SkipGram, CBOW])
def test_the_scores_of_each_position(kind: type[Word2Vec]) -> None:
    model, told = made(kind), texts()
    scores, found = model(batch_of(told)), neighbours(told)
    assert scores.shape == (4, 9, SIZE)
    for t, text in enumerate(found):
        for i, (pair_mask, word) in enumerate(text):
            vector = hidden(model, [word] if kind is SkipGram else pair_mask) if kind is SkipGram or pair_mask \
                else torch.zeros(WIDTH).double()
            assert_close(scores[t, i], model.output.weight @ vector, atol=1e-10, rtol=0)


def test_a_new_model_has_small_vectors_and_says_all_words_alike() -> None:
    """As in word2vec's code: from −1/2d to 1/2d, and zeros; so the first loss of a pair is (1 + k) log 2."""
    torch.manual_seed(0)
    model = SkipGram(Word2VecConfig(2000, 50, 5))
    low, high = model.token.weight.detach().aminmax()
    assert -0.01 <= low.item() < -0.0099 and 0.0099 < high.item() <= 0.01
    assert not model.output.weight.any()
    assert model.loss(batch_of(texts())).item() == pytest.approx(6 * 0.693147, rel=1e-5)


def test_the_noise_is_told_by_the_words_of_the_batches() -> None:
    model, told = SkipGram(Word2VecConfig(SIZE)), [texts(seed=seed) for seed in range(200)]
    set_noise_distribution(model, Tokenizer.words(["a"], 50), lambda step: batch_of(told[step]))
    counts = torch.zeros(SIZE)
    for ids, _ in (text for batch in told for text in batch):
        for id in ids:
            counts[id] += 1
    assert_close(model.word_loss.noise, counts ** 0.75 / (counts ** 0.75).sum())
    assert not model.word_loss.noise[0], "padding is no word"


# What all models share

WORDS = Tokenizer.words([TEXT, SENTENCES[30]], 100)
KINDS = {"skip-gram": SkipGram, "cbow": CBOW}
both = pytest.mark.parametrize("name", KINDS)


def little(name: str) -> Word2Vec:
    torch.manual_seed(1)
    return KINDS[name](Word2VecConfig(len(WORDS), 8))


@both
def test_what_is_saved_is_what_is_loaded_and_its_noise_too(name: str, tmp_path: Path) -> None:
    model = little(name)
    model.word_loss.set_noise(torch.arange(len(WORDS)).float())
    save(tmp_path / "v", model, WORDS, command="x", figures={})
    again, _ = load(tmp_path / "v", expect=name)
    assert type(again) is KINDS[name] and again.config == model.config
    assert torch.equal(again.word_loss.noise, model.word_loss.noise) and len(set(again.word_loss.noise.tolist())) > 40
    batch = Batch.of([readable(model).example(WORDS, TEXT)], pad=0)
    torch.manual_seed(2)
    before = model.loss(batch)
    torch.manual_seed(2)
    assert torch.equal(again.loss(batch), before)


def test_plmlab_models_lists_them(listed: dict[str, str]) -> None:
    for name in KINDS:
        assert listed[name].split()[3] == name, "pretrained as"
        assert "Mikolov et al. 2013a" in listed[name]
        assert "0.2" in listed[name] and "1800.0" in listed[name], "2 · 2,000 · 50, and 2 · 3 million · 300"


@both
def test_it_learns_a_text_by_the_one_loop(name: str) -> None:
    model, example = little(name), readable(little(name)).example(WORDS, TEXT)
    assert MODELS[name].architecture.name == "window"
    batch = Batch.of([example] * 8, pad=0)
    history = fit(model, lambda step: batch, steps=60, lr=0.1, show=False)
    assert history.ended == "completed" and history.smoothed(5)[-1] < 0.7 * history.losses[0]


@both
def test_a_plain_text_is_read_with_all_neighbours_within_five(name: str) -> None:
    looks = readable(little(name)).example(WORDS, TEXT).visible.dense()
    for q, row in enumerate(looks.tolist()):
        assert row == [0 < abs(q - k) <= 5 for k in range(len(row))]


@both
def test_two_texts_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="takes one text, read word by word, but two were given"):
        readable(little(name)).example(WORDS, TEXT, TEXT)


@both
def test_a_lab_that_asks_for_something_else_says_what(name: str) -> None:
    model, called = little(name), KINDS[name].__name__
    with pytest.raises(ValueError, match=f"a {called} has no masked-language-model head; give a BERTPretraining"):
        ClozeLab(model, WORDS, TEXT)
    for lab in (lambda: NextTokenLab(model, WORDS, TEXT), lambda: GateLab(model, WORDS, TEXT, world=world.small())):
        with pytest.raises(ValueError, match=f"needs an autoregressive language model: a GPT.*; got a {called}"):
            lab()
    none = f"a {called} has no attention to show: it has one vector for each word, regardless of context"
    with pytest.raises(ValueError, match=none):
        attention_maps(model, WORDS, TEXT)
    assert AttentionLab(model, WORDS, TEXT).message == none
    assert PositionLab(model, WORDS, TEXT, kind="sentence").message == none
