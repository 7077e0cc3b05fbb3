"""The solutions of chapter 05 against independent ones; and other right ways are not refused."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
import torch
from sklearn.metrics.pairwise import cosine_similarity
from torch import nn
from torch.nn import functional as F

from plmlab.chapters.ch05 import exercises as right
from plmlab.exercises import check
from plmlab.interpret import watch
from plmlab.layers.charcnn import CharCNN
from plmlab.layers.scalar_mix import ScalarMix
from plmlab.objectives.bidirectional_lm import bidirectional_lm
from plmlab.text.characters import word_codes
from plmlab.text.vocabulary import Vocabulary


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=generator(sum(shape)), dtype=torch.float64)


# The solutions

@pytest.mark.parametrize("word", ["", "a", "Haus", "Gänse", "北京大学", "\U0001f600s", "internationalisation"])
@pytest.mark.parametrize("longest", [3, 4, 8, 50])
def test_a_spelling_is_that_of_the_released_elmo(word: str, longest: int) -> None:
    assert right.character_ids(word, longest).tolist() == word_codes(word, longest)


def test_spellings_worked_by_hand() -> None:
    """ä is C3 A4 in UTF-8: 195 and 164."""
    assert right.character_ids("no", 6).tolist() == [259, 111, 112, 260, 261, 261]
    assert right.character_ids("ä", 5).tolist() == [259, 196, 165, 260, 261]
    assert right.character_ids("aä", 4).tolist() == [259, 98, 196, 260]


def found_in_numpy(letters, filters, bias):
    """One number at a time."""
    x, f, b = letters.numpy(), filters.numpy(), bias.numpy()
    out = np.zeros((len(x), len(f)), x.dtype)
    for i, k in product(range(len(x)), range(len(f))):
        places = range(x.shape[1] - f.shape[1] + 1)
        out[i, k] = max(0, *(b[k] + (x[i, p:p + f.shape[1]] * f[k]).sum() for p in places), -1)
    return torch.from_numpy(out)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_what_filters_find_number_by_number(size: int) -> None:
    letters, filters, bias = draw(4, 5, 3), draw(6, size, 3), draw(6)
    told = right.convolve_and_pool(letters, filters, bias)
    torch.testing.assert_close(told, found_in_numpy(letters, filters, bias))
    assert 0 < (told == 0).sum() < told.numel()


def test_the_character_cnn_finds_the_same() -> None:
    cnn = CharCNN(20, 4, ((2, 5), (3, 7)), 1, 6).double()
    codes = torch.randint(1, 20, (2, 3, 8), generator=generator())
    with watch(cnn) as seen:
        cnn(codes)
    letters = cnn.characters(codes.flatten(0, 1))
    told = [right.convolve_and_pool(letters, layer.weight.mT, layer.bias) for layer in cnn.convolutions]
    torch.testing.assert_close(torch.cat(told, 1), seen["found"])


def test_two_ways_are_those_of_the_objective() -> None:
    vocab = Vocabulary(20)
    start, end = vocab.need("start"), vocab.need("end")
    for tokens in ([9], [8, 9, 7, 9]):
        example = bidirectional_lm(tokens, vocab=vocab, rng=Random(0))
        wanted = [row.tolist() for side in (example.forwards, example.backwards) for row in (side.tokens, side.targets)]
        assert [row.tolist() for row in right.bilm_inputs_and_targets(torch.tensor(tokens), start, end)] == wanted


@pytest.mark.parametrize("scale", [1, 400])
def test_a_mix_is_that_of_numpy_and_of_the_layer(scale: int) -> None:
    layers, w, gamma = draw(3, 2, 5, 4), scale * draw(3), 0.7
    powers = np.exp(w.numpy() - w.numpy().max())
    told = right.scalar_mix(layers, w, gamma)
    torch.testing.assert_close(told, torch.from_numpy(0.7 * np.average(layers.numpy(), 0, powers)))
    layer = ScalarMix(3).double()
    layer.load_state_dict({"weights": w, "gamma": torch.tensor(gamma, dtype=torch.float64)})
    torch.testing.assert_close(told, layer(list(layers)))


@pytest.mark.parametrize("seed", range(5))
def test_senses_are_those_of_scikit_learns_cosines(seed: int) -> None:
    drawn = torch.randn(60, 5, generator=generator(seed))
    vectors, known = drawn[:20], drawn[20:]
    senses = torch.cat([torch.tensor([3, 9, 12]), torch.randint(0, 6, (37,), generator=generator(seed)) * 3])
    names = sorted(set(senses.tolist()))
    averages = [np.mean([k for k, s in zip(known.tolist(), senses.tolist(), strict=True) if s == n], 0) for n in names]
    table = cosine_similarity(vectors.numpy(), np.array(averages))
    assert right.nearest_sense(vectors, known, senses).tolist() == [names[i] for i in table.argmax(1)]


def test_no_two_senses_of_the_inputs_are_nearly_as_good() -> None:
    """Another order of adding up must not change an answer."""
    for vectors, known, senses in right.draw_senses(generator()).values():
        averages = torch.stack([known[senses == n].mean(0) for n in senses.unique()])
        best = F.cosine_similarity(vectors[:, None], averages, dim=-1).sort(1, descending=True).values
        assert len(averages) == 1 or (best[:, 0] - best[:, 1]).min() > 1e-3


SENTENCES = [[1], [2, 1], [1, 2, 1], [3, 2, 1], [2, 1, 3], [3, 3], [2, 1]]
CHANCES = [Fraction(n, 20) for n in (4, 3, 2, 1, 5, 3, 2)]


def test_the_chances_of_a_sentences_words_from_the_right_multiply_to_its_own() -> None:
    for sentence in SENTENCES:
        read = [0, *sentence]
        chances = [right.previous_word_probs(SENTENCES, [*map(float, CHANCES)], read[place + 1:], 4)[read[place]].item()
                   for place in range(len(read))]
        whole = sum(chance for other, chance in zip(SENTENCES, CHANCES, strict=True) if other == sentence)
        assert sum(map(math.log, chances)) == pytest.approx(math.log(whole))


def test_words_before_are_those_of_exact_fractions() -> None:
    for length in range(4):
        for suffix in product(range(1, 4), repeat=length):
            sums: dict[int, Fraction] = defaultdict(Fraction)
            for sentence, chance in zip(SENTENCES, CHANCES, strict=True):
                turned = [*reversed(sentence), 0]
                if tuple(turned[:length]) == suffix[::-1]:
                    sums[turned[length]] += chance
            if sums:
                told = right.previous_word_probs(SENTENCES, [*map(float, CHANCES)], [*suffix], 4)
                total = sum(sums.values())
                assert told.tolist() == pytest.approx([float(sums[word] / total) for word in range(4)])


def test_the_toys_of_the_docstrings_come_out() -> None:
    assert right.convolve_and_pool(*right.draw_filters(generator())["one word, one filter"]).tolist() == [[6]]
    rows = right.bilm_inputs_and_targets(*right.draw_texts(generator())["three words"])
    assert [row.tolist() for row in rows] == [[5, 7, 8, 9], [7, 8, 9, 6], [6, 9, 8, 7], [9, 8, 7, 5]]
    layers = torch.tensor([4.0, 8.0]).view(2, 1, 1, 1)
    assert right.scalar_mix(layers, torch.tensor([0, 1.1]), 2.0).item() == pytest.approx(14, abs=0.01)
    vectors, known, senses = right.draw_senses(generator())["one vector"]
    assert right.nearest_sense(vectors, known, senses).tolist() == [7]
    cosines = F.cosine_similarity(vectors, torch.tensor([[3.0, 1.0], [0.0, 1.0]]), dim=1)
    assert cosines.tolist() == pytest.approx([0.89, 0.71], abs=0.005)
    sentences, chances, *_ = right.draw_languages(generator())["three sentences, one word is known"]
    assert right.previous_word_probs(sentences, chances, [2], 4).tolist() == pytest.approx([0.2, 0.5, 0, 0.3])
    assert right.previous_word_probs(sentences, chances, [], 4).tolist() == [0, 0, 1, 0]


# Other right ways

def spelt_in_a_loop(word, longest):
    codes = [259]
    for byte in bytes(word, "utf-8"):
        if len(codes) < longest - 1:
            codes.append(byte + 1)
    codes.append(260)
    while len(codes) < longest:
        codes.append(261)
    return torch.LongTensor(codes)


def spelt_by_full(word, longest):
    out = torch.full((longest,), 261)
    read = torch.tensor([*word.encode()])[:longest - 2] + 1
    out[0], out[1:len(read) + 1], out[len(read) + 1] = 259, read, 260
    return out


def spelt_by_pad(word, longest):
    codes = torch.tensor([258, *list(word.encode("utf8"))[:longest - 2], 259]) + 1
    return F.pad(codes, (0, longest - len(codes)), value=261)


def found_place_by_place(letters, filters, bias):
    size = filters.shape[1]
    best = torch.zeros(len(letters), len(filters))
    for place in range(letters.shape[1] - size + 1):
        window = letters[:, place:place + size].flatten(1)
        best = torch.maximum(best, window @ filters.flatten(1).T + bias)
    return best


def found_by_unfold(letters, filters, bias):
    windows = letters.unfold(1, filters.shape[1], 1)
    return (torch.einsum("npws,ksw->npk", windows, filters) + bias).relu().max(dim=1).values


def found_by_a_module(letters, filters, bias):
    layer = nn.Conv1d(filters.shape[2], filters.shape[0], filters.shape[1])
    layer.weight.data, layer.bias.data = filters.permute(0, 2, 1), bias
    with torch.no_grad():
        sums = layer(letters.permute(0, 2, 1))
        return F.max_pool1d(F.relu(sums), sums.shape[2]).squeeze(2)


def from_lists(tokens, start, end):
    words = tokens.tolist()
    turned = words[::-1]
    return [torch.tensor(row) for row in ([start, *words], [*words, end], [end, *turned], [*turned, start])]


def by_cat(tokens, start, end):
    first, last = torch.tensor([start]), torch.tensor([end])
    left = torch.cat([first, tokens]), torch.cat([tokens, last])
    return *left, left[1].flip(0), left[0].flip(0)


def by_roll(tokens, start, end):
    left, right = F.pad(tokens, (1, 0), value=start), F.pad(tokens.flip(0), (1, 0), value=end)
    says_left, says_right = left.roll(-1), right.roll(-1)
    says_left[-1], says_right[-1] = end, start
    return left, says_left, right, says_right


def mixed_in_a_loop(layers, w, gamma):
    total = torch.zeros_like(layers[0])
    for share, layer in zip(F.softmax(w, dim=0), layers, strict=True):
        total += share * layer
    return gamma * total


def mixed_by_tensordot(layers, w, gamma):
    return torch.tensordot(gamma * w.softmax(-1), layers, 1)


def mixed_by_hand(layers, w, gamma):
    powers = (w - w.max()).exp()
    return gamma * (powers.view(-1, 1, 1, 1) * layers).sum(0) / powers.sum()


def sense_in_loops(vectors, known, senses):
    found = []
    for vector in vectors:
        best, name = -math.inf, None
        for sense in set(senses.tolist()):
            rows = [row for row, number in zip(known, senses, strict=True) if number == sense]
            average = sum(rows) / len(rows)
            cosine = vector @ average / (vector.norm() * average.norm())
            if cosine > best:
                best, name = cosine, sense
        found.append(name)
    return torch.tensor(found)


def sense_by_sums(vectors, known, senses):
    """A cosine does not see whether rows are added up or averaged."""
    names, places = senses.unique(return_inverse=True)
    sums = torch.zeros(len(names), known.shape[1]).index_add(0, places, known)
    return names[(vectors @ F.normalize(sums, dim=1).T).argmax(1)]


def sense_by_distance_of_normalised(vectors, known, senses):
    names = senses.unique()
    one_hot = (senses == names[:, None]).float()
    averages = one_hot @ known / one_hot.sum(1, keepdim=True)
    return names[torch.cdist(F.normalize(vectors, dim=1), F.normalize(averages, dim=1)).argmin(1)]


def before_in_dicts(sentences, chances, suffix, size):
    total, sums = 0.0, {}
    for sentence, chance in zip(sentences, chances, strict=True):
        n = len(sentence) - len(suffix)
        if n >= 0 and sentence[n:] == suffix:
            word = sentence[n - 1] if n > 0 else 0
            sums[word] = sums.get(word, 0.0) + chance
            total += chance
    return torch.tensor([sums.get(word, 0.0) / total for word in range(size)])


def before_from_the_right(sentences, chances, suffix, size):
    sums = torch.zeros(size)
    for sentence, chance in zip(sentences, chances, strict=True):
        turned = [*reversed(sentence), 0]
        if turned[:len(suffix)] == suffix[::-1]:
            sums += chance * F.one_hot(torch.tensor(turned[len(suffix)]), size)
    return F.normalize(sums, p=1, dim=0)


def before_by_two_sums(sentences, chances, suffix, size):
    def chance_of(end):
        return sum(p for s, p in zip(sentences, chances, strict=True) if [0, *s][1 + len(s) - len(end):] == end)
    return torch.tensor([chance_of([word, *suffix]) for word in range(size)]) / chance_of(suffix)


@pytest.mark.parametrize(("number", "answer"), [
    ("05.1", spelt_in_a_loop), ("05.1", spelt_by_full), ("05.1", spelt_by_pad),
    ("05.2", found_place_by_place), ("05.2", found_by_unfold), ("05.2", found_by_a_module),
    ("05.3", from_lists), ("05.3", by_cat), ("05.3", by_roll),
    ("05.4", mixed_in_a_loop), ("05.4", mixed_by_tensordot), ("05.4", mixed_by_hand),
    ("05.5", sense_in_loops), ("05.5", sense_by_sums), ("05.5", sense_by_distance_of_normalised),
    ("05.6", before_in_dicts), ("05.6", before_from_the_right), ("05.6", before_by_two_sums),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Slips, as people write them

def spelt_as(codes, cut=lambda codes, longest: codes[:longest - 2], filler=261):
    def answer(word, longest):
        framed = [259, *cut(codes(word), longest), 260]
        return torch.tensor(framed + [filler] * (longest - len(framed)))
    return answer


def codes_of(word):
    return [byte + 1 for byte in word.encode("utf-8")]


def end_cut_off(word, longest):
    codes = [259, *codes_of(word), 260]
    while len(codes) < longest:
        codes.append(261)
    return torch.tensor(codes[:longest])


def largest_so_far(letters, filters, bias):
    best = torch.zeros(len(letters), len(filters))
    for place in range(letters.shape[1] - filters.shape[1] + 1):
        sums = torch.einsum("nsw,ksw->nk", letters[:, place:place + filters.shape[1]], filters)
        best = torch.maximum(best, sums)
    return (best + bias).relu()


def by_a_view(letters, filters, bias):
    turned = letters.contiguous().view(len(letters), letters.shape[2], letters.shape[1])
    return F.conv1d(turned, filters.transpose(1, 2), bias).relu().max(-1).values


def without_the_last(letters, filters, bias):
    size = filters.shape[1]
    windows = [letters[:, p:p + size] for p in range(letters.shape[1] - size)]
    return torch.stack([(x[:, None] * filters).sum((-2, -1)) + bias for x in windows]).amax(0).relu()


def bias_in_place(letters, filters, bias):
    bias *= 1.5
    return right.convolve_and_pool(letters, filters, bias / 1.5)


def same_function_twice(tokens, start, end):
    def causal(row):
        return F.pad(row, (1, 0), value=start), F.pad(row, (0, 1), value=end)
    return *causal(tokens), *causal(tokens.flip(0))


def by_roll_alone(tokens, start, end):
    left, right, *_ = by_cat(tokens, start, end)
    back = right.flip(0)
    return left, left.roll(-1), back, back.roll(-1)


def not_turned(tokens, start, end):
    left, says, *_ = by_cat(tokens, start, end)
    return left, says, F.pad(tokens, (1, 0), value=end), F.pad(tokens, (0, 1), value=start)


def from_zero(layers, w, gamma):
    largest = 0.0
    for number in w.tolist():
        largest = max(largest, number)
    powers = (w - largest).exp()
    return gamma * ((powers / powers.sum())[:, None, None, None] * layers).sum(0)


def sense(scores, name):
    def answer(vectors, known, senses):
        names = torch.tensor(sorted(set(senses.tolist())))
        averages = torch.stack([known[senses == n].mean(0) for n in names])
        return name(names, scores(vectors, averages).argmax(1), senses)
    return answer


def senses_counted(vectors, known, senses):
    averages = torch.stack([known[senses == n].mean(0) for n in range(max(senses.tolist()) + 1)])
    return F.cosine_similarity(vectors.unsqueeze(1), averages.unsqueeze(0), dim=2).argmax(1)


def before(fits=lambda s, suffix: s[len(s) - len(suffix):] == suffix, read=lambda s: [0, *s], add=1.0):
    def answer(sentences, chances, suffix, size):
        sums = torch.zeros(size)
        for s, p in zip(sentences, chances, strict=True):
            if fits(s, suffix):
                sums[read(s)[len(read(s)) - len(suffix) - 1]] += p ** add
        return sums / sums.sum()
    return answer


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("05.1", spelt_as(lambda word: [ord(c) + 1 for c in word]), "by ord, not bytes"),
    ("05.1", end_cut_off, "60 is truncated in a long word"),
    ("05.1", spelt_as(codes_of, lambda codes, n: codes[:n]), "no space left for 259 and 260"),
    ("05.2", largest_so_far, "he maximum starts at 0 before the bias"),
    ("05.2", by_a_view, "iew or reshape to [words"),
    ("05.2", without_the_last, "he last position is left out"),
    ("05.2", bias_in_place, "The answer is correct, but `bias` is changed in place"),
    ("05.3", same_function_twice, "reads [START] first and predicts"),
    ("05.3", by_roll_alone, "he targets wrap around"),
    ("05.3", not_turned, "he text is not reversed"),
    ("05.4", from_zero, " maximum that starts at 0"),
    ("05.4", lambda h, w, g: g * (w.view(-1, 1, 1, 1).softmax(-1) * h).sum(0), "over an axis of size 1"),
    ("05.4", lambda h, w, g: g * sum(s * x for s, x in zip(w / w.sum(), h, strict=True)), "divided by its sum"),
    ("05.5", sense(lambda x, c: (x / x.norm()) @ (c / c.norm()).T, lambda names, at, _: names[at]),
     "he inner products are not divided"),
    ("05.5", sense(lambda x, c: F.normalize(x) @ F.normalize(c).T, lambda names, at, senses: senses[at]),
     "used to index `senses`"),
    ("05.5", senses_counted, "he senses are assumed to be 0"),
    ("05.6", before(lambda s, suffix: s[-len(suffix):] == suffix), "n empty suffix never matches"),
    ("05.6", before(read=lambda s: s), "words[-1] is the last word"),
    ("05.6", before(add=0), "entences are counted"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


# What no mistake names

def says_a_third(tokens, start, end):
    left, _, back, says = right.bilm_inputs_and_targets(tokens, start, end)
    return left, left + 50, back, says


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("05.1", word_codes, "expected a tensor [6]"),
    ("05.1", lambda word, longest: right.character_ids(word, longest).float(), "has dtype float32; expected int64"),
    ("05.1", lambda word, longest: right.character_ids(word, longest) + 1, "he first id is not 259"),
    ("05.1", spelt_as(codes_of, filler=260), "here is not exactly one 260, followed only by 261"),
    ("05.2", lambda *args: right.convolve_and_pool(*args) + 1, "At [0, 0]: yours is 7.0, expected 6.0"),
    ("05.2", lambda *args: right.convolve_and_pool(*args) - 50, "n entry is negative"),
    ("05.3", lambda *args: right.bilm_inputs_and_targets(*args)[:2], "has 2 parts; 4 were expected"),
    ("05.3", says_a_third, "A forward target is not the input of the next position"),
    ("05.3", lambda *args: tuple(row + 1 for row in right.bilm_inputs_and_targets(*args)), "does not start with its"),
    ("05.4", lambda layers, w, gamma: gamma * torch.tensordot(w.exp(), layers, 1), "below or above that of all layers"),
    ("05.5", lambda *args: right.nearest_sense(*args) + 1, "A result is not one of the senses"),
    ("05.6", lambda *args: right.previous_word_probs(*args) + 1, "A probability is outside 0 … 1"),
    ("05.6", lambda *args: right.previous_word_probs(*args).square(), "The probabilities do not sum to 1"),
])
def test_what_no_mistake_names_is_said(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and not feedback.mistake and words in repr(feedback), feedback
