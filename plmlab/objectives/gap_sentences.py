"""Gap-sentence generation (间隔句生成) of PEGASUS: whole sentences are masked, and the decoder generates them.

The sentences are selected as a summary of the text would be. A selection is a function of a text's sentences; the
paper's six are defined here.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from random import Random
from typing import Any

from plmlab.draws import sample, shuffled
from plmlab.example import PairExample
from plmlab.objectives.masked import Corruption, apply_masking, bert_80_10_10, check_rate, check_shares
from plmlab.objectives.registry import Choice, objective
from plmlab.objectives.sequences import causal_input, pair
from plmlab.text.text import sentence_parts
from plmlab.text.vocabulary import Vocabulary

Selection = Callable[[Sequence[Sequence[int]], int, Random], Sequence[int]]
"""``selection(sentences, count, rng)`` selects ``count`` sentences, given as token ids, and returns their indices."""
Ngrams = Callable[[Iterable[int]], Sequence[int]]
"""``ngrams(tokens)`` gives the unigrams that ROUGE-1 counts."""
PLACES = 9
"""Number of decimals to which scores are rounded, so that equal fractions are equal numbers."""


def original_ngrams(tokens: Iterable[int]) -> list[int]:
    """All unigrams, repeated ones as often as they occur (Orig)."""
    return list(tokens)


def unique_ngrams(tokens: Iterable[int]) -> list[int]:
    """Each distinct unigram once (Uniq)."""
    return list(dict.fromkeys(tokens))


def independent(sentences: Sequence[Sequence[int]], count: int, rng: Random, *, ngrams: Ngrams = original_ngrams,
                ) -> list[int]:
    """The sentences with the highest ROUGE-1 F1 between the sentence and the rest of the text (Ind, §3.1). If scores
    are equal, the later sentence is selected (the authors' code).

    With original n-grams, F1 is 2 · hits / (tokens of the text): the sentence with the most tokens that occur elsewhere
    is selected, and long sentences are preferred. The two sentences of a text of two have equal scores.
    """
    ranked = sorted(((gap_score(sentences, [i], ngrams), i) for i in range(len(sentences))), reverse=True)
    return [i for _, i in ranked[:count]]


def sequential(sentences: Sequence[Sequence[int]], count: int, rng: Random, *, ngrams: Ngrams = original_ngrams,
               ) -> list[int]:
    """Greedy selection: in each step the sentence that gives the highest ROUGE-1 F1 between all selected sentences and
    the rest of the text (Seq, algorithm 1). If scores are equal, the later sentence is selected (the authors' code). If
    ``count`` is 1, this is the same as `independent`."""
    selected: list[int] = []
    for _ in range(count):
        others = (i for i in range(len(sentences)) if i not in selected)
        selected.append(max(others, key=lambda i: (gap_score(sentences, [*selected, i], ngrams), i)))
    return selected


def random_sentences(sentences: Sequence[Sequence[int]], count: int, rng: Random) -> list[int]:
    """Uniformly random sentences (Random)."""
    return sample(rng, range(len(sentences)), count)


def lead_sentences(sentences: Sequence[Sequence[int]], count: int, rng: Random) -> list[int]:
    """The first sentences of the text (Lead)."""
    return list(range(count))


SELECTIONS: dict[str, Selection] = {
    "Random": random_sentences, "Lead": lead_sentences,
    "Ind-Orig": independent, "Ind-Uniq": partial(independent, ngrams=unique_ngrams),
    "Seq-Orig": sequential, "Seq-Uniq": partial(sequential, ngrams=unique_ngrams),
}
"""The selections of the paper, under its names (fig. 4a)."""


def gap_score(sentences: Sequence[Sequence[int]], gaps: Collection[int], ngrams: Ngrams) -> float:
    """ROUGE-1 F1, by rouge-score, between the sentences at the indices ``gaps`` and all others."""
    inside = ngrams(chain.from_iterable(sentences[i] for i in gaps))
    outside = ngrams(chain.from_iterable(sentence for i, sentence in enumerate(sentences) if i not in gaps))
    return round(_scorer().score(outside, inside)["rouge1"].fmeasure, PLACES)


class _TokenIds:
    """A tokenizer for rouge-score whose texts are already lists of token ids."""

    def tokenize(self, text: list[int]) -> list[int]:
        return text


@cache
def _scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer
    return RougeScorer(["rouge1"], tokenizer=_TokenIds())


def masked_word_80_10_10(token: int, vocab: Vocabulary, rng: Random) -> int:
    """As `bert_80_10_10`, with the sentinel [X0] instead of [MASK], which replaces whole sentences: PEGASUS's [MASK2]
    and [MASK1]."""
    corrupted = bert_80_10_10(token, vocab, rng)
    return vocab.sentinels[0] if corrupted == vocab.need("mask") else corrupted


@objective(
    title="gap sentences (PEGASUS)", chinese="间隔句生成", paper="Zhang et al. 2020, §3.1, fig. 1",
    choices=(Choice("rate", "proportion of sentences to select", 0.3, 0.05, 1.0, 0.05),
             Choice("intact", "probability that a selected sentence stays in the source", 0.0, 0.0, 1.0, 0.05),
             Choice("masking", "proportion of tokens to mask in the other sentences", 0.0, 0.0, 0.6, 0.05)),
    question="Which sentence is the target? Compare its words with those of the other sentences.",
    answer="The sentence that shares the most words with the rest of the text (ROUGE-1 F1), as a summary would. One "
           "[MASK] replaces the whole sentence, so the decoder has to generate it from the other sentences, as in "
           "abstractive summarization.",
)
def gap_sentences(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, rate: float = 0.3, intact: float = 0.0,
                  masking: float = 0.0, selection: Selection = independent, select: Sequence[int] | None = None,
                  ignore: Collection[int] = (), corrupt: Corruption = masked_word_80_10_10) -> PairExample:
    """The source has one [MASK] instead of each selected sentence; the target has the selected sentences.

    Of n sentences, ``floor(rate · n)`` are selected, at least one (the authors' code). ``selection`` selects them, or
    ``select`` gives their indices. The target is in the order of the text, without separators. Source and target end
    with [END]; the decoder's input begins with [PAD]. A text without sentence boundaries is one sentence, and its
    source is [MASK] [END]. Scores count words and subwords, without special tokens and the ids in ``ignore``, such as
    stopwords.

    With probability ``intact``, a selected sentence is also left in the source: 0 in the paper's ablations, 0.2 in
    PEGASUS-large, which selects 45 % of the sentences (§6.2). With ``masking`` (0.15 in the paper), at least one token
    of the other sentences is corrupted by ``corrupt`` and is a target of the encoder: an ablation that PEGASUS-large
    does not use (§6.1.2). Random draws: the selection, one draw per selected sentence if ``intact`` is above 0, then
    the masking.

    Differences from the authors' code: scores are of token ids, where theirs are of lower-case words without
    punctuation, and their configuration removes 128 stopwords, which the paper does not mention; scores are compared
    after rounding, so that they are equal if the fractions are; ``masking`` selects tokens, not whole words; sentences
    are those of the text.

    Raises ValueError for an empty text, if the text's sentences are unknown, and for a proportion out of range.
    """
    check_rate(rate)
    check_shares(intact=intact, masking=masking)
    if not len(tokens):
        raise ValueError("the text is empty, so no sentence can be selected; give at least one word")
    parts = sentence_parts(tokens, "gap-sentence generation")
    if select is None:
        skipped = vocab.special.union(ignore)
        words = [[token for token in tokens[begin:end] if token not in skipped] for begin, end in parts]
        select = selection(words, gap_count(len(parts), rate), rng)
    elif not set(select) <= set(range(len(parts))):
        raise ValueError(f"select={list(select)!s:.80}: give indices of the {len(parts)} sentences, from 0")
    source, target, others = list[int](), list[int](), list[int]()  # others: source indices of unselected sentences
    for i, (begin, end) in enumerate(parts):
        sentence = tokens[begin:end]
        if i not in select:
            others += range(len(source), len(source) + len(sentence))
        else:
            target += sentence
            if not intact or rng.random() >= intact:
                sentence = [vocab.need("mask")]
        source += sentence
    example = pad_started_pair(source, target, vocab)
    if not masking or not others:
        return example
    chosen = sorted(shuffled(rng, others)[:max(1, round(masking * len(others)))])
    corrupted, targets = apply_masking(example.source.tokens.tolist(), chosen, vocab=vocab, rng=rng, corrupt=corrupt)
    return replace(example, source=replace(example.source, tokens=corrupted, targets=targets))


def gap_count(sentences: int, rate: float) -> int:
    """The number of sentences to select: ``floor(rate · sentences)``, at least one."""
    return min(max(int(rate * sentences + 1e-9), 1), sentences)


def pad_started_pair(source: Sequence[int], target: Sequence[int], vocab: Vocabulary) -> PairExample:
    """A [END] for the encoder; [PAD] B for the decoder, which predicts B [END] (PEGASUS)."""
    pad, end = vocab.need("pad"), vocab.need("end")
    return pair([*source, end], causal_input([pad, *target], [*target, end], range(len(target) + 1)))
