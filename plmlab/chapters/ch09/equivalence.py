"""Checks of the masking and of the code in chapter 09, against units marked by hand and against ``plmlab``.

Each function returns name → whether the property holds; the objectives and modules to check are arguments.
"""

from collections import Counter
from collections.abc import Callable
from itertools import groupby
from math import cos, sin
from random import Random

import torch
from torch import nn

from plmlab.chapters.ch09.masking import evaluation_texts, selected, world_wordpieces
from plmlab.checks import Checks, report
from plmlab.example import IGNORE, Batch, Example
from plmlab.layers.relative import FunctionalRelativeAttention
from plmlab.models.spanbert import SpanBERTConfig, SpanBERTPretraining
from plmlab.objectives import always_mask_span, masked, spans_masked
from plmlab.text import Text
from plmlab.visibility import AttentionMask

__all__ = ["functional_positions", "report", "span_boundary", "spans", "whole_units"]

Objective = Callable[..., Example]
WORDS = ({0}, {1, 2, 3}, {4, 5}, {6}, {7}, {8}, {9}, {10}, {11}, {12})
"""The words of SENTENCE, as positions of its tokens: Nora, Holt, opened, …"""
ENTITIES = ({0, 1, 2, 3}, {4, 5}, {6}, {7, 8, 9}, {10}, {11}, {12})
"""Its entities, and the words outside of them."""
SENTENCE = "Nora Holt opened the Blue Station Café in Ostrava ."
EDGES = (((6, 9),), ((0, 4), (6, 7)), ((4, 6), (8, 10), (12, 13)), ((4, 6), (7, 10)), ((0, 4), (11, 13)))
"""Spans of SENTENCE, inside and at both edges."""


def whole_units(objective: Objective, units: tuple[set[int], ...], budget: bool, samples: int = 2000) -> Checks:
    """Mask SENTENCE many times. ``units`` are marked by hand; ``budget``: whether BERT's budget limits the tokens."""
    text, vocab = world_wordpieces().text(SENTENCE), world_wordpieces().vocab
    chosen, sizes, masks = Counter[int](), Counter[int](), Counter[int]()
    whole = targets = True
    for seed in range(samples):
        example = objective(text, vocab=vocab, rng=Random(seed), rate=0.2)
        positions = selected(example)
        whole &= all(unit <= positions or not unit & positions for unit in units) and positions <= set(range(len(text)))
        targets &= all(example.targets[1 + i] == text[i] for i in positions)
        sizes[len(positions)] += 1
        chosen.update(i for i, unit in enumerate(units) if unit <= positions)
        if {1, 2, 3} <= positions:  # Holt
            masks[example.tokens[2:5].tolist().count(vocab.mask)] += 1
    partly = (masks[1] + masks[2]) / max(1, masks.total())
    padded = Batch.of([objective(text, vocab=vocab, rng=Random(0)), masked(text + text, vocab=vocab, rng=Random(0))],
                      pad=vocab.need("pad"))
    checks = {
        "each word or entity is selected completely or not at all, special tokens never":
            whole and len(chosen) == len(units),
        "targets are the original tokens, and padding has none":
            targets and not (padded.targets[0, len(text) + 2:] >= 0).any(),
        "80/10/10 is decided per token: when Holt is selected, it is partly masked in about 48 % of the cases":
            abs(partly - 0.48) < 0.12,  # for three tokens: 1 − 0.8³ − 0.2³
    }
    if budget:
        small = [selected(objective(text, vocab=vocab, rng=Random(seed), rate=0.15)) for seed in range(300)]
        checks["the budget is used up but not exceeded; a word that does not fit is skipped"] = (
            set(sizes) == {3} and all(len(one) == 2 and not one & {1, 2, 3} for one in small))
    return checks


def spans(objective: Objective, samples: int = 500) -> Checks:
    """Mask texts by spans, and find the spans, their words and their boundaries in each example by hand."""
    vocab, texts = world_wordpieces().vocab, evaluation_texts()
    whole, edges, single, masks = True, True, True, list[float]()
    for seed in range(samples):
        text = texts[seed % len(texts)]
        example = objective(text, vocab=vocab, rng=Random(seed))
        starts, stops = zip(*text.words, strict=True)
        expected = torch.full((len(text) + 2, 2), IGNORE)
        end = 0
        for is_target, run in groupby((example.targets != IGNORE).tolist()):
            begin, end = end, end + len([*run])
            if is_target:
                whole &= begin - 1 in starts and end - 1 in stops
                masks.append(example.tokens[begin:end].tolist().count(vocab.mask) / (end - begin))
                if begin > 1 and end <= len(text):
                    expected[begin:end] = torch.tensor([begin - 1, end])
        edges &= example.labels["boundaries"].equal(expected)
        single &= not example.segments.any() and example.tokens.tolist().count(vocab.sep) == 1
        whole &= len(selected(example)) >= 0.15 * len(text)
    return {
        "spans consist of whole words": whole,
        "80/10/10 is decided per span": set(masks) == {0.0, 1.0} and abs(sum(masks) / len(masks) - 0.8) < 0.03,
        "boundaries are the tokens next to the span; a span at an edge has none": edges, "one segment": single,
    }


def span_boundary(head: Callable[[int, int, int], nn.Module]) -> Checks:
    """Compare ``head(model, width, positions)``, called with (x, boundaries, embeddings, bias) → (target positions,
    logits), with SpanBERT's, for spans inside and at both edges of SENTENCE."""
    torch.manual_seed(0)
    text, vocab = world_wordpieces().text(SENTENCE), world_wordpieces().vocab
    reference = SpanBERTPretraining(SpanBERTConfig(vocab.size, time=40, layers=1, model=16, heads=2, inner=32, span=12,
                                                   span_width=6)).eval()
    for weight in reference.parameters():
        nn.init.normal_(weight, std=0.5)
    theirs, ours = reference.span_boundary, head(16, 6, 12)
    parts = (theirs.position, theirs.first, theirs.first_norm, theirs.second, theirs.second_norm)
    sources = [weight for part in parts for weight in part.parameters()]
    for weight, source in zip(ours.parameters(), sources, strict=True):
        weight.data = source.data
    checks = Checks()
    for given in EDGES:
        example = spans_masked(text, vocab=vocab, rng=Random(0), spans=given, corrupt=always_mask_span)
        batch = Batch.of([example], pad=vocab.need("pad"))
        with torch.no_grad():
            x = reference.encoder(batch)
            logits, targets = reference.boundary_logits(x, batch)
            found, predicted = ours(x[0], example.labels["boundaries"], reference.encoder.embeddings.token.weight,
                                    theirs.bias)
        equal = example.targets[found].equal(targets) and torch.allclose(predicted, logits, atol=1e-5)
        names, from_edges = ", ".join(f"“{words(text[start:end])}”" for start, end in given), words(targets.tolist())
        checks[f"equal to plmlab for {names}; predicted from boundaries: {from_edges or 'none'}"] = equal
    return checks


def words(ids: list[int] | Text) -> str:
    """Token ids as text."""
    return " ".join(world_wordpieces().tokens(ids))


def functional_positions(attention: FunctionalRelativeAttention, time: int = 100) -> Checks:
    """Compare NEZHA's attention, with one head and a maximum distance of 64, with a loop over queries."""
    width = attention.q.out_features
    x = torch.randn(1, time, width, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        q, k, v = (project(x)[0] for project in (attention.q, attention.k, attention.v))
        rows = list[torch.Tensor]()
        for i in range(time):
            far = [max(-64, min(64, j - i)) for j in range(time)]
            a = torch.tensor([[f(d / 10000 ** (2 * m / width)) for m in range(width // 2) for f in (sin, cos)]
                              for d in far])
            rows.append(((k + a) @ q[i] / width ** 0.5).softmax(0) @ (v + a))
        ours = attention(x, AttentionMask(pairs=torch.ones(1, time, time, dtype=torch.bool)))
        equal = torch.allclose(ours[0], attention.out(torch.stack(rows)), atol=1e-5)
    return {"keys and values are encoded with the sinusoid of j − i, clipped at 64, as in a loop over all pairs": equal}
