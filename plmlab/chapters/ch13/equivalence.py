"""Checks of the code in chapter 13, against ``plmlab``, ``transformers`` and the papers' examples.

Each function returns name → whether the property holds; the functions to check are arguments.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, chain, pairwise
from math import exp, factorial
from random import Random
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from plmlab.chapters.ch13.presets import SENTENCE
from plmlab.checks import Checks, report
from plmlab.draws import randint
from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.hf import to_hf
from plmlab.models.t5 import T5, T5Config, T5v11, T5v11Config
from plmlab.objectives import gap_sentences, masked_span, span_corruption
from plmlab.objectives.span_corruption import anywhere, drawn_spans, end_dropped
from plmlab.text import Text
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask

__all__ = ["buckets", "gap_sentence_scores", "infilling", "mass_decoder_inputs", "report", "spans_dropped", "t5_parity"]

VOCAB, SAMPLES = Vocabulary(100), 300
FIRST = 39
"""The id of the first word, after the special tokens and the sentinels."""
LONG, MEAN = 41, 3
"""The length of the text of which span lengths are counted, and their mean."""


def spans_dropped(t5_example: Callable[..., tuple[list[Any], list[Any]]]) -> Checks:
    """Compare ``t5_example(tokens, spans, sentinels)`` → (source, target) with `span_corruption`, on texts of 1 to 60
    tokens with both placements, some of them without a span."""
    rng, equal, reversible = Random(0), True, True
    for sample in range(SAMPLES):
        tokens = random_tokens(1 + sample % 60, rng)
        place = (anywhere, end_dropped)[sample // 60 % 2]
        spans = drawn_spans(len(tokens), 0.1 + 0.4 * rng.random(), 1 + 3 * rng.random(), place, rng)
        if sample % 11 == 0:
            spans = []
        example = span_corruption(tokens, vocab=VOCAB, rng=rng, spans=spans)
        source, target = t5_example(tokens, spans, VOCAB.sentinels)
        equal &= [*source, VOCAB.end] == example.source.tokens.tolist()
        equal &= [*target, VOCAB.end] == example.target.targets.tolist()
        reversible &= restored(source, target, VOCAB.sentinels) == tokens
    source, target = t5_example(SENTENCE.split(), [(2, 4), (8, 9)], ["<X>", "<Y>", "<Z>"])
    return {
        f"{SAMPLES} random texts: source and target equal plmlab's": equal,
        "the text can be restored from source and target": reversible,
        "T5's example (figure 2)": " ".join(source) == "Thank you <X> me to your party <Y> week ." and
                                   " ".join(target) == "<X> for inviting <Y> last <Z>",
    }


def random_tokens(count: int, rng: Random) -> list[int]:
    """``count`` random words."""
    return [FIRST + randint(rng, VOCAB.size - FIRST) for _ in range(count)]


def restored(source: Sequence[Any], target: Sequence[Any], sentinels: Sequence[Any]) -> list[Any]:
    """The source with each sentinel replaced by the tokens that follow it in the target."""
    spans: dict[Any, list[Any]] = {}
    for token in target:
        if token in sentinels:
            spans[last := token] = []
        elif spans:
            spans[last].append(token)
    return [part for token in source for part in (spans.get(token, []) if token in sentinels else [token])]


def buckets(bucket: Callable[[Tensor, int], Tensor], encoder_bucket: Callable[[Tensor, int], Tensor]) -> Checks:
    """Compare the buckets of both directions, ``bucket(back, buckets)`` of a decoder and ``encoder_bucket``, with those
    of ``transformers``, for 8 to 64 buckets and all distances up to 600."""
    from transformers.models.t5.modeling_t5 import T5Attention

    back, theirs, counts = torch.arange(-600, 601), T5Attention._relative_position_bucket, (8, 16, 32, 64)

    def equal(ours: Callable[[Tensor, int], Tensor], bidirectional: bool) -> bool:
        return all(torch.equal(ours(back, count), theirs(-back, bidirectional, count, 128)) for count in counts)
    return {"decoder: buckets equal those of transformers": equal(bucket, False),
            "encoder: buckets equal those of transformers": equal(encoder_bucket, True)}


@torch.no_grad()
def t5_parity() -> Checks:
    """Compare the logits of small models with those of ``transformers``, to which their random weights are copied.
    Source and target have padding on the right, and again on the left."""
    generator, checks = torch.Generator().manual_seed(0), Checks()
    size: dict[str, Any] = {"vocab": 60, "layers": 2, "model": 12, "heads": 3, "inner": 20, "width": 5, "buckets": 8}
    for name, model in (("T5", T5(T5Config(**size))), ("T5 v1.1", T5v11(T5v11Config(**size)))):
        for weight in model.parameters():
            nn.init.normal_(weight, std=0.3, generator=generator)  # norms too, which are otherwise all equal
        theirs, model = to_hf(model.eval()).double(), model.double()
        equal = True
        for left in (False, True):
            source, target = padded((7, 11, 1), left), padded((5, 3, 9), left, causal=True)
            batch = PairBatch(source, target, AttentionMask(keys=source.padding_mask))
            expected = theirs(source.tokens, attention_mask=source.padding_mask.long(), decoder_input_ids=target.tokens,
                              decoder_attention_mask=target.padding_mask.long()).logits
            real = target.padding_mask
            equal &= torch.allclose(model(batch)[real], expected[real], atol=1e-6)
        checks[f"{name}: logits equal those of transformers"] = equal
    return checks


def padded(lengths: Sequence[int], left: bool, causal: bool = False) -> Batch:
    """Random texts of these lengths, padded on the right or on the left."""
    places, ends = torch.arange(max(lengths)), torch.tensor(lengths)[:, None]
    real = places.flip(0) < ends if left else places < ends
    tokens = torch.randint(7, 60, real.shape, generator=torch.Generator().manual_seed(len(places)))
    tokens = tokens.masked_fill(~real, VOCAB.need("pad"))
    return Batch(tokens, places[None, None], torch.zeros_like(tokens), AttentionMask(causal=causal, keys=real),
                 torch.full_like(tokens, IGNORE))


def infilling(noise: Callable[..., Sequence[int]], samples: int = 2000) -> Checks:
    """Check text infilling, ``noise(tokens, vocab, rng)``, on texts of 1 to 60 tokens, and count the span lengths in
    ``samples`` sources of a text of 41 tokens."""
    short = [(n, noise(range(FIRST, FIRST + n), VOCAB, Random(n))) for n in range(1, 61)]
    sources = [noise(range(FIRST, FIRST + LONG), VOCAB, Random(seed)) for seed in range(samples)]
    restorable = all(fillable(source, n) for n, source in [*short, *((LONG, source) for source in sources)])
    mask, budget = VOCAB.need("mask"), masked_tokens(LONG)
    lengths = Counter(missing for source in sources for masks, missing in gaps(source, LONG) if masks == 1)
    share = {length: count / sum(lengths.values()) for length, count in lengths.items()}
    counts, expected = [source.count(mask) for source in sources], span_counts(budget)
    spans = sum(expected)
    edges = (fmean([source[0] == mask for source in sources]), fmean([source[-1] == mask for source in sources]))
    edge = fmean([count / (count + LONG - budget) for count in counts])
    adjacent = sum(one == other == mask for source in sources for one, other in pairwise(source))
    pairs = sum(count * (count - 1) / (count + LONG - budget) for count in counts)
    return {
        "30 % of the tokens are masked; each text can be restored by filling its [MASK]s": restorable,
        "the number of spans is that of lengths from Poisson(3), cut at 30 %": abs(fmean(counts) - spans) < 0.2,
        "span lengths are distributed as Poisson(3), the length 0 included":
            all(abs(share.get(length, 0) - count / spans) < 0.025 for length, count in enumerate(expected)),
        "spans and kept tokens are in random order: spans may be adjacent, and begin or end the text":
            all(abs(found - edge) < 0.04 for found in edges) and abs(adjacent - pairs) < 0.2 * pairs,
    }


def masked_tokens(count: int) -> int:
    """30 % of ``count`` tokens, rounded up."""
    return -(-3 * count // 10)


def gaps(source: Sequence[int], count: int) -> list[tuple[int, int]]:
    """The number of [MASK]s and of missing tokens before each kept token of the text FIRST, FIRST + 1, …, and at its
    end."""
    found, masks, last = list[tuple[int, int]](), 0, FIRST - 1
    for token in [*source, FIRST + count]:
        if token == VOCAB.need("mask"):
            masks += 1
        else:
            found.append((masks, token - last - 1))
            masks, last = 0, token
    return found


def fillable(source: Sequence[int], count: int) -> bool:
    """Whether 30 % of the tokens are missing, the others are in order, and a [MASK] is wherever a token is missing."""
    found = gaps(source, count)
    return sum(missing for _, missing in found) == masked_tokens(count) and all(
        missing == 0 or (missing > 0 and masks > 0) for masks, missing in found)


def span_counts(budget: int) -> list[float]:
    """The expected number of spans of each length 0 … ``budget`` in a text: lengths are drawn from Poisson(3) until
    ``budget`` tokens are masked, and the last one is cut."""
    chance = [exp(-MEAN) * MEAN ** length / factorial(length) for length in range(budget + 1)]
    visits = list[float]()  # the expected number of draws when so many tokens are masked
    for done in range(budget):
        before = sum(visits[done - length] * chance[length] for length in range(1, done + 1))
        visits.append(((done == 0) + before) / (1 - chance[0]))
    return [sum(visits[done] * (chance[length] if length < budget - done else 1 - sum(chance[:length]))
                for done in range(budget) if length <= budget - done) for length in range(budget + 1)]


def mass_decoder_inputs(decoder_input: Callable[..., tuple[list[Any], list[Any], list[int]]]) -> Checks:
    """Compare ``decoder_input(tokens, u, v, start)`` → (inputs, targets, position ids) with `masked_span`."""
    rng, equal = Random(0), True
    for _ in range(SAMPLES):
        tokens = random_tokens(1 + randint(rng, 20), rng)
        u = 1 + randint(rng, len(tokens))
        v = u + randint(rng, len(tokens) - u + 1)
        decoder = masked_span(tokens, vocab=VOCAB, rng=rng, span=(u, v + 1)).target
        equal &= (decoder.tokens.tolist(), decoder.targets.tolist(), decoder.position_ids[0].tolist()) == tuple(
            map(list, decoder_input(tokens, u, v, VOCAB.need("start"))))
    x = [f"x{i}" for i in range(1, 9)]
    return {f"{SAMPLES} random spans: inputs, targets and position ids equal plmlab's": equal,
            "the example of §3.1": tuple(map(list, decoder_input(x, 3, 6))) == (x[1:5], x[2:6], [2, 3, 4, 5])}


def gap_sentence_scores(gap_scores: Callable[[list[list[Any]]], list[float]]) -> Checks:
    """Compare ``gap_scores(sentences)`` with the ROUGE-1 of rouge-score on random texts of 1 to 8 sentences, and the
    sentence with the highest score, the last of several, with the target of `gap_sentences`."""
    from rouge_score.rouge_scorer import RougeScorer

    rng, scorer, close, selected = Random(0), RougeScorer(["rouge1"]), True, True
    for sample in range(SAMPLES):
        sentences = [[FIRST + randint(rng, 12) for _ in range(1 + randint(rng, 9))] for _ in range(1 + sample % 8)]
        found = gap_scores(sentences)
        for place, sentence in enumerate(sentences):
            inside, outside = (" ".join(map(str, part)) for part in (
                sentence, chain.from_iterable([*sentences[:place], *sentences[place + 1:]])))
            close &= abs(scorer.score(outside, inside)["rouge1"].fmeasure - found[place]) < 1e-9
        text = Text(list(chain(*sentences)), sentences=pairwise(accumulate(map(len, sentences), initial=0)))
        best = max(range(len(sentences)), key=lambda place: (round(found[place], 9), place))
        target = gap_sentences(text, vocab=VOCAB, rng=rng, rate=0.05).target.targets.tolist()
        selected &= target == [*sentences[best], VOCAB.end]
    return {f"{SAMPLES} random texts: the scores are the ROUGE-1 F1 of rouge-score": close,
            "plmlab's target is the sentence with the highest score (the last one if scores are equal)": selected}
