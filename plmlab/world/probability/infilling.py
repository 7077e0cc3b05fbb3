"""What the best reader pays for blanks that are filled one after the other, word by word, each with its end (GLM).

Part A shows the words around the blanks, and one [MASK] for each. Its positions count a blank as one, so that neither a
blank's length nor the sentence's is told: that a blank is over is one of the things to be said. `visible_blanks` and
`drawn_blanks` are readers as in `plmlab.world.probability.readers`, and can be given to ``world.floor``.
"""

from collections.abc import Sequence
from math import fsum, log

from plmlab.world.probability.automaton import END, Automaton
from plmlab.world.probability.blanks import BLANK, Blanks, Drawing, DrawnBlanks, Span
from plmlab.world.probability.floors import FloorError
from plmlab.world.probability.readers import PositionVocabulary, Question

Belief = dict[str, float]
"""Word or END → its probability of coming next in a blank."""


def part_a(words: Sequence[str], spans: Sequence[Span]) -> list[str]:
    """The sentence with a BLANK for each span; the spans in the order of the text.

    ValueError: a span is empty, overlaps with another, reaches out of the sentence or is out of order.
    """
    ends = [0, *(place for span in spans for place in span), len(words)]
    if ends != sorted(ends) or any(begin == stop for begin, stop in spans):
        raise ValueError(f"spans are {list(spans)!s:.80}, and the sentence has {len(words)} words; give (begin, end) "
                         "as in a slice, in the order of the text, none empty and none over another")
    text: list[str] = []
    behind = 0
    for begin, stop in spans:
        text += [*words[behind:begin], BLANK]
        behind = stop
    return [*text, *words[behind:]]


def infilling(automaton: Automaton, words: Sequence[str], spans: Sequence[Span], order: Sequence[int],
              drawing: Drawing | None = None) -> list[Belief]:
    """The exact distribution of each token that is predicted, in the order in which that is done: for the first blank
    of ``order``, then the next, each word and the end, given Part A and what is filled by then.

    ``drawing`` tells how likely it is that just these spans are hidden. With it the mean of −log p(what is said) is the
    least that any reader of such Examples can reach. Without it the reader takes nothing from how blanks were drawn
    (`Blanks`), and a model may come below: it learns that a blank of fifteen words is rare where spans are short.

    Raises:
        NotInGrammar: ``words`` are no sentence.
        ValueError: spans that are none, an order that does not name each once, or a drawing that hides no such spans.
    """
    if sorted(order) != list(range(len(spans))):
        raise ValueError(f"order is {list(order)!s:.80}; give the numbers of the {len(spans)} spans, from 0 on, each "
                         "once")
    text = part_a(words, spans)
    if drawing is not None and not drawing(len(words), spans):
        raise ValueError(f"the drawing never hides {list(spans)!s:.80} of {len(words)} words; give that of the "
                         "objective which made the Example, with its choices")
    found: list[Belief] = []
    reader = Blanks(automaton, text) if drawing is None else DrawnBlanks(automaton, text, drawing=drawing)
    for blank in order:
        said = words[slice(*spans[blank])]
        found += [reader.next_words(blank, said[:place]) for place in range(len(said) + 1)]
        reader = reader.fill({blank: said})
    return found


def visible_blanks(automaton: Automaton, words: Sequence[str], asked: Sequence[Question],
                   vocab: PositionVocabulary) -> float:
    """−Σ log p(target | Part A, the blanks filled before, the words before it in its blank), in nats, ends included:
    who takes nothing from how the blanks were drawn.

    As ``positions_known``, it does not count: no model comes below ``drawn_blanks``, but one may below this.

    Raises:
        FloorError: the Examples do not fill blanks one after the other.
    """
    spans, order = filled_in_order(words, asked, vocab)
    return _paid(words, spans, order, infilling(automaton, words, spans, order))


def drawn_blanks(automaton: Automaton, words: Sequence[str], asked: Sequence[Question], vocab: PositionVocabulary, *,
                 drawing: Drawing) -> float:
    """As ``visible_blanks``, of the reader who also knows how likely it is that just these spans are hidden: the floor
    for everybody, reached by who counts. ``partial(drawn_blanks, drawing=…)`` is a reader; the drawings are in
    `plmlab.world.probability.drawn_spans`.

    Raises:
        FloorError: the Examples do not fill blanks one after the other.
        ValueError: the drawing never hides what an Example hides.
    """
    spans, order = filled_in_order(words, asked, vocab)
    return _paid(words, spans, order, infilling(automaton, words, spans, order, drawing))


def filled_in_order(words: Sequence[str], asked: Sequence[Question],
                    vocab: PositionVocabulary) -> tuple[list[Span], list[int]]:
    """The spans that an Example fills, in the order of the text, and in which order it fills them, by their numbers.

    A blank is what is asked up to an end. Each of its words must know of all words outside of blanks, of those in
    blanks filled before, and of those before it in its own, and of no others.

    FloorError: what is asked, or known, is not that.
    """
    filled: list[Span] = []
    known = set(range(len(words))) - {position for question in asked
                                      if (position := vocab.position(question.target)) is not None}
    said: list[int] = []
    for question in asked:
        seen = {position for token in question.tokens if (position := vocab.position(token)) is not None}
        position = vocab.position(question.target)
        if seen != known or (position is None and (not said or question.target not in vocab.ends)):
            raise _no_blanks()
        if position is None:
            filled.append((said[0], said[-1] + 1))
            said = []
            continue
        if said and position != said[-1] + 1:
            raise _no_blanks()
        said.append(position)
        known.add(position)
    if said:
        raise _no_blanks()
    spans = sorted(filled)
    return spans, [spans.index(span) for span in filled]


def _no_blanks() -> FloorError:
    return FloorError("these Examples do not fill blanks one after the other, each from its first word to its end, "
                      "with all other words in sight; take the reader told_length")


def _paid(words: Sequence[str], spans: Sequence[Span], order: Sequence[int], beliefs: Sequence[Belief]) -> float:
    said = [token for blank in order for token in (*words[slice(*spans[blank])], END)]
    return -fsum(log(belief[token]) for token, belief in zip(said, beliefs, strict=True))
