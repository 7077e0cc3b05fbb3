"""Checks of the code in chapter 13, against ``plmlab``, ``transformers`` and the papers' examples.

Each function returns name → whether the property holds; the functions to check are arguments.
"""

from collections.abc import Callable, Sequence
from math import ceil
from random import Random
from typing import Any

import torch
from torch import Tensor

from plmlab.checks import Checks, report
from plmlab.draws import randint
from plmlab.example import IGNORE, PairBatch
from plmlab.hf import to_hf
from plmlab.models.t5 import T5, T5Config, T5v11, T5v11Config
from plmlab.objectives import masked_span, sequence_to_sequence, span_corruption
from plmlab.objectives.span_corruption import anywhere, drawn_spans, end_dropped
from plmlab.text.vocabulary import Vocabulary

__all__ = ["buckets", "infilling", "mass_slots", "report", "spans_dropped", "t5_parity"]

VOCAB, SAMPLES = Vocabulary(90), 300
EXAMPLE = ["Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week"]
"""T5's example; its spans are "for inviting" and "last"."""


def spans_dropped(t5_example: Callable[..., tuple[list[Any], list[Any]]]) -> Checks:
    """Compare ``t5_example(tokens, spans, sentinels)`` → (source, target) with `span_corruption`."""
    rng, equal, reversible = Random(0), True, True
    for sample in range(SAMPLES):
        tokens = [39 + randint(rng, 50) for _ in range(1 + sample % 60)]
        place = (anywhere, end_dropped)[sample % 2]
        spans = drawn_spans(len(tokens), 0.1 + 0.4 * rng.random(), 1 + 3 * rng.random(), place, rng)
        example = span_corruption(tokens, vocab=VOCAB, rng=rng, spans=spans)
        source, target = t5_example(tokens, spans, VOCAB.sentinels)
        equal &= [*source, VOCAB.end] == example.source.tokens.tolist()
        equal &= [*target, VOCAB.end] == example.target.targets.tolist()
        reversible &= restored(source, target, VOCAB.sentinels) == tokens
    source, target = t5_example(EXAMPLE, [(2, 4), (8, 9)], ["<X>", "<Y>", "<Z>"])
    return {
        "300 random texts: source and target equal plmlab's": equal,
        "the text can be restored from source and target": reversible,
        "T5's example (figure 2)": " ".join(source) == "Thank you <X> me to your party <Y> week" and
                                   " ".join(target) == "<X> for inviting <Y> last <Z>",
    }


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
    of ``transformers``."""
    from transformers.models.t5.modeling_t5 import T5Attention

    back, theirs = torch.arange(-600, 601), T5Attention._relative_position_bucket

    def equal(ours: Callable[[Tensor, int], Tensor], bidirectional: bool) -> bool:
        return all(torch.equal(ours(back, count), theirs(-back, bidirectional, count, 128)) for count in (8, 16, 32))
    return {"decoder: buckets equal those of transformers": equal(bucket, False),
            "encoder: buckets equal those of transformers": equal(encoder_bucket, True)}


@torch.no_grad()
def t5_parity() -> Checks:
    """Compare the logits of small models with those of ``transformers``, whose weights are copied from them."""
    torch.manual_seed(0)
    size: dict[str, Any] = {"vocab": VOCAB.size, "layers": 2, "model": 12, "heads": 3, "inner": 20, "width": 5}
    batch = PairBatch.of([sequence_to_sequence(range(40, 40 + n), range(50, 50 + m), vocab=VOCAB)
                          for n, m in ((7, 3), (2, 6))], pad=VOCAB.need("pad"))
    checks = {}
    for name, model in (("T5", T5(T5Config(**size))), ("T5 v1.1", T5v11(T5v11Config(**size)))):
        theirs = to_hf(model.eval()).double()(
            batch.source.tokens, attention_mask=batch.source.padding_mask.long(),
            decoder_input_ids=batch.target.tokens).logits
        real = batch.targets != IGNORE
        checks[f"{name}: logits equal those of transformers"] = torch.allclose(
            model.double()(batch)[real], theirs[real], atol=1e-5)
    return checks


def infilling(noise: Callable[..., list[int]], samples: int = 2000) -> Checks:
    """Check text infilling, ``noise(tokens, vocab, rng)``, on texts of 40 different tokens."""
    tokens, mask = list(range(40, 80)), VOCAB.need("mask")
    counts, empty, first, kept = [], 0, 0, True
    for seed in range(samples):
        source = noise(tokens, VOCAB, Random(seed))
        rest = [token for token in source if token != mask]
        kept &= rest == sorted(rest) and len(rest) == len(tokens) - ceil(0.3 * len(tokens))
        counts.append(source.count(mask))
        ends = [39, *source, 80]
        empty += sum(ends[i + 1] - ends[i - 1] == 1 for i, token in enumerate(ends) if token == mask)
        first += source[0] == mask
    mean = sum(counts) / samples
    return {"30 % of the tokens are masked, the others keep their order": kept,
            "spans have lengths from a Poisson distribution with mean 3, cut at the budget": 4.2 < mean < 5.0,
            "some spans have length 0": 0.02 < empty / sum(counts) < 0.08,
            "spans may begin the text": first > 0}


def mass_slots(decoder_input: Callable[..., tuple[list[Any], list[Any], list[int]]]) -> Checks:
    """Compare ``decoder_input(tokens, u, v, start)`` → (inputs, targets, position ids) with `masked_span`."""
    rng, equal = Random(0), True
    for _ in range(SAMPLES):
        tokens = [39 + randint(rng, 50) for _ in range(1 + randint(rng, 20))]
        u = 1 + randint(rng, len(tokens))
        v = u + randint(rng, len(tokens) - u + 1)
        decoder = masked_span(tokens, vocab=VOCAB, rng=rng, span=(u, v + 1)).target
        equal &= (decoder.tokens.tolist(), decoder.targets.tolist(), decoder.position_ids[0].tolist()) == tuple(
            map(list, decoder_input(tokens, u, v, VOCAB.need("start"))))
    x = [f"x{i}" for i in range(1, 9)]
    return {"300 random spans: inputs, targets and position ids equal plmlab's": equal,
            "the example of §3.1": tuple(map(list, decoder_input(x, 3, 6))) == (x[1:5], x[2:6], [2, 3, 4, 5])}
