"""Whole-word masking (全词掩码): all subwords of a word are masked together, or none."""

from collections.abc import Callable, Sequence
from random import Random

from plmlab.draws import shuffled
from plmlab.example import Example
from plmlab.objectives.masked import Corruption, bert_80_10_10, check_rate, masked
from plmlab.objectives.registry import Choice, objective
from plmlab.text.text import Spans, spans
from plmlab.text.vocabulary import Vocabulary

NEEDED_FOR = "whole-word masking"


@objective(
    title="whole-word masking (BERT, update of May 2019)",
    chinese="全词掩码",
    paper="Devlin et al., README of google-research/bert, May 31st, 2019",
    choices=(Choice("rate", "proportion of tokens to predict", 0.15, 0.05, 0.6, 0.05),),
    question="A word of three subwords is masked. Is it predicted as a word, by a single softmax?",
    answer="No. Each subword is predicted at its own position, independently of the others, as in BERT. Only the "
           "choice of the masked positions differs: a subword can no longer be predicted from the rest of its word.",
)
def whole_words(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), rate: float = 0.15,
    select: Sequence[int] | None = None, corrupt: Corruption = bert_80_10_10,
) -> Example:
    """Masked language modelling with whole words: [CLS] A [SEP], or [CLS] A [SEP] B [SEP], as in `masked`.

    As in BERT's own code, at most ``round(rate · time)`` tokens are selected, special tokens included in ``time``. The
    words are taken in random order; a word with more tokens than are left is skipped. 80/10/10 is decided for each
    token, not for each word. ``select`` sets the selected words instead of sampling them: indices into the words of A,
    followed by those of B. Random draws: the order of the words, then one corruption per selected token, from left to
    right.

    Differences from BERT's code: the words are those of the pre-tokenizer, so a punctuation mark is a word in both, but
    Chinese is segmented only if the text says so; if no word fits, the first one drawn is selected, so that there is
    always a target.

    Raises ValueError if the words of a text are unknown, or if it has none.
    """
    check_rate(rate)
    words = in_input(tokens, pair, lambda text: spans(text, "words", NEEDED_FOR))
    if select is None:
        time = len(tokens) + len(pair) + (3 if pair else 2)
        select = select_units(words, max(1, round(rate * time)), rng)
    return masked(tokens, pair=pair, vocab=vocab, rng=rng, select=positions(words, select), corrupt=corrupt)


def in_input(tokens: Sequence[int], pair: Sequence[int], units: Callable[[Sequence[int]], Spans]) -> Spans:
    """The ``units`` of one text, or of two, as spans of positions in [CLS] A [SEP] or [CLS] A [SEP] B [SEP].

    Raises ValueError if there is none.
    """
    texts = [(1, tokens), *([(2 + len(tokens), pair)] if pair else [])]
    found = tuple((begin + start, begin + end) for begin, text in texts for start, end in units(text))
    if not found:
        raise ValueError("the text has no words, so nothing can be masked; give at least one word")
    return found


def select_units(units: Spans, budget: int, rng: Random) -> list[int]:
    """Select units in random order, skipping any that would exceed the ``budget`` of tokens; if none fits, the first
    one drawn. Returns their indices."""
    order = shuffled(rng, range(len(units)))
    chosen, left = list[int](), budget
    for i in order:
        start, end = units[i]
        if end - start <= left:
            chosen.append(i)
            left -= end - start
    return chosen or order[:1]


def positions(units: Spans, chosen: Sequence[int]) -> list[int]:
    """All positions of the ``chosen`` units. Raises ValueError for an index that no unit has."""
    if any(not 0 <= i < len(units) for i in chosen):
        raise ValueError(f"select={list(chosen)!s:.80}: give indices of words or entities, from 0 to {len(units) - 1}")
    return [position for i in chosen for position in range(*units[i])]
