"""Bayes-optimal loss of autoregressive blank infilling (GLM): blanks are filled one after the other, word by word, each
up to its end.

Part A shows the context of the blanks, and one [MASK] for each blank. Its position ids count a blank as one token, so
they reveal neither the length of a blank nor that of the sentence: the end of a blank is one of the predictions.
`visible_blanks` and `drawn_blanks` have the interface of `plmlab.world.probability.readers` and can be passed to
``world.floor``.
"""

from collections.abc import Sequence
from math import fsum, log

from plmlab.world.probability.automaton import END, Automaton
from plmlab.world.probability.blanks import BLANK, Blanks, Drawing, DrawnBlanks, Span
from plmlab.world.probability.floors import FloorError
from plmlab.world.probability.readers import PositionVocabulary, Question

Belief = dict[str, float]
"""Word or END → its probability of being next in a blank."""


def part_a(words: Sequence[str], spans: Sequence[Span]) -> list[str]:
    """The sentence with a BLANK for each span; the spans are in the order of the text.

    Raises ValueError if a span is empty, overlaps another, exceeds the sentence or is out of order.
    """
    ends = [0, *(place for span in spans for place in span), len(words)]
    if ends != sorted(ends) or any(begin == stop for begin, stop in spans):
        raise ValueError(f"spans are {list(spans)!s:.80}, and the sentence has {len(words)} words; give (begin, end) "
                         "as in a slice, in the order of the text, none empty and none overlapping")
    text: list[str] = []
    behind = 0
    for begin, stop in spans:
        text += [*words[behind:begin], BLANK]
        behind = stop
    return [*text, *words[behind:]]


def infilling(automaton: Automaton, words: Sequence[str], spans: Sequence[Span], order: Sequence[int],
              drawing: Drawing | None = None) -> list[Belief]:
    """The exact distribution of each predicted token, in the order of prediction.

    For each blank in ``order``, the predictions are its words and its end, given Part A and everything filled so far.
    ``drawing`` gives the probability that exactly these spans are masked. With it, the mean of −log p(target) is the
    lowest loss that any model of such Examples can reach. Without it, nothing is inferred from how the blanks were
    sampled (`Blanks`), and a model may reach a lower loss: it can learn, for example, that a blank of fifteen words is
    rare if spans are short.

    Raises:
        NotInGrammar: if ``words`` are not a sentence.
        ValueError: if the spans are invalid, the order does not contain each span once, or these spans have
            probability 0 under ``drawing``.
    """
    if sorted(order) != list(range(len(spans))):
        raise ValueError(f"order is {list(order)!s:.80}; give a permutation of the numbers 0 to {len(spans) - 1} of "
                         "the spans")
    text = part_a(words, spans)
    if drawing is not None and not drawing(len(words), spans):
        raise ValueError(f"under drawing, the objective never masks {list(spans)!s:.80} of {len(words)} words; "
                         "give the function of the objective that made the Example, with its choices")
    found: list[Belief] = []
    reader = Blanks(automaton, text) if drawing is None else DrawnBlanks(automaton, text, drawing=drawing)
    for blank in order:
        filling = words[slice(*spans[blank])]
        found += [reader.next_words(blank, filling[:place]) for place in range(len(filling) + 1)]
        reader = reader.fill({blank: filling})
    return found


def visible_blanks(automaton: Automaton, words: Sequence[str], asked: Sequence[Question],
                   vocab: PositionVocabulary) -> float:
    """−Σ log p(target | Part A, the blanks filled before, the preceding words in its blank), in nats, ends included.

    Nothing is inferred from how the blanks were sampled. As with ``positions_known``, a model may therefore reach a
    lower loss than this, but no model is below ``drawn_blanks``.

    Raises:
        FloorError: if the Examples do not fill blanks one after the other.
    """
    spans, order = filled_in_order(words, asked, vocab)
    return _paid(words, spans, order, infilling(automaton, words, spans, order))


def drawn_blanks(automaton: Automaton, words: Sequence[str], asked: Sequence[Question], vocab: PositionVocabulary, *,
                 drawing: Drawing) -> float:
    """Like ``visible_blanks``, but also using the probability that exactly these spans are masked: the floor for every
    model.

    ``partial(drawn_blanks, drawing=…)`` has the reader interface; `plmlab.world.probability.drawn_spans`
    has the functions to pass as ``drawing``.

    Raises:
        FloorError: if the Examples do not fill blanks one after the other.
        ValueError: if the spans of an Example have probability 0 under ``drawing``.
    """
    spans, order = filled_in_order(words, asked, vocab)
    return _paid(words, spans, order, infilling(automaton, words, spans, order, drawing))


def filled_in_order(words: Sequence[str], asked: Sequence[Question],
                    vocab: PositionVocabulary) -> tuple[list[Span], list[int]]:
    """Return the spans that an Example fills, in the order of the text, and the filling order as indices of these
    spans.

    A blank is a run of targets up to an end. Each of its words must depend on all words outside the blanks, on those in
    blanks filled before, on the preceding words of its own blank, and on nothing else. Raises FloorError otherwise.
    """
    filled: list[Span] = []
    known = set(range(len(words))) - {position for question in asked
                                      if (position := vocab.position(question.target)) is not None}
    current: list[int] = []
    for question in asked:
        seen = {position for token in question.tokens if (position := vocab.position(token)) is not None}
        position = vocab.position(question.target)
        if seen != known or (position is None and (not current or question.target not in vocab.ends)):
            raise _no_blanks()
        if position is None:
            filled.append((current[0], current[-1] + 1))
            current = []
            continue
        if current and position != current[-1] + 1:
            raise _no_blanks()
        current.append(position)
        known.add(position)
    if current:
        raise _no_blanks()
    spans = sorted(filled)
    return spans, [spans.index(span) for span in filled]


def _no_blanks() -> FloorError:
    return FloorError("these Examples do not fill blanks one after the other, each from its first word to its end, "
                      "with all other words visible; use length_known")


def _paid(words: Sequence[str], spans: Sequence[Span], order: Sequence[int], beliefs: Sequence[Belief]) -> float:
    targets = [token for blank in order for token in (*words[slice(*spans[blank])], END)]
    return -fsum(log(belief[token]) for token, belief in zip(targets, beliefs, strict=True))
