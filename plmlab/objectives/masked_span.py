"""Masked sequence-to-sequence prediction (掩码序列到序列) of MASS: the encoder's input lacks one contiguous span, which
the decoder predicts."""

from collections.abc import Callable, Sequence
from random import Random

import torch

from plmlab.draws import randint
from plmlab.example import IGNORE, Example, PairExample
from plmlab.objectives.blanks import Span, check_spans
from plmlab.objectives.causal import causal
from plmlab.objectives.masked import Corruption, apply_masking, bert_80_10_10, check_rate
from plmlab.objectives.registry import Choice, objective
from plmlab.objectives.sequences import causal_input, pair
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Rule, Visibility

DecoderInput = Callable[[Sequence[int], Span, Vocabulary], Example]
"""``decoder(whole, span, vocab)`` builds the decoder's input for [START] x₁ … x_m [END], of which ``span`` is
predicted."""
Memory = Callable[[PairExample, Vocabulary], Visibility]
"""``memory(example, vocab)`` is the cross-attention mask of an example."""


def preceding_tokens(whole: Sequence[int], span: Span, vocab: Vocabulary) -> Example:
    """The decoder reads x_{u−1} … x_{v−1}, each at its own position in the text (the authors' code; §4.1)."""
    begin, end = span
    return causal_input(whole[begin - 1:end - 1], whole[begin:end], range(begin - 1, end - 1))


def masked_elsewhere(whole: Sequence[int], span: Span, vocab: Vocabulary) -> Example:
    """The decoder has all m positions: x_u … x_{v−1}, each one position later than in the text, and [MASK] at all
    others (the paper's figure 1)."""
    begin, end = span
    known, places = range(begin + 1, end), range(1, len(whole) - 1)
    return causal_input([whole[i - 1] if i in known else vocab.need("mask") for i in places],
                        [whole[i] if begin <= i < end else IGNORE for i in places], places)


def all_positions(example: PairExample, vocab: Vocabulary) -> Visibility:
    """Cross-attention to all encoder positions (the paper; the authors' code for summarization)."""
    return example.cross


def unmasked_positions(example: PairExample, vocab: Vocabulary) -> Visibility:
    """Cross-attention to the encoder positions that are not [MASK] (the authors' code for translation)."""
    keys = example.source.tokens != vocab.need("mask")
    queries = torch.ones(len(example.target.tokens), dtype=torch.bool)
    return Visibility((Rule.between("unmasked source", "{key} is in the source and is not [MASK].", queries, keys),),
                      otherwise="{key} is [MASK]: the decoder does not attend to masked positions of the encoder.")


@objective(
    title="masked span, encoder–decoder (MASS)", chinese="掩码序列到序列", paper="Song et al. 2019, §3.2, fig. 1",
    choices=(Choice("rate", "proportion of tokens in the span", 0.5, 0.05, 1.0, 0.05),),
    question="Set the rate to its lowest and to its highest value. Which known objective does each resemble?",
    answer="With a single masked token, the decoder has to predict one token from its bidirectional context, like "
           "BERT. If all tokens are masked, the encoder shows nothing, and the decoder generates the text from left "
           "to right, like GPT.",
)
def masked_span(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, rate: float = 0.5, span: Span | None = None,
                corrupt: Corruption = bert_80_10_10, decoder: DecoderInput = preceding_tokens,
                memory: Memory = unmasked_positions) -> PairExample:
    """The source is [START] x₁ … x_m [END] with the tokens of one span corrupted; the decoder predicts the span.

    The span has ``round(rate · m)`` tokens, at least one, and a uniformly random place. ``span`` sets it instead: the
    token indices (u, v + 1) counted from 1, as in the paper, where [START] is 0. Position ids are these indices, in
    encoder and decoder. ``corrupt`` returns the source token at each position of the span, ``decoder`` builds the
    decoder's input, and ``memory`` the cross-attention mask. Random draws: the place of the span, then the corruption
    from left to right.

    Differences from the authors' code for translation: a span begins or ends the text only by chance, not in 20 % of
    the texts each; its length is a proportion of m, not of all m + 2 positions, and it never includes [END]; the option
    to divide it is left out. Their code for summarization masks one span in each block of 64 tokens. Raises ValueError
    for an empty text.
    """
    check_rate(rate)
    count = len(tokens)
    if not count:
        raise ValueError("the text is empty, so nothing can be masked; give at least one word")
    if span is None:
        length = max(1, round(rate * count))
        begin = 1 + randint(rng, count - length + 1)
        span = begin, begin + length
    check_spans([(span[0] - 1, span[1] - 1)], count)
    whole = [vocab.need("start"), *tokens, vocab.need("end")]
    source, _ = apply_masking(whole, range(*span), vocab=vocab, rng=rng, corrupt=corrupt)
    example = pair(source.tolist(), decoder(whole, span, vocab))
    return PairExample(example.source, example.target, memory(example, vocab))


def delimited_pair(source: Sequence[int], target: Sequence[int], vocab: Vocabulary) -> PairExample:
    """[START] A [END] for the encoder and [START] B for the decoder, which predicts B [END]; no token is corrupted."""
    return pair([vocab.need("start"), *source, vocab.need("end")], causal(target, vocab=vocab, rng=Random(0)))
