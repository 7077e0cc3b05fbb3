"""The bidirectional language model against torch's LSTMs, loops by hand, and what the published one is."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from plmlab.checkpoints import load, save
from plmlab.example import IGNORE, BidirectionalBatch
from plmlab.models.elmo import BiLM, BiLMConfig, BiLMState, ELMo, ELMoConfig, reversed_padded
from plmlab.objectives import bidirectional_lm
from plmlab.text.characters import BEGIN_SENTENCE, batch_codes, word_codes
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.words import word_tokenizer

TINY = BiLMConfig(model=4, hidden=6, clip=None, embedding=3, filters=((1, 3), (2, 4)), highways=1)
SENTENCES = [["the", "cat", "sat"], ["猫"], ["a", "naïve", "cat", "sat", "down"]]
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def made(config: BiLMConfig = TINY) -> BiLM:
    torch.manual_seed(0)
    return BiLM(config).eval()


def by_torch(model: BiLM, words: Tensor, lengths: Tensor) -> list[Tensor]:
    """Each direction a stack of torch's LSTMs with the same weights, the one from the right reading flipped texts."""
    told = []
    for direction, flipped in ((model.forwards, False), (model.backwards, True)):
        x, shown = torch.stack([torch.cat([text[:n].flip(0), text[n:]]) if flipped else text
                                for text, n in zip(words, lengths.tolist(), strict=True)]), []
        for place, layer in enumerate(direction.layers):
            lstm = nn.LSTM(4, 6, proj_size=4, batch_first=True)
            lstm.load_state_dict({f"{name}_l0": weight for name, weight in layer.cells[0].named_parameters()})
            packed, _ = lstm(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
            said = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])[0]
            x = said + x if place and model.config.skip else said
            shown.append(torch.stack([torch.cat([text[:n].flip(0), text[n:]]) if flipped else text
                                      for text, n in zip(x, lengths.tolist(), strict=True)]))
        told.append(shown)
    return [torch.cat(pair, -1) for pair in zip(*told, strict=True)]


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("sentences", [SENTENCES, SENTENCES[:1]])
@torch.no_grad()
def test_it_is_torch_s_lstms_with_projections(skip: bool, sentences: list[list[str]]) -> None:
    model, codes = made(replace(TINY, skip=skip)), batch_codes(sentences)
    words, *layers = model(codes)
    lengths = torch.tensor([len(sentence) + 2 for sentence in sentences])
    real = torch.arange(codes.shape[1]) < lengths[:, None]
    torch.testing.assert_close(words, model.token(codes).repeat(1, 1, 2))
    for ours, theirs in zip(layers, by_torch(model, words[..., :4], lengths), strict=True):
        torch.testing.assert_close(ours[real], theirs[real], **CLOSE)


@torch.no_grad()
def test_memory_and_state_are_cut_by_hand() -> None:
    model = made(replace(TINY, clip=0.05, layers=1))
    words, shown = model(codes := batch_codes(SENTENCES[2:]))
    [cell], x = model.forwards.layers[0].cells, words[0, :, :4]
    h, c, cut = torch.zeros(4), torch.zeros(6), 0
    for position in range(codes.shape[1]):
        sums = cell.weight_ih @ x[position] + cell.bias_ih + cell.weight_hh @ h + cell.bias_hh
        i, f, g, o = sums.split(6)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        cut += int((c.abs() > 0.05).sum())
        c = c.clamp(-0.05, 0.05)
        h = (cell.weight_hr @ (torch.sigmoid(o) * torch.tanh(c))).clamp(-0.05, 0.05)
        torch.testing.assert_close(shown[0, position, :4], h, **CLOSE)
    assert cut > 0
    with pytest.raises(ValueError, match="clip=0: "):
        made(replace(TINY, clip=0.0))


@torch.no_grad()
def test_neither_direction_sees_what_the_other_does() -> None:
    model = made(replace(TINY, filters=((1, 8), (2, 16))))
    one, other = model(batch_codes([["a", "b", "c", "d"]])), model(batch_codes([["a", "b", "x", "d"]]))
    for layer in (1, 2):
        left, right = (told.abs().sum(-1)[0] for told in (one[layer] - other[layer]).chunk(2, -1))
        assert not left[:3].any() and (left[3:] > 0).all()
        assert not right[4:].any() and (right[:4] > 0).all()


@torch.no_grad()
def test_padding_changes_nothing_and_shows_nothing() -> None:
    model, codes = made(), batch_codes(SENTENCES)
    told = model(codes)
    for row, sentence in enumerate(SENTENCES):
        alone = model(batch_codes([sentence]))
        for ours, theirs in zip(told, alone, strict=True):
            torch.testing.assert_close(ours[row, :len(sentence) + 2], theirs[0], **CLOSE)
    assert not told[1][1, 3:].any() and not told[2][1, 3:].any()


@torch.no_grad()
def test_states_go_on_from_batch_to_batch_until_they_are_reset() -> None:
    model, state = made(), BiLMState()
    codes = batch_codes([["a", "b"], ["c", "d"]])
    first, second = model(codes[:1], state), model(codes[1:], state)
    whole = model(codes.flatten(0, 1)[None])
    torch.testing.assert_close(second[2][..., :4], whole[2][:, 4:, :4], **CLOSE)
    flipped = model(torch.cat([codes[1], codes[0]])[None])
    torch.testing.assert_close(second[2][..., 4:], flipped[2][:, :4, 4:], **CLOSE)
    state.reset()
    torch.testing.assert_close(model(codes[:1], state)[2], first[2])
    assert not torch.allclose(model(codes[1:])[2], second[2])


def test_turned_round_twice_it_is_as_before() -> None:
    x, real = torch.arange(8.0).reshape(2, 4, 1), torch.tensor([[True] * 3 + [False], [True] * 4])
    assert reversed_padded(x, real)[..., 0].tolist() == [[2, 1, 0, 3], [7, 6, 5, 4]]
    assert torch.equal(reversed_padded(reversed_padded(x, real), real), x)


def test_the_published_size() -> None:
    """93.6 million parameters; ours have each cell's bias twice, as PyTorch has."""
    with torch.device("meta"):
        model = ELMo(ELMoConfig.base()).bilm
    doubled = sum(weight.numel() for name, weight in model.named_parameters() if name.endswith("bias_hh"))
    assert round((sum(weight.numel() for weight in model.parameters()) - doubled) / 1e5) == 936


def test_it_learns_and_an_unknown_activation_is_refused() -> None:
    model = made()
    sum(layer.square().mean() for layer in model(batch_codes(SENTENCES))).backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in model.parameters())
    with pytest.raises(ValueError, match="unknown activation 'gelu'; choose one of relu, tanh"):
        BiLM(replace(TINY, activation="gelu"))


def small_elmo() -> tuple[ELMo, Tokenizer]:
    torch.manual_seed(0)
    tokenizer = word_tokenizer(["the", "cat", "sat", "naïve", "down"])
    elmo = ELMo(replace(ELMoConfig.tiny(len(tokenizer)), model=4, hidden=6, filters=((1, 8), (2, 16)), longest=9))
    elmo.set_spelling(tokenizer)
    return elmo.eval(), tokenizer


def two_way_batch(tokenizer: Tokenizer, texts: list[list[str]]) -> BidirectionalBatch:
    return BidirectionalBatch.of([bidirectional_lm(tokenizer.encode(" ".join(text), plain=True), vocab=tokenizer.vocab,
                                                   rng=Random(0))
                                  for text in texts], pad=tokenizer.vocab.need("pad"))


@torch.no_grad()
def test_both_directions_say_words_by_one_softmax_from_what_the_biLM_shows() -> None:
    """The logits at a position are the softmax of the top layer of the biLM, which reads the whole text at once."""
    elmo, tokenizer = small_elmo()
    texts = [["the", "cat", "sat"], ["naïve"], ["the", "cat", "sat", "down", "cat"]]
    logits = elmo(two_way_batch(tokenizer, texts))
    top = elmo.layers(texts)[-1]
    time = logits.shape[1] // 2
    for row, text in enumerate(texts):
        count = len(text) + 1
        left, right = top[row, :count, :4], top[row, 1:count + 1, 4:].flip(0)
        torch.testing.assert_close(logits[row, :count], elmo.softmax(left), **CLOSE)
        torch.testing.assert_close(logits[row, time:time + count], elmo.softmax(right), **CLOSE)


def test_the_loss_is_the_mean_over_the_targets_of_both_directions() -> None:
    elmo, tokenizer = small_elmo()
    batch = two_way_batch(tokenizer, [["the", "cat", "sat"], ["naïve"]])
    told = elmo(batch).log_softmax(-1)
    terms = [-told[row, position, target] for row, targets in enumerate(batch.targets.tolist())
             for position, target in enumerate(targets) if target != IGNORE]
    assert len(terms) == 12
    torch.testing.assert_close(elmo.loss(batch), torch.stack(terms).mean())
    elmo.loss(batch).backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in elmo.parameters())


@torch.no_grad()
def test_a_word_that_no_vocabulary_has_gets_a_vector_of_its_own() -> None:
    elmo, _ = small_elmo()
    one, other = (elmo.layers([["the", word]]) for word in ("dog", "dig"))
    assert all((a[0, 2] - b[0, 2]).abs().max() > 1e-4 for a, b in zip(one, other, strict=True))


def test_it_is_spelled_by_a_vocabulary_of_its_own_size(tmp_path: Path) -> None:
    elmo, tokenizer = small_elmo()
    with pytest.raises(ValueError, match="the tokenizer has 40 words, but the ELMo has a vocabulary of 44"):
        elmo.set_spelling(word_tokenizer(["one"]))
    row = tokenizer.encode("naïve", plain=True)[0]
    assert elmo.codes[row].tolist() == word_codes("naïve", 9)
    assert elmo.codes[tokenizer.vocab.need("start")][1] == BEGIN_SENTENCE
    save(tmp_path / "elmo", elmo, tokenizer, command="a test", figures={})
    loaded, _ = load(tmp_path / "elmo")
    assert torch.equal(loaded.codes, elmo.codes)
    torch.testing.assert_close(loaded.layers([["dog"]])[2], elmo.layers([["dog"]])[2])
