"""The exercises of chapter 13: solutions against plmlab's objectives and independent implementations, other correct
answers, and mistakes as people write them."""

from functools import partial
from itertools import groupby, product
from math import log
from random import Random

import numpy as np
import pytest
import torch
from scipy.special import softmax
from torch.nn import functional as F

from plmlab.chapters.ch13 import exercises as right
from plmlab.chapters.ch13.presets import SENTENCE
from plmlab.draws import randint
from plmlab.exercises import check
from plmlab.interpret import watch
from plmlab.layers.pointer import PointerGenerator
from plmlab.layers.relative import CausalRelativePositionBias, RelativePositionBias
from plmlab.objectives import span_corruption
from plmlab.objectives.gap_sentences import SELECTIONS
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)


def test_the_papers_example_has_a_closing_sentinel() -> None:
    tokens, sentinels = SENTENCE.split(), ["<X>", "<Y>", "<Z>"]
    source, target = right.span_corruption(tokens, [[2, 4], [8, 9]], sentinels)
    assert " ".join(source) == "Thank you <X> me to your party <Y> week ."
    assert " ".join(target) == "<X> for inviting <Y> last <Z>"


@pytest.mark.parametrize("count", range(1, 9))
def test_sentinels_are_those_of_the_objective(count: int) -> None:
    """Every set of dropped tokens in texts of one to eight tokens."""
    tokens = list(range(50, 50 + count))
    for dropped in product((False, True), repeat=count):
        runs = (list(run) for drop, run in groupby(range(count), dropped.__getitem__) if drop)
        spans = [[run[0], run[-1] + 1] for run in runs]
        example = span_corruption(tokens, vocab=VOCAB, rng=Random(0), spans=[(begin, end) for begin, end in spans])
        source, target = right.span_corruption(tokens, spans, list(VOCAB.sentinels))
        assert [*source, VOCAB.end] == example.source.tokens.tolist()
        assert [*target, VOCAB.end] == example.target.targets.tolist()


@pytest.mark.parametrize("buckets", [8, 32, 64])
def test_buckets_are_those_of_the_layers(buckets: int) -> None:
    back = torch.arange(-300, 301)
    for bidirectional, layer in ((True, RelativePositionBias), (False, CausalRelativePositionBias)):
        assert torch.equal(right.relative_bucket(back, buckets, 128, bidirectional), layer(buckets, 1).bucket_of(back))


@pytest.mark.parametrize("buckets, most", [(32, 128), (16, 128), (8, 20)])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_are_those_of_transformers(buckets: int, most: int, bidirectional: bool) -> None:
    from transformers.models.t5.modeling_t5 import T5Attention
    back = torch.arange(-700, 701)
    assert torch.equal(right.relative_bucket(back, buckets, most, bidirectional),
                       T5Attention._relative_position_bucket(-back, bidirectional, buckets, most))


def selected(name, sentences, count):
    return sorted(SELECTIONS[name](sentences, count, Random(0)))


def test_gap_sentences_are_those_of_the_objective_and_of_crossing_out() -> None:
    """Random texts of one to six sentences. The objective has its scores from rouge-score."""
    rng, different = Random(1), 0
    for _ in range(60):
        text = [[f"w{randint(rng, 5)}" for _ in range(1 + randint(rng, 6))] for _ in range(1 + randint(rng, 6))]
        for count in range(1, len(text) + 1):
            found = right.select_gap_sentences(text, count)
            assert found == selected("Seq-Orig", text, count) == by_crossing_out(text, count), text
            different += found != selected("Ind-Orig", text, count)
    assert different > 10


def test_the_copy_mixture_is_that_of_the_layer() -> None:
    torch.manual_seed(0)
    layer, (hidden, memory) = PointerGenerator(8).double(), torch.randn(2, 3, 5, 8).double().unbind()
    logits, source = torch.randn(3, 5, 12).double(), torch.randint(0, 12, (3, 5))
    real = torch.arange(5) < torch.tensor([[5], [2], [3]])
    keys = layer.prepared(memory)
    with torch.no_grad(), watch(layer) as seen:
        expected = layer(logits, hidden, keys, memory, source, real).exp()
        scores = layer.alignment.scores(layer.alignment.score(hidden, keys)[:, None])[:, 0]
    gate = seen["mixed"].sigmoid()
    for t in range(5):
        mixture = right.copy_mixture(logits[:, t], scores[:, t], source, real, gate[:, t, 0])
        assert torch.allclose(mixture, expected[:, t])


def test_the_copy_mixture_is_that_of_a_sum_over_positions() -> None:
    rng = np.random.default_rng(0)
    for vocab, lengths in ((9, [4, 2, 3]), (2, [6]), (5, [1, 5])):
        logits, scores = (4 * rng.standard_normal((len(lengths), size)) for size in (vocab, max(lengths)))
        source, gate = rng.integers(0, vocab, scores.shape), rng.random(len(lengths))
        expected = gate[:, None] * softmax(logits, 1)
        for row, length in enumerate(lengths):
            np.add.at(expected[row], source[row, :length], (1 - gate[row]) * softmax(scores[row, :length]))
        real = np.arange(max(lengths)) < np.array(lengths)[:, None]
        assert np.allclose(right.copy_mixture(*map(torch.tensor, (logits, scores, source, real, gate))), expected)
        assert np.allclose(expected.sum(1), 1)


# Other correct answers

def marked_token_by_token(tokens, spans, sentinels):
    source, target, marks = [], [], iter(sentinels)
    begins, dropped = {begin for begin, _ in spans}, {i for span in spans for i in range(*span)}
    for i, token in enumerate(tokens):
        if i in begins:
            source.append(mark := next(marks))
            target.append(mark)
        (target if i in dropped else source).append(token)
    return source, target + ([] if len(tokens) - 1 in dropped else [next(marks)])


def bucket_in_float32(back, buckets, max_distance, bidirectional):
    """As in transformers, whose argument is the position of the key minus that of the query."""
    position, offset = -back, 0
    if bidirectional:
        buckets //= 2
        offset, position = (position > 0).long() * buckets, position.abs()
    else:
        position = -torch.min(position, torch.zeros_like(position))
    exact = buckets // 2
    large = exact + (torch.log(position.float() / exact) / log(max_distance / exact) * (buckets - exact)).long()
    return offset + torch.where(position < exact, position, large.clamp(max=buckets - 1))


def by_crossing_out(sentences, count, first=max, score=lambda hits, inside: hits, gone=lambda part: part):
    """Each token of one part crosses out an equal one of the other."""
    chosen = []
    for _ in range(count):
        hits = {}
        for part in ([*chosen, i] for i in range(len(sentences)) if i not in chosen):
            inside = [token for i in part for token in sentences[i]]
            left = [token for i, sentence in enumerate(sentences) if i not in gone(part) for token in sentence]
            crossed = [left.remove(token) for token in inside if token in left]
            hits[part[-1]] = score(len(crossed), inside)
        chosen.append(first(i for i in hits if hits[i] == max(hits.values())))
    return sorted(chosen)


def by_one_hot(logits, scores, source, real, gate, summed=torch.sum):
    powers = scores.exp() * real
    weights = F.one_hot(source, logits.shape[1]) * (powers / powers.sum(1, keepdim=True))[..., None]
    return torch.lerp(summed(weights, 1), logits.softmax(1), gate[:, None])


def by_position(logits, scores, source, real, gate, hidden=-1e9):
    result = logits.softmax(1) * gate[:, None]
    for row, weights in enumerate(scores.where(real, hidden).softmax(1)):
        for token, weight in zip(source[row], weights, strict=True):
            result[row, token] += (1 - gate[row]) * weight
    return result


@pytest.mark.parametrize(("number", "answer"), [
    ("13.1", marked_token_by_token), ("13.2", bucket_in_float32), ("13.3", by_crossing_out),
    ("13.3", partial(selected, "Seq-Orig")), ("13.4", by_one_hot), ("13.4", by_position),
])
def test_another_correct_answer_is_accepted(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Mistakes, as people write them

def by_numpy(logits, scores, source, real, gate):
    """Of several values that numpy assigns to one place, the last one remains."""
    copied = np.zeros(logits.shape, np.float32)
    copied[np.arange(len(source))[:, None], source] = scores.where(real, -1e9).softmax(1)
    return torch.lerp(torch.tensor(copied), logits.softmax(1), gate[:, None])


@pytest.mark.parametrize(("number", "answer", "named"), [
    ("13.1", lambda tokens, spans, marks: marked_token_by_token(tokens, spans, ["[X0]"] * 9), "have the same sentinel"),
    ("13.1", lambda tokens, spans, marks: marked_token_by_token(tokens, spans, [*marks[:len(spans)][::-1],
                                                                                *marks[len(spans):]]), "from the last"),
    ("13.2", lambda back, *rest: bucket_in_float32(-back, *rest), "has the wrong sign"),
    ("13.2", lambda back, b, most, both: bucket_in_float32(back.abs() if both else back, b, most, both),
     "ame buckets as earlier ones"),
    ("13.3", partial(selected, "Seq-Uniq"), "distinct tokens"), ("13.3", partial(selected, "Ind-Orig"), "Ind-Orig"),
    ("13.3", lambda text, count: SELECTIONS["Seq-Orig"](text, count, Random(0)), "in the order of selection"),
    ("13.3", partial(by_crossing_out, first=min), "take the later"),
    ("13.3", partial(by_crossing_out, score=lambda hits, inside: hits / len(inside)), "precision"),
    ("13.3", partial(by_crossing_out, gone=lambda part: part[-1:]), "in both parts"),
    ("13.3", partial(by_crossing_out, gone=lambda part: []), "with the whole text"),
    ("13.4", lambda *given: by_one_hot(*given[:4], 1 - given[4]), "the wrong way round"),
    ("13.4", lambda logits, scores, source, real, gate: by_one_hot(logits, scores, source, real | True, gate),
     "takes part"),
    ("13.4", lambda *given: by_position(*given, hidden=0.0), "set to 0, and e⁰ is 1"),
    ("13.4", by_numpy, "the last position"),
])
def test_a_mistake_is_named(number: str, answer, named: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and named in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("13.1", lambda tokens, spans, marks: right.span_corruption(tokens, spans, marks) if spans else (tokens, [])),
    ("13.2", lambda back, b, most, both: right.relative_bucket(back, b, 128, both)),
    ("13.3", lambda sentences, count: [*range(count)]),
    ("13.3", lambda sentences, count: by_crossing_out(sentences, count, score=lambda hits, inside: hits / (
        1 + sum(map(len, sentences)) - len(inside)))),
    ("13.4", partial(by_one_hot, summed=torch.amax)),
    ("13.4", lambda *given: by_one_hot(*given[:4], given[4].mean().expand(len(given[4])))),
    ("13.4", lambda *given: given[0].softmax(1)),
])
def test_no_wrong_answer_passes(number: str, answer) -> None:
    """No closing sentinel without spans, fixed constants, the first sentences, recall, the largest of several weights,
    one gate for all texts, no copying."""
    assert not check(number, answer).ok
