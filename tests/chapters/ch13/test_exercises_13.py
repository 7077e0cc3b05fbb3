"""The exercises of chapter 13: solutions against plmlab's objectives and independent implementations, other correct
answers, and mistakes as people write them."""

from bisect import bisect_right
from itertools import accumulate, combinations_with_replacement, groupby, pairwise, product
from math import exp, factorial, log
from random import Random

import numpy as np
import pytest
import torch
from scipy.stats import poisson
from torch.nn import functional as F

from plmlab.chapters.ch13 import exercises as right
from plmlab.chapters.ch13.presets import PRESETS, SENTENCE
from plmlab.draws import shuffled
from plmlab.example import IGNORE, PairBatch
from plmlab.exercises import check
from plmlab.labs import MaskLab
from plmlab.layers.relative import CausalRelativePositionBias, RelativePositionBias
from plmlab.objectives import masked_span, sequence_to_sequence, span_corruption
from plmlab.objectives.denoising import LIMITS, _drawn_spans, sentence_permutation
from plmlab.text import Text, Tokenizer
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


@pytest.mark.parametrize("count", range(1, 8))
def test_the_decoders_input_is_that_of_the_objective(count: int) -> None:
    """Every span of texts of one to seven tokens."""
    tokens = list(range(50, 50 + count))
    for u, v in combinations_with_replacement(range(1, count + 1), 2):
        decoder = masked_span(tokens, vocab=VOCAB, rng=Random(0), span=(u, v + 1)).target
        expected = decoder.tokens, decoder.targets, decoder.position_ids[0]
        assert right.mass_decoder_input(tokens, u, v, VOCAB.need("start")) == tuple(row.tolist() for row in expected)


@pytest.mark.parametrize("buckets, most", [(32, 128), (16, 128), (8, 20)])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_are_those_of_transformers(buckets: int, most: int, bidirectional: bool) -> None:
    from transformers.models.t5.modeling_t5 import T5Attention
    back = torch.arange(-700, 701)
    assert torch.equal(right.relative_bucket(back, buckets, most, bidirectional),
                       T5Attention._relative_position_bucket(-back, bidirectional, buckets, most))


@pytest.mark.parametrize("mean", [0.5, 1.0, 3.0])
def test_lengths_are_the_quantiles_of_scipys_poisson_distribution(mean: float) -> None:
    for draw in (0.001, 0.02, 0.1, 0.3, 0.55, 0.7, 0.9, 0.97, 0.999):
        assert right.infilled_lengths([draw], mean, 1000) == [poisson.ppf(draw, mean)]


@pytest.mark.parametrize("count", [1, 4, 13, 40])
def test_lengths_are_those_of_text_infilling(count: int) -> None:
    """The same random numbers give the same lengths, up to the order of the spans."""
    assert all(right.infilled_lengths([i / 97], 3.0, 100) == [bisect_right(LIMITS, i / 97)] for i in range(97))
    for seed in range(50):
        rng = Random(seed)
        draws, budget = [rng.random() for _ in range(100)], -(-3 * count // 10)
        lengths = right.infilled_lengths(draws, 3.0, budget)
        spans = _drawn_spans(count, 0.3, Random(seed))
        assert sum(lengths) == budget and sorted(lengths) == sorted(end - begin for begin, end in spans)


def test_a_permutation_of_the_objective_is_undone() -> None:
    for seed in range(100):
        rng = Random(seed)
        lengths = [1 + int(5 * rng.random()) for _ in range(1 + int(6 * rng.random()))]
        tokens = [40 + int(50 * rng.random()) for _ in range(sum(lengths))]
        text = Text(tokens, sentences=[*pairwise(accumulate(lengths, initial=0))])
        order = shuffled(rng, range(len(lengths)))
        permuted = sentence_permutation(text, VOCAB, rng, order=order)
        assert right.unpermuted(list(permuted), lengths, list(order)) == tokens


def test_the_decoders_batch_is_that_of_sequence_to_sequence() -> None:
    """A causal batch of the course has no padding mask: real queries never attend to padding on the right."""
    targets = [[40, 41, 42], [50], [60, 61]]
    batch = PairBatch.of([sequence_to_sequence([70, 71], row, vocab=VOCAB) for row in targets], pad=VOCAB.need("pad"))
    inputs, labels, real = right.teacher_forcing(targets, VOCAB.need("start"), VOCAB.need("end"), VOCAB.need("pad"))
    assert torch.equal(inputs, batch.target.tokens) and torch.equal(labels, batch.targets)
    assert torch.equal(real, batch.targets != IGNORE)
    assert (torch.ones(4, 4).bool().tril() & real[:, None]).any(2).all(), "a query has no key"
    logits = torch.randn(3, 4, 90, generator=torch.Generator().manual_seed(0))
    by_row = sum(F.cross_entropy(logits[i, :len(row) + 1], torch.tensor([*row, VOCAB.need("end")]), reduction="sum")
                 for i, row in enumerate(targets))
    assert torch.isclose(F.cross_entropy(logits.flatten(0, 1), labels.flatten()), by_row / 9)


def test_the_inputs_are_those_of_transformers_where_a_token_is_predicted() -> None:
    """At the step after the end token, whose label is ignored, transformers has the end token instead of padding."""
    from transformers.models.bart.modeling_bart import shift_tokens_right
    inputs, labels, real = right.teacher_forcing([[40, 41, 42], [50], [], [60, 61]], 2, 2, 1)
    theirs = shift_tokens_right(labels, 1, 2)
    assert torch.equal(inputs[real], theirs[real]) and set(theirs[~real].tolist()) == {1, 2}


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


def slots_by_step(tokens, u, v, start):
    before = [start if t == 1 else tokens[t - 2] for t in range(u, v + 1)]
    return before, tokens[u - 1:v], [t - 1 for t in range(u, v + 1)]


def lengths_by_search(draws, mean, budget, least=0):
    table = torch.tensor([*accumulate(exp(-mean) * mean ** i / factorial(i) for i in range(60))])
    lengths, left = [], budget
    for length in torch.searchsorted(table, torch.tensor(draws), right=True).tolist():
        if left:
            lengths.append(min(max(length, least), left))
            left -= lengths[-1]
    return lengths


def by_inverse(tokens, lengths, order, arrange=np.argsort):
    parts = torch.tensor(tokens).split([lengths[i] for i in order])
    return torch.cat([parts[i] for i in arrange(order)]).tolist()


def padded_by_torch(targets, start, end, pad):
    rows = [torch.tensor(row, dtype=torch.long) for row in targets]
    inputs, labels = ([torch.cat([torch.tensor([start])[:1 - i], row, torch.tensor([end])[:i]]) for row in rows]
                      for i in (0, 1))
    filled = [torch.nn.utils.rnn.pad_sequence(part, True, value) for part, value in ((inputs, pad), (labels, -100))]
    return *filled, filled[1] != -100


@pytest.mark.parametrize(("number", "answer"), [
    ("13.1", marked_token_by_token), ("13.2", bucket_in_float32), ("13.3", slots_by_step), ("13.4", lengths_by_search),
    ("13.5", by_inverse), ("13.6", padded_by_torch),
])
def test_another_correct_answer_is_accepted(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Mistakes, as people write them

def shifted_labels(targets, start, end, pad, fill=-100):
    _, labels, real = padded_by_torch(targets, start, end, pad)
    inputs = torch.cat([torch.full((len(labels), 1), start), labels[:, :-1]], 1)
    return inputs.masked_fill(inputs == -100, fill), labels, real


def forced(change):
    return lambda *given: change(*padded_by_torch(*given), *given[1:])


@pytest.mark.parametrize(("number", "answer", "named"), [
    ("13.1", lambda tokens, spans, marks: marked_token_by_token(tokens, spans, ["[X0]"] * 9), "have the same sentinel"),
    ("13.1", lambda tokens, spans, marks: marked_token_by_token(tokens, spans, [*marks[:len(spans)][::-1],
                                                                                *marks[len(spans):]]), "from the last"),
    ("13.2", lambda back, *rest: bucket_in_float32(-back, *rest), "has the wrong sign"),
    ("13.2", lambda back, b, most, both: bucket_in_float32(back.abs() if both else back, b, most, both),
     "ame buckets as earlier ones"),
    ("13.3", lambda tokens, u, v, start: (tokens[u - 2:v - 1], tokens[u - 1:v], [*range(u - 1, v)]), "index -1"),
    ("13.3", lambda *given: (*slots_by_step(*given)[:2], [*range(1 + given[2] - given[1])]), "count from 0"),
    ("13.4", lambda *given: lengths_by_search(*given, least=1), "as in GLM"),
    ("13.4", lambda *given: [length for length in lengths_by_search(*given) if length], "are left out"),
    ("13.4", lambda draws, *rest: lengths_by_search([1 - draw for draw in draws], *rest), "greater lengths"),
    ("13.5", lambda *given: by_inverse(*given, arrange=list), "a second time"),
    ("13.5", lambda tokens, lengths, order: by_inverse(tokens, [lengths[order.index(i)] for i in range(len(order))],
                                                       order), "read in the order of the original"),
    ("13.6", shifted_labels, "-100 is among the inputs"),
    ("13.6", lambda *given: shifted_labels(*given, fill=given[3]), "end token is also an input"),
    ("13.6", forced(lambda x, y, real, start, end, pad: (x, y.masked_fill(~real, pad), real)), "counts in the loss"),
    ("13.6", forced(lambda x, y, real, start, end, pad: (x, y, x != pad)), "comparing with the padding token"),
])
def test_a_mistake_is_named(number: str, answer, named: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and named in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("13.1", lambda tokens, spans, marks: right.span_corruption(tokens, spans, marks) if spans else (tokens, [])),
    ("13.2", lambda back, b, most, both: right.relative_bucket(back, b, 128, both)),
    ("13.4", lambda draws, mean, budget: right.infilled_lengths(draws, 3.0, budget)),
    ("13.5", lambda tokens, lengths, order: by_inverse(tokens, lengths, [order.index(i) for i in range(len(order))])),
    ("13.5", lambda tokens, lengths, order: sorted(tokens)),
    ("13.6", lambda targets, start, end, pad: padded_by_torch(targets, 5, 6, 0)),
])
def test_no_wrong_answer_passes(number: str, answer) -> None:
    """No closing sentinel without spans, fixed constants, an order that is inverted twice, sorted ids."""
    assert not check(number, answer).ok


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.title)
def test_each_preset_draws_the_sentence(preset) -> None:
    tokenizer = Tokenizer.words([SENTENCE], 100)
    lab = MaskLab(tokenizer, text=SENTENCE, objective=preset.objective, choices=dict(preset.choices), seed=3)
    assert not lab.message and lab.state["split"] > 1
    targets = [token for token in lab.state["targets"] if token]
    words = SENTENCE.split()
    if preset.title.startswith("BART"):
        assert targets == ["[START]", *words, "[END]"]
    elif preset.title.startswith("MASS"):
        assert " ".join(targets) in SENTENCE
    else:
        dropped = [token for token in targets if token in words]
        assert sorted(dropped + [token for token in lab.state["tokens"][:lab.state["split"]] if token in words]) \
            == sorted(words)
