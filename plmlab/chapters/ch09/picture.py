"""The picture of chapter 09: what BERT and its successors mask in one sentence, and what they predict."""

from random import Random
from typing import Any

import torch

from plmlab.chapters.ch09.masking import input_tokens, target_tokens, world_wordpieces
from plmlab.example import Batch
from plmlab.models.electra import replace_tokens
from plmlab.objectives import always_mask, always_mask_span, entities_masked, masked, spans_masked, whole_words
from plmlab.text import Text

HEADER = ("model", "selected unit", "input of the encoder", "predicted", "second task", "other changes")


def picture(text: Text) -> dict[str, tuple[str, ...]]:
    """Rows of the table `HEADER` for the sentence of `plmlab.chapters.ch09.equivalence.SENTENCE`.

    The selected positions and ELECTRA's samples are set by hand, and every selected token is masked.
    """
    tokenizer, vocab = world_wordpieces(), world_wordpieces().vocab
    by_hand: dict[str, Any] = {"vocab": vocab, "rng": Random(0), "corrupt": always_mask}
    tokens, later, ngram = (masked(text, select=select, **by_hand) for select in ([3, 11], [6, 10], [9, 10]))
    word, entity = whole_words(text, select=[1], **by_hand), entities_masked(text, select=[0], **by_hand)
    span = spans_masked(text, spans=((6, 9),), vocab=vocab, rng=Random(0), corrupt=always_mask_span)
    left, right = tokenizer.tokens(span.tokens[span.labels["boundaries"].max(0).values].tolist())
    samples = torch.tensor([tokenizer.tokenizer.id(token) for token in ("##ar", "in")])
    batch, replaced = replace_tokens(Batch.of([tokens], pad=vocab.need("pad")), samples)
    wrong = " ".join(tokenizer.tokens(batch.tokens[replaced].tolist()))
    rows: dict[str, tuple[Any, ...]] = {
        "BERT": ("token", tokens, "", "NSP", "–"),
        "RoBERTa, one epoch": ("token", tokens, "", "none", "one segment"),
        "RoBERTa, next epoch": ("token", later, "", "none", "one segment"),
        "BERT, whole words": ("word", word, "", "NSP", "–"),
        "ERNIE 1.0": ("entity, phrase or word", entity, "", "NSP", "–"),
        "NEZHA": ("word", word, "", "NSP", "relative positions"),
        "SpanBERT": ("span of 1 to 10 words", span, f"; again from the outputs at {left} and {right}", "none",
                     "one segment"),
        "ALBERT": ("n-gram of 1 to 3 words", ngram, "", "SOP", "shared layers; factorized embedding"),
        "ELECTRA, generator": ("token", tokens, "", "none", "embeddings shared with the discriminator"),
    }
    return {
        **{name: (unit, input_tokens(example, tokenizer), target_tokens(example, tokenizer) + more, *others)
           for name, (unit, example, more, *others) in rows.items()},
        "ELECTRA, discriminator": (
            "–", " ".join(tokenizer.tokens(batch.tokens[0].tolist())),
            f"original or replaced, at all {batch.tokens.shape[1]} positions; replaced: {wrong}", "none",
            "embeddings shared with the generator"),
    }
