"""The solutions of chapter 02 against independent ones; and other right ways are not refused."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors, Word2Vec
from sklearn.metrics import mutual_info_score
from torch.nn import functional as F

from plmlab.chapters.ch02 import exercises as right
from plmlab.exercises import check


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


# The solutions

def test_the_pairs_of_a_sentence_worked_by_hand() -> None:
    """the cat saw the dog, with a reach of 1, 2, 1, 1, 2."""
    the, cat, saw, dog = range(4)
    told = right.window_pairs([the, cat, saw, the, dog], [1, 2, 1, 1, 2])
    assert told.tolist() == [[the, cat], [cat, the], [cat, saw], [cat, the], [saw, cat], [saw, the], [the, saw],
                             [the, dog], [dog, saw], [dog, the]]


@pytest.mark.parametrize("length", [2, 3, 7, 20])
def test_the_pairs_are_those_of_a_band(length: int) -> None:
    rng = np.random.default_rng(length)
    words, reach = rng.integers(0, 6, length), rng.integers(1, 6, length)
    distance = np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
    word, context = np.nonzero((distance <= reach[:, None]) & (distance > 0))
    told = right.window_pairs(words.tolist(), reach.tolist())
    assert told.dtype == torch.long and told.tolist() == np.stack([words[word], words[context]], 1).tolist()


def test_with_one_reach_for_all_every_pair_comes_in_both_directions() -> None:
    """Of n words with a reach of r there are 2 (r n − (1 + … + r)) pairs."""
    told = right.window_pairs(list(range(12)), [4] * 12).tolist()
    assert len(told) == 2 * (4 * 12 - 10) and Counter(map(tuple, told)) == Counter((c, w) for w, c in told)


def test_the_mean_is_pytorchs_bag() -> None:
    vectors, contexts = draw(9, 5), torch.tensor([[3, 7, 7, 1], [7, 7, 7, 7], [0, 8, 2, 4], [7, 5, 7, 5]])
    told = F.embedding_bag(contexts, vectors, mode="mean", padding_idx=7)
    torch.testing.assert_close(right.cbow_hidden(contexts, vectors, 7), told)


def trained(**how) -> Word2Vec:
    texts = [f"the {a} saw the {b} and the {c}".split() for a, b, c in combinations(["cat", "dog", "mouse", "king"], 3)]
    return Word2Vec(texts, vector_size=6, min_count=1, workers=1, seed=1, epochs=3, **how)


def test_gensim_guesses_a_word_from_the_same_mean() -> None:
    gensim = trained(sg=0, cbow_mean=1)
    context, vectors = ["the", "cat", "the"], torch.from_numpy(np.vstack([gensim.wv.vectors, np.ones((1, 6), "f")]))
    pad = len(gensim.wv)
    ids = torch.tensor([[pad, *(gensim.wv.key_to_index[word] for word in context), pad]])
    chances = (right.cbow_hidden(ids, vectors, pad) @ torch.from_numpy(gensim.syn1neg).T).softmax(-1)[0]
    told = gensim.predict_output_word(context, topn=pad)
    assert len(told) == pad
    for word, chance in told:
        assert float(chances[gensim.wv.key_to_index[word]]) == pytest.approx(chance, rel=1e-4)


@pytest.mark.parametrize("power", [0.75, 0.5, 1.0, 0.1])
def test_the_noise_is_gensims(power: float) -> None:
    """gensim keeps it as a table of sums from 0 to 2³¹ − 1, of the words from the most frequent on."""
    gensim = trained(ns_exponent=power, negative=5)
    counts = torch.tensor([gensim.wv.get_vecattr(word, "count") for word in gensim.wv.index_to_key]).float()
    told = np.diff(gensim.cum_table.astype(float), prepend=0) / (2 ** 31 - 1)
    assert len(counts) == 7
    assert right.noise_distribution(counts, power).tolist() == pytest.approx(told.tolist(), rel=1e-5)


def test_the_noise_of_three_words_worked_by_hand() -> None:
    """0.9, 0.09 and 0.01, raised to 3/4, are 0.924, 0.164 and 0.032; together 1.12."""
    assert right.noise_distribution(torch.tensor([90.0, 9, 1, 0])).tolist() == pytest.approx(
        [0.9 ** 0.75 / 1.11997, 0.09 ** 0.75 / 1.11997, 0.01 ** 0.75 / 1.11997, 0], rel=1e-4)


@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
def test_the_loss_is_a_binary_cross_entropy(scale: float) -> None:
    word, context, negatives = scale * draw(4, 5), scale * draw(4, 5).flip(0), scale * draw(4, 3, 5)
    scores = torch.einsum("bm,bkm->bk", word, torch.cat([context[:, None], negatives], 1))
    told = F.binary_cross_entropy_with_logits(scores, torch.eye(4, dtype=torch.float64)[0].expand(4, 4),
                                              reduction="sum") / 4
    torch.testing.assert_close(right.negative_sampling_loss(word, context, negatives), told)


def test_a_loss_worked_by_hand() -> None:
    """Scores of 0 cost log 2 each; a score of −300 costs 300, and one of 300 nothing."""
    word, zeros = torch.tensor([[1.0]]), torch.zeros(1, 3, 1)
    loss = right.negative_sampling_loss
    assert float(loss(word, torch.zeros(1, 1), zeros)) == pytest.approx(4 * math.log(2))
    assert float(loss(word, torch.tensor([[-300.0]]), zeros - 300)) == 300
    assert float(loss(word, torch.tensor([[300.0]]), zeros - 300)) == 0


@pytest.mark.parametrize("seed", range(20))
def test_an_analogy_is_gensims(seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = (rng.normal(size=(30, 4)) * rng.lognormal(size=(30, 1))).astype("float32")
    known = KeyedVectors(4)
    known.add_vectors([f"w{i}" for i in range(30)], vectors)
    a, b, c = rng.permutation(30)[:3].tolist()
    told = known.most_similar(positive=[f"w{b}", f"w{c}"], negative=[f"w{a}"], topn=1)[0][0]
    assert f"w{right.analogy(torch.from_numpy(vectors), a, b, c)}" == told


def test_the_shifted_pmi_is_where_the_loss_is_lowest() -> None:
    """The expected loss over all pairs and their negatives, with a score of its own for each pair, by Newton's way."""
    counts, k, power = torch.tensor([[4.0, 1, 7], [2, 9, 3]], dtype=torch.float64), 5, 0.75
    noise = counts.sum(0) ** power / (counts.sum(0) ** power).sum()
    far = k * counts.sum(1, keepdim=True) * noise
    scores = torch.zeros_like(counts, requires_grad=True)
    for _ in range(50):
        loss = -(counts * F.logsigmoid(scores) + far * F.logsigmoid(-scores)).sum()
        (slope,) = torch.autograd.grad(loss, scores, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), scores)
        scores = (scores - slope / bend).detach().requires_grad_()
    assert float(slope.detach().abs().max()) < 1e-9
    torch.testing.assert_close(right.shifted_pmi(counts, k, power), scores.detach())


def test_its_mean_is_scikit_learns_mutual_information() -> None:
    counts = torch.tensor([[4.0, 0, 7], [2, 9, 3], [0, 0, 0]], dtype=torch.float64)
    pmi = right.shifted_pmi(counts, 1, 1.0)
    assert torch.equal(pmi == -math.inf, counts == 0)
    mean = (counts / counts.sum() * pmi)[counts > 0].sum()
    assert float(mean) == pytest.approx(mutual_info_score(None, None, contingency=counts.numpy()))


# Other right ways

def pairs_by_ranges(words, reach):
    pairs = []
    for i, word in enumerate(words):
        for j in range(max(0, i - reach[i]), min(len(words), i + reach[i] + 1)):
            if j != i:
                pairs.append([word, words[j]])
    return torch.tensor(pairs)


def pairs_by_slices(words, reach):
    pairs = []
    for i, (word, r) in enumerate(zip(words, reach, strict=True)):
        pairs += [(word, other) for other in words[max(i - r, 0):i] + words[i + 1:i + 1 + r]]
    return torch.tensor(pairs)


def pairs_by_a_band(words, reach):
    ids, place = torch.tensor(words), torch.arange(len(words))
    distance = (place[:, None] - place).abs()
    i, j = torch.where((distance > 0) & (distance <= torch.tensor(reach)[:, None]))
    return torch.stack([ids[i], ids[j]], dim=1)


def mean_by_a_bag(contexts, vectors, pad):
    return F.embedding_bag(contexts, vectors, mode="mean", padding_idx=pad)


def mean_in_a_loop(contexts, vectors, pad):
    rows = []
    for row in contexts:
        words = row[row != pad]
        rows.append(vectors[words].mean(0) if len(words) else torch.zeros(vectors.shape[1]))
    return torch.stack(rows)


def mean_without_nan(contexts, vectors, pad):
    kept = vectors[contexts].masked_fill((contexts == pad).unsqueeze(-1), float("nan"))
    return kept.nanmean(dim=1).nan_to_num()


def noise_by_softmax(counts, power):
    return (power * counts.log()).softmax(0)


def noise_of_frequencies(counts, power):
    frequencies = counts / counts.sum()
    return F.normalize(torch.pow(frequencies, power), p=1, dim=0)


def noise_in_a_loop(counts, power):
    powers = [count ** power for count in counts.tolist()]
    return torch.tensor([each / sum(powers) for each in powers])


def loss_by_softplus(word, context, negatives):
    near, far = torch.einsum("bm,bm->b", word, context), torch.einsum("bm,bkm->bk", word, negatives)
    return (F.softplus(-near) + F.softplus(far).sum(1)).mean()


def loss_by_bmm(word, context, negatives):
    near = torch.bmm(context.unsqueeze(1), word.unsqueeze(2)).view(-1)
    far = torch.bmm(negatives, word.unsqueeze(2)).view(len(word), -1)
    return -(F.logsigmoid(near).sum() + F.logsigmoid(-far).sum()) / len(word)


def loss_by_bce(word, context, negatives):
    scores = torch.cat([context[:, None], negatives], 1) @ word[:, :, None]
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1
    return F.binary_cross_entropy_with_logits(scores, labels, reduction="sum") / scores.shape[0]


def analogy_by_cosine(vectors, a, b, c):
    units = vectors / vectors.norm(dim=1, keepdim=True)
    cosines = F.cosine_similarity(units, (units[b] - units[a] + units[c]).unsqueeze(0))
    return max((i for i in range(len(vectors)) if i not in (a, b, c)), key=lambda i: cosines[i].item())


def analogy_by_rank(vectors, a, b, c):
    units = F.normalize(vectors, dim=-1)
    for row in (units @ (units[c] + units[b] - units[a])).argsort(descending=True).tolist():
        if row not in {a, b, c}:
            return row


def analogy_by_distance(vectors, a, b, c):
    """Of vectors of length 1 the nearest is that with the largest cosine."""
    units = F.normalize(vectors)
    distances = torch.cdist((units[b] - units[a] + units[c])[None], units)[0]
    distances[torch.tensor([a, b, c])] = float("inf")
    return distances.argmin()


def pmi_by_logarithms(counts, k, power):
    joint, context = counts / counts.sum(), counts.sum(0).pow(power)
    told = joint.log() - joint.sum(1, keepdim=True).log() - (context / context.sum()).log() - math.log(k)
    return torch.where(counts > 0, told, torch.full_like(told, -math.inf))


def pmi_without_nan(counts, k, power):
    given = counts / counts.sum(1, keepdim=True)
    noise = counts.sum(0) ** power / (counts.sum(0) ** power).sum()
    return torch.log((given / noise).nan_to_num(0)) - torch.log(torch.tensor(k))


def pmi_by_outer(counts, k, power):
    """With a little added where it divides, which does no harm to a logarithm of 0."""
    chance = torch.outer(counts.sum(1), right.noise_distribution(counts.sum(0), power))
    return (counts / (chance + 1e-9)).log() - math.log(k)


@pytest.mark.parametrize(("number", "answer"), [
    ("02.1", pairs_by_ranges), ("02.1", pairs_by_slices), ("02.1", pairs_by_a_band),
    ("02.2", mean_by_a_bag), ("02.2", mean_in_a_loop), ("02.2", mean_without_nan),
    ("02.3", noise_by_softmax), ("02.3", noise_of_frequencies), ("02.3", noise_in_a_loop),
    ("02.4", loss_by_softplus), ("02.4", loss_by_bmm), ("02.4", loss_by_bce),
    ("02.5", analogy_by_cosine), ("02.5", analogy_by_rank), ("02.5", analogy_by_distance),
    ("02.6", pmi_by_logarithms), ("02.6", pmi_without_nan), ("02.6", pmi_by_outer),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Slips, as people write them

def pairs_below_zero(words, reach):
    out = []
    for i in range(len(words)):
        for step in range(-reach[i], reach[i] + 1):
            if step == 0:
                continue
            try:
                out.append((words[i], words[i + step]))
            except IndexError:
                continue
    return torch.tensor(out)


def pairs_of_slices(words, reach):
    return torch.tensor([(word, near) for i, (word, r) in enumerate(zip(words, reach, strict=True))
                         for near in words[i - r:i] + words[i + 1:i + r + 1]])


def pairs_by_index(words, reach):
    out = []
    for word in words:
        i = words.index(word)
        for j in range(max(0, i - reach[i]), min(len(words), i + reach[i] + 1)):
            if i != j:
                out.append((word, words[j]))
    return torch.tensor(out)


def mean_row_by_row(contexts, vectors, pad):
    return torch.stack([vectors[row[row != pad]].mean(dim=0) for row in contexts])


def mean_of_first_positions(contexts, vectors, pad):
    counts = (contexts != pad).sum(1).tolist()
    return torch.stack([vectors[row[:n]].sum(0) / max(n, 1) for row, n in zip(contexts, counts, strict=True)])


def noise_in_place(counts, power):
    counts **= power
    return counts / counts.sum()


def training_rows(word, context, negatives):
    scores = torch.einsum("bd,bkd->bk", word, torch.cat([context.unsqueeze(1), negatives], dim=1))
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1
    return scores, labels


def loss_of_sigmoids(log):
    def answer(word, context, negatives):
        near, far = (word * context).sum(-1), torch.einsum("bd,bkd->bk", word, negatives)
        return -(log(1 / (1 + torch.exp(-near))) + log(1 / (1 + torch.exp(far))).sum(-1)).mean()
    return answer


def loss_of_two_sigmoids(word, context, negatives):
    near, far = (word * context).sum(-1).sigmoid(), (negatives @ word.unsqueeze(-1)).squeeze(-1).sigmoid()
    return -(F.logsigmoid(near) + F.logsigmoid(-far).sum(-1)).mean()


def analogy_from_zero(vectors, a, b, c):
    units = F.normalize(vectors)
    best, found = 0, None
    for i, score in enumerate(units @ (units[b] - units[a] + units[c])):
        if i not in (a, b, c) and score > best:
            best, found = score, i
    return found


def analogy_of_raw_vectors(vectors, a, b, c):
    cosines = F.cosine_similarity(vectors, (vectors[b] - vectors[a] + vectors[c]).unsqueeze(0), dim=1)
    cosines[torch.tensor([a, b, c])] = -math.inf
    return cosines.argmax()


def analogy_of_the_rest(vectors, a, b, c):
    units = F.normalize(vectors)
    rest = torch.stack([unit for i, unit in enumerate(units) if i not in (a, b, c)])
    return (rest @ (units[b] - units[a] + units[c])).argmax().item()


def pmi_of(words, end):
    def answer(counts, k, power):
        joint = counts / counts.sum()
        return end((joint / (words(joint) * right.noise_distribution(counts.sum(0), power))).log() - math.log(k))
    return answer


@pytest.mark.parametrize(("number", "answer", "words", "place"), [
    ("02.1", pairs_below_zero, " negative index counts from the end", 1),
    ("02.1", pairs_of_slices, "counts from the end and is empty", 1),
    ("02.1", pairs_by_index, ".index returns the first position", 3),
    ("02.2", lambda x, v, pad: (v[x] * (x != pad).unsqueeze(-1)).mean(1), "adding is included in the count", 1),
    ("02.2", mean_row_by_row, "0 divided by 0 is NaN", 4),
    ("02.2", mean_of_first_positions, "s assumed to follow the words", 2),
    ("02.3", lambda counts, power: counts * power / (counts * power).sum(), "counts * power is not a power", 1),
    ("02.3", lambda counts, power: (counts / counts.sum()) ** power, "aised after normalization", 1),
    ("02.3", noise_in_place, "The answer is correct, but `counts` is changed in place", 1),
    ("02.4", lambda *args: F.binary_cross_entropy_with_logits(*training_rows(*args)), "ean over all pairs",
     1),
    ("02.4", loss_of_sigmoids(torch.log), "log 0 is −∞", 6),
    ("02.4", loss_of_two_sigmoids, "he sigmoid is applied twice", 1),
    ("02.5", analogy_from_zero, " maximum that starts at 0", 3),
    ("02.5", analogy_of_raw_vectors, "computed from the raw vectors", 2),
    ("02.5", analogy_of_the_rest, "without the three words", 1),
    ("02.6", pmi_of(lambda p: p.sum(1, keepdim=True), lambda told: told), "0 divided by 0 is NaN", 6),
    ("02.6", pmi_of(lambda p: p.sum(1, keepdim=True), torch.nan_to_num), "unless neginf is given", 5),
    ("02.6", pmi_of(lambda p: p.sum(1), lambda told: told.nan_to_num(-math.inf, neginf=-math.inf)),
     "needs keepdim=True", 2),
])
def test_a_slip_is_named_where_it_shows_first(number: str, answer, words: str, place: int) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback
    assert f'case("{number}", {place})' in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("02.1", lambda words, reach: right.window_pairs(words, reach) + 1, "word that is not in the sentence"),
    ("02.2", lambda contexts, vectors, pad: vectors[contexts].amax(1), "which is impossible for a mean"),
    ("02.3", lambda counts, power: counts ** power / (counts ** power).max(), "do not sum to 1"),
    ("02.4", loss_of_sigmoids(lambda chance: (chance + 1e-8).log()), "a sigmoid clamped?"),
    ("02.6", lambda counts, k, power: pmi_by_logarithms(counts, k, power) + 5, "more often than its word"),
])
def test_what_no_mistake_names_is_told_by_what_must_hold(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert not feedback.mistake and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "error", "words"), [
    ("02.1", lambda words, reach: torch.tensor([[words[j] for j in range(len(words)) if abs(i - j) <= reach[i]]
                                                for i in range(len(words))] + [[0]]), "ValueError", "Print the inputs"),
    ("02.3", lambda counts, power: counts ** power / power.sum(), "AttributeError: 'float'", "Print the type(…)"),
    ("02.6", lambda counts, k, power: counts.log() - torch.log(k), "TypeError: log()", "Print the arguments"),
])
def test_what_cannot_run_is_shown_with_a_way_to_go_on(number: str, answer, error: str, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "error" and error in repr(feedback) and words in repr(feedback), feedback
