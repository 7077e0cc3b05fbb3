"""The solutions of chapter 04 against independent ones; other right ways are not refused, and slips are named."""

import math
from collections import defaultdict
from itertools import product

import numpy as np
import pytest
import torch
from nltk.translate import AlignedSent, IBMModel1
from nltk.translate.metrics import alignment_error_rate as of_nltk
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from plmlab.chapters.ch04 import exercises as right
from plmlab.chapters.ch04.exercises_alignment import alignment_error_rate, draw_sentences, ibm1_round
from plmlab.exercises import check
from plmlab.exercises.exercise import find


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=generator(sum(shape)), dtype=torch.float64)


# The solutions

@pytest.mark.parametrize("pad", [0, 3])
def test_an_lstm_that_reads_backwards_reads_what_is_turned_round(pad: int) -> None:
    """PyTorch's backward LSTM of packed texts ends where its forward one ends that reads the reversed texts."""
    lengths = torch.tensor([7, 5, 1, 2])
    tokens = torch.randint(4, 20, (4, 7), generator=generator()).where(torch.arange(7) < lengths[:, None], pad)
    embed, both = nn.Embedding(20, 3), nn.LSTM(3, 5, bidirectional=True, batch_first=True)
    there = nn.LSTM(3, 5, batch_first=True)
    there.load_state_dict({name.removesuffix("_reverse"): weight for name, weight in both.state_dict().items()
                           if name.endswith("_reverse")})

    def read(lstm: nn.LSTM, tokens: torch.Tensor) -> torch.Tensor:
        return lstm(pack_padded_sequence(embed(tokens), lengths, batch_first=True, enforce_sorted=False))[1][0]
    torch.testing.assert_close(read(both, tokens)[1], read(there, right.reverse_sources(tokens, pad))[0])


def test_turned_round_twice_is_as_before() -> None:
    for tokens, pad in right.draw_sources(generator()).values():
        assert right.reverse_sources(right.reverse_sources(tokens, pad), pad).equal(tokens)


@pytest.mark.parametrize("scale", [1, 100])
def test_a_context_is_pytorchs_attention_with_one_query(scale: int) -> None:
    state, memory = scale * draw(3, 6), draw(3, 5, 6)
    real = torch.tensor([[True] * 5, [True, True, False, False, False], [False, True, True, False, True]])
    told = F.scaled_dot_product_attention(state[:, None], memory, memory, attn_mask=real[:, None], scale=1.0)[:, 0]
    torch.testing.assert_close(right.attention_context(state, memory, real), told)


def test_additive_scores_are_a_network_of_two_layers_on_state_and_position_side_by_side() -> None:
    state, memory, W, U, v = draw(3, 4), draw(3, 5, 6), draw(7, 4), draw(7, 6), draw(7)
    network = nn.Sequential(nn.Linear(10, 7, bias=False), nn.Tanh(), nn.Linear(7, 1, bias=False)).double()
    network.load_state_dict({"0.weight": torch.cat([W, U], 1), "2.weight": v[None]})
    pairs = torch.cat([state[:, None].expand(3, 5, 4), memory], -1)
    torch.testing.assert_close(right.additive_scores(state, memory, W, U, v), network(pairs)[..., 0])


@pytest.mark.parametrize("seed", range(5))
def test_the_error_rate_is_nltks(seed: int) -> None:
    chance = torch.rand(3, 5, 7, generator=generator(seed))
    pairs = list(product(range(5), range(7)))
    sure = {(i, j) for i, j in pairs if chance[0, i, j] < 0.2}
    possible = sure | {(i, j) for i, j in pairs if chance[1, i, j] < 0.2}
    links = {(i, j) for i, j in pairs if chance[2, i, j] < 0.2} | set(sorted(sure)[:3])
    assert alignment_error_rate(links, sure, possible) == pytest.approx(of_nltk(sure, links, possible))
    assert alignment_error_rate(links, sure, sure) == pytest.approx(of_nltk(sure, links))


def test_error_rates_worked_by_hand() -> None:
    sure, possible = {(0, 0), (1, 2)}, {(0, 0), (1, 2), (1, 1)}
    assert alignment_error_rate({(0, 0), (1, 1), (2, 1)}, sure, possible) == pytest.approx(0.4)
    for faultless in (sure, possible):
        assert alignment_error_rate(faultless, sure, possible) == 0
    for hopeless in ({(3, 3)}, set()):
        assert alignment_error_rate(hopeless, sure, possible) == 1
    assert alignment_error_rate(set(), set(), possible) == 0


ENGLISH = ["the house is small", "the house is big", "the book is small", "the house", "the book", "a book"]
GERMAN = ["klein ist das haus", "das haus ist ja gross", "das buch ist ja klein", "das haus", "das buch", "ein buch"]


def ids(texts: list[str], first: int = 0) -> tuple[list[list[int]], dict[str, int]]:
    """The texts as ids that count from ``first``, and the ids of the words."""
    words = sorted({word for text in texts for word in text.split()})
    number = {word: place for place, word in enumerate(words, first)}
    return [[number[word] for word in text.split()] for text in texts], number


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_rounds_of_model_1_are_nltks(rounds: int) -> None:
    """NULL is word 0 of every source. No word stands twice in a German text: NLTK would count it once."""
    (sources, english), (targets, german) = ids(ENGLISH, 1), ids(GERMAN)
    told = IBMModel1([AlignedSent(theirs.split(), ours.split()) for ours, theirs in zip(
        ENGLISH, GERMAN, strict=True)], rounds).translation_table
    t = torch.full((len(german), 1 + len(english)), 1 / len(german), dtype=torch.float64)
    for _ in range(rounds):
        t = ibm1_round([[0, *source] for source in sources], targets, t)
    for ours, theirs in zip(ENGLISH, GERMAN, strict=True):
        for word, other in product([None, *ours.split()], theirs.split()):
            assert t[german[other], english.get(word, 0)].item() == pytest.approx(told[other][word], abs=1e-8)


def by_all_alignments(sources, targets, t):
    """Every way to give each word of the target a word of the source, by its probability, and counted."""
    counts = torch.zeros_like(t)
    for source, target in zip(sources, targets, strict=True):
        ways = list(product(source, repeat=len(target)))
        chances = [math.prod(t[f, e].item() for f, e in zip(target, way, strict=True)) for way in ways]
        for way, chance in zip(ways, chances, strict=True):
            for f, e in zip(target, way, strict=True):
                counts[f, e] += chance / sum(chances)
    seen = counts.sum(0) > 0
    return torch.stack([column / column.sum() if here else before
                        for column, here, before in zip(counts.T, seen, t.T, strict=True)], 1)


@pytest.mark.parametrize("seed", range(4))
def test_a_round_is_that_of_all_alignments_and_makes_the_texts_likelier(seed: int) -> None:
    """Words stand twice in source and target, and word 4 nowhere."""
    sources, targets = [[0, 1, 0, 3], [2, 2], [1]], [[1, 1, 0], [2, 1, 3], [2, 2]]
    t = torch.rand(4, 5, generator=generator(seed), dtype=torch.float64)
    t /= t.sum(0)
    told = ibm1_round(sources, targets, t)
    torch.testing.assert_close(told, by_all_alignments(sources, targets, t))

    def logprob(t: torch.Tensor) -> float:
        return sum(math.log(t[f, source].mean()) for source, target in zip(
            sources, targets, strict=True) for f in target)
    assert logprob(told) > logprob(t)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_scheduled_inputs_in_plain_words(epsilon: float) -> None:
    """Right words are even, guesses are odd and say where they come from; padding is 2."""
    positions = torch.arange(40).expand(50, 40)
    inputs = (4 + 2 * positions).where(positions < torch.arange(1, 51)[:, None].clamp(max=40), 2)
    draws = torch.rand(50, 40, generator=generator(), dtype=torch.float64)
    told = right.scheduled_inputs(inputs, 2 * positions + 1, draws, epsilon, 2)
    real = inputs != 2
    guessed = told % 2 == 1
    assert told[:, 0].equal(inputs[:, 0]) and not guessed[~real].any()
    assert told[guessed].equal(2 * positions[guessed] - 1) and told[~guessed].equal(inputs[~guessed])
    assert guessed[:, 1:].equal((draws >= epsilon)[:, 1:] & real[:, 1:])
    share = float(guessed[:, 1:].sum() / real[:, 1:].sum())
    assert share == pytest.approx(1 - epsilon, abs=0.05)


def test_the_toys_of_the_docstrings_come_out() -> None:
    told = right.reverse_sources(torch.tensor([[7, 8, 9], [5, 6, 0]]), 0)
    assert told.tolist() == [[9, 8, 7], [6, 5, 0]]
    context = right.attention_context(torch.tensor([[1.0, 0]]), torch.tensor([[[0, 4], [1.1, 0]]]),
                                      torch.tensor([[True] * 2]))
    assert context[0].tolist() == pytest.approx([0.82, 1], abs=0.01)
    scores = right.additive_scores(*right.draw_states(generator())["all widths 1"])
    assert scores[0].tolist() == pytest.approx([1.99, 0], abs=0.001)
    table = ibm1_round(*draw_sentences(generator())["two words, and one of them alone"])
    assert table.T.tolist() == [[0.75, 0.25], [0.5, 0.5]]
    assert right.scheduled_inputs(*right.draw_guesses(generator())["one text"]).tolist() == [[5, 7, 9]]


# Other right ways

def reversed_lists(tokens, pad):
    rows = []
    for row in tokens.tolist():
        words = [token for token in row if token != pad]
        rows.append(words[::-1] + [pad] * (len(row) - len(words)))
    return torch.tensor(rows)


def reversed_by_gather(tokens, pad):
    lengths, positions = (tokens != pad).sum(1, keepdim=True), torch.arange(tokens.shape[1])
    return torch.where(positions < lengths, tokens.gather(1, (lengths - 1 - positions).clamp(min=0)), tokens)


def reversed_by_pad_sequence(tokens, pad):
    rows = pad_sequence([row[row != pad].flip(0) for row in tokens], batch_first=True, padding_value=pad)
    return F.pad(rows, (0, tokens.shape[1] - rows.shape[1]), value=pad)


def context_text_by_text(state, memory, real):
    contexts = []
    for s, h, words in zip(state, memory, real, strict=True):
        weights = torch.softmax(h[words] @ s, 0)
        contexts.append(weights @ h[words])
    return torch.stack(contexts)


def context_by_bmm(state, memory, real):
    scores = torch.bmm(memory, state.unsqueeze(2)).squeeze(2)
    scores = torch.where(real, scores, torch.full_like(scores, -1e9))
    return torch.bmm(F.softmax(scores, dim=1).unsqueeze(1), memory).squeeze(1)


def context_by_hand(state, memory, real):
    scores = torch.einsum("bw,btw->bt", state, memory)
    largest = scores.masked_fill(~real, -math.inf).max(1, keepdim=True).values
    powers = torch.where(real, scores - largest, -math.inf).exp()
    return (powers[:, :, None] * memory).sum(1) / powers.sum(1, keepdim=True)


def additive_in_loops(state, memory, W, U, v):
    return torch.stack([torch.stack([v @ torch.tanh(W @ s + U @ h) for h in positions])
                        for s, positions in zip(state, memory, strict=True)])


def additive_by_concatenation(state, memory, W, U, v):
    pairs = torch.cat([state.unsqueeze(1).repeat(1, memory.shape[1], 1), memory], 2)
    return (torch.tanh(pairs @ torch.cat([W, U], 1).T) @ v[:, None]).squeeze(-1)


def additive_by_linear(state, memory, W, U, v):
    return F.linear(torch.tanh(F.linear(state, W).unsqueeze(1) + F.linear(memory, U)), v[None]).squeeze(2)


def rate_in_loops(links, sure, possible):
    hits = 0
    for link in links:
        if link in sure:
            hits += 1
        if link in possible:
            hits += 1
    total = len(links) + len(sure)
    return 1 - hits / total if total else 0


def rate_by_misses(links, sure, possible):
    """What was wrong of A and what is missing of S, over all."""
    total = len(links) + len(sure)
    return (len(links - possible) + len(sure - links)) / max(total, 1)


def rate_by_numpy(links, sure, possible):
    if len(links) == len(sure) == 0:
        return 0.0
    return np.float64(1.0) - (len(links & sure) + len(links & (possible | sure))) / np.float64(len(links) + len(sure))


def round_in_dicts(sources, targets, t):
    counts, totals = defaultdict(float), defaultdict(float)
    for source, target in zip(sources, targets, strict=True):
        for f in target:
            whole = sum(float(t[f, e]) for e in source)
            for e in source:
                counts[f, e] += float(t[f, e]) / whole
                totals[e] += float(t[f, e]) / whole
    new = t.clone()
    for e in totals:
        new[:, e] = torch.tensor([counts[f, e] / totals[e] for f in range(len(t))])
    return new


def round_by_matrices(sources, targets, t):
    counts = torch.zeros(t.shape)
    for source, target in zip(sources, targets, strict=True):
        ours = F.one_hot(torch.tensor(source), t.shape[1]).float().sum(0)
        theirs = F.one_hot(torch.tensor(target), t.shape[0]).float().sum(0)
        weighed = t * ours
        counts += theirs[:, None] * weighed / weighed.sum(1, keepdim=True).clamp(min=1e-12)
    return torch.where(counts.sum(0) == 0, t, counts / counts.sum(0))


def scheduled_in_loops(inputs, guesses, draws, epsilon, pad):
    out = inputs.clone()
    for i in range(inputs.shape[0]):
        for t in range(1, inputs.shape[1]):
            if inputs[i, t] != pad and draws[i, t] >= epsilon:
                out[i, t] = guesses[i, t - 1]
    return out


def scheduled_by_slices(inputs, guesses, draws, epsilon, pad):
    change = (draws[:, 1:] >= epsilon) & (inputs[:, 1:] != pad)
    return torch.cat([inputs[:, :1], torch.where(change, guesses[:, :-1], inputs[:, 1:])], dim=1)


def scheduled_by_roll(inputs, guesses, draws, epsilon, pad):
    change = ~(draws < epsilon) & (inputs != pad)
    change[:, 0] = False
    return inputs.masked_scatter(change, guesses.roll(1, dims=1)[change])


@pytest.mark.parametrize(("number", "answer"), [
    ("04.1", reversed_lists), ("04.1", reversed_by_gather), ("04.1", reversed_by_pad_sequence),
    ("04.2", context_text_by_text), ("04.2", context_by_bmm), ("04.2", context_by_hand),
    ("04.3", additive_in_loops), ("04.3", additive_by_concatenation), ("04.3", additive_by_linear),
    ("04.4", rate_in_loops), ("04.4", rate_by_misses), ("04.4", rate_by_numpy),
    ("04.5", round_in_dicts), ("04.5", round_by_matrices), ("04.5", by_all_alignments),
    ("04.6", scheduled_in_loops), ("04.6", scheduled_by_slices), ("04.6", scheduled_by_roll),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Slips, as people write them

def all_words_at_once(tokens, pad):
    out, mask = tokens.clone(), tokens != pad
    out[mask] = tokens[mask].flip(0)
    return out


def reversed_in_place(tokens, pad):
    for row in tokens:
        n = (row != pad).sum()
        row[:n] = row[:n].flip(0)
    return tokens


def with_scores_as_a_column(s, h, real):
    return ((h @ s[..., None]).masked_fill(~real[..., None], -math.inf).softmax(-1) * h).sum(1)


def with_memory_emptied(s, h, real):
    h = h * real.unsqueeze(-1)
    return ((s[:, None] * h).sum(-1).softmax(-1)[..., None] * h).sum(1)


def largest_so_far(s, h, real):
    scores = torch.einsum("bw,btw->bt", s, h).masked_fill(~real, -math.inf)
    largest = torch.zeros(len(s))
    for column in scores.T:
        largest = torch.maximum(largest, column)
    powers = (scores - largest[:, None]).exp()
    return (powers[..., None] * h).sum(1) / powers.sum(1, keepdim=True)


def tanh_by_exp(s, h, W, U, v):
    x = (s @ W.T)[:, None] + h @ U.T
    return (x.exp() - (-x).exp()) / (x.exp() + (-x).exp()) @ v


def round_by_index(sources, targets, t):
    counts = torch.zeros_like(t)
    for source, target in zip(sources, targets, strict=True):
        rows, columns = torch.meshgrid(torch.tensor(target), torch.tensor(source), indexing="ij")
        counts[rows, columns] += t[rows, columns] / t[rows, columns].sum(1, keepdim=True)
    return torch.where(counts.sum(0) > 0, counts / counts.sum(0), t)


def round_row_by_row(sources, targets, t):
    counts = torch.zeros_like(t)
    for source, target in zip(sources, targets, strict=True):
        for f in target:
            counts[f, source] += t[f, source] / t[f, source].sum()
    return torch.where(counts.sum(0) > 0, counts / counts.sum(0), t)


def sentence_by_sentence(sources, targets, t):
    for pair in zip(sources, targets, strict=True):
        t = by_all_alignments(*([text] for text in pair), t)
    return t


def scheduled(stays=lambda draws, epsilon: draws < epsilon, shifted=lambda guesses: F.pad(guesses, (1, 0))[:, :-1]):
    def answer(inputs, guesses, draws, epsilon, pad):
        out = torch.where(stays(draws, epsilon) | (inputs == pad), inputs, shifted(guesses))
        out[:, 0] = inputs[:, 0]
        return out
    return answer


def scheduled_round_the_end(inputs, guesses, draws, epsilon, pad):
    return torch.where((draws < epsilon) | (inputs == pad), inputs, torch.roll(guesses, 1, 1))


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("04.1", all_words_at_once, "they move between texts"),
    ("04.1", lambda tokens, pad: pad_sequence([row[row != pad].flip(0) for row in tokens]), "transposed and padded"),
    ("04.1", reversed_in_place, "The answer is correct, but `tokens` is changed in place"),
    ("04.2", with_scores_as_a_column, "over an axis of size 1"),
    ("04.2", with_memory_emptied, "set to 0 at padding, but the weights are"),
    ("04.2", largest_so_far, " maximum that starts at 0"),
    ("04.3", lambda s, h, W, U, v: torch.tanh((s @ W).unsqueeze(1) + h @ U) @ v, "W and U need to be transposed"),
    ("04.3", tanh_by_exp, "∞/∞ for large inputs"),
    ("04.3", lambda *args: additive_by_linear(*args).squeeze(), "removes every axis of size 1"),
    ("04.4", lambda a, s, p: 1 - len(a & s) + len(a & p) / (len(a) + len(s)) if a or s else 0, "nly |A ∩ P| is"),
    ("04.4", lambda a, s, p: 1 - (len(a & s) + len(a & p)) / max(len(a) + len(s), 1), "the rate is 0, not 1"),
    ("04.4", lambda a, s, p: 1 - len(a & p) / (len(a) + len(s)) if a or s else 0, " sure link counts once in the"),
    ("04.5", round_by_index, "n index that occurs twice is added"),
    ("04.5", round_row_by_row, "added only once by counts[f, source]"),
    ("04.5", sentence_by_sentence, "he table t is updated after each"),
    ("04.6", scheduled(shifted=lambda guesses: guesses), " position reads its own prediction, which"),
    ("04.6", scheduled(lambda draws, epsilon: draws < 1 - epsilon), "compared with 1 − ε"),
    ("04.6", scheduled_round_the_end, "wraps around to the first position"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


# Wrong in other words

def packed(tokens, pad):
    texts = pack_padded_sequence(tokens, (tokens != pad).sum(1), batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(texts, batch_first=True)


def one_more(number: str):
    """The solution, its numbers one too large."""
    return lambda *args: find(number).solution(*args) + 1


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("04.1", one_more("04.1"), "Padding is not at its original"),
    ("04.1", lambda tokens, pad: tokens.where(tokens == pad, 7), "A text does not have its original words"),
    ("04.1", packed, "expected a tensor [2, 3]"),
    ("04.2", one_more("04.2"), "below or above that of all words"),
    ("04.2", lambda *args: right.attention_context(*args) / args[1].shape[1],
     "is the expected output divided by 2, 5, 4"),
    ("04.3", lambda *args: 50 * right.additive_scores(*args), "above the sum of |v|"),
    ("04.3", lambda *args: right.additive_scores(*args).softmax(-1), "Yours is the softmax of the expected output"),
    ("04.4", one_more("04.4"), "Yours is 1.4, expected 0.4"),
    ("04.5", one_more("04.5"), "probability is outside 0 … 1"),
    ("04.5", lambda *args: ibm1_round(*args) / 2, "of a column do not sum to 1"),
    ("04.6", one_more("04.6"), "The first position is changed"),
    ("04.6", lambda *args: torch.cat([args[0][:, :1], one_more("04.6")(*args)[:, 1:].where(
        args[0][:, 1:] != args[4], args[4])], 1), "A position reads neither the correct"),
    ("04.6", lambda *args: right.scheduled_inputs(*args).where(args[0] != args[4], 99),
     "Padding is not at its original"),
])
def test_what_is_wrong_is_said(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and not feedback.mistake and words in repr(feedback), feedback
