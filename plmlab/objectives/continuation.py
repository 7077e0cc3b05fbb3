"""Continuation (续写) of PALM: the encoder reads the beginning of a text, and the decoder generates the rest."""

from collections.abc import Sequence
from random import Random

from plmlab.example import PairExample
from plmlab.objectives.causal import causal
from plmlab.objectives.registry import Choice, objective
from plmlab.objectives.sequences import pair
from plmlab.text.text import spans
from plmlab.text.vocabulary import Vocabulary

NEEDED_FOR = "continuation (PALM)"


@objective(
    title="continuation (PALM)", chinese="续写", paper="Bi et al. 2020, §2.2, fig. 1d",
    choices=(Choice("share", "proportion of tokens in the source", 0.8, 0.05, 0.95, 0.05),),
    question="Which tokens of the source occur again in the target? Could the decoder predict the target without the "
             "source?",
    answer="No token is masked or repeated: the target is the part of the text that follows the source. The decoder "
           "alone is a language model of the last part; the source tells it what the text is about, and names and "
           "words of the source often return, which is why PALM can copy them.",
)
def continuation(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random | None = None, share: float = 0.8,
                 cut: int | None = None) -> PairExample:
    """The source is [CLS] x₁ … x_c [SEP], the beginning of a text; the decoder predicts the rest and [END].

    The paper gives the first 80 % of a fragment of whole sentences to the encoder (§2.2, §3.1). Here the text is cut
    where a sentence begins or ends, as near as possible to the proportion ``share`` of its tokens (the earlier of two
    such places), so that a target begins with a sentence. A text without a sentence boundary inside is cut at
    ``round(share · n)`` tokens, at least one and at most n − 1; one of a single token, such as the remainder of a long
    text, has an empty source. ``cut`` sets the number of source tokens instead. ``rng`` is not used.

    Difference from a later implementation (``overwindows/PALM``), which cuts at 80 % of the characters, moved back to
    punctuation or a space. Raises ValueError if the text or the target is empty, or if the text's sentences are
    unknown.
    """
    if not len(tokens):
        raise ValueError("the text is empty, so there is nothing to predict; give at least two words")
    if not 0 < share < 1:
        raise ValueError(f"share={share}: the proportion of tokens in the source must be above 0 and below 1")
    if cut is None:
        cut = _nearest_boundary(tokens, share)
    if not 0 <= cut < len(tokens):
        raise ValueError(f"cut={cut} in a text of {len(tokens)} tokens: give 0 to {len(tokens) - 1}, so that at least "
                         "one token is predicted")
    return continued_pair(tokens[:cut], tokens[cut:], vocab)


def continued_pair(source: Sequence[int], target: Sequence[int], vocab: Vocabulary) -> PairExample:
    """[CLS] A [SEP] for the encoder, which is the input of the masked language model that pretrains it, and [START] B
    for the decoder, which predicts B [END]."""
    return pair([vocab.need("cls"), *source, vocab.need("sep")], causal(target, vocab=vocab, rng=Random(0)))


def _nearest_boundary(tokens: Sequence[int], share: float) -> int:
    """The sentence boundary nearest to the given proportion of the tokens; without any, that many tokens."""
    count, sentences = len(tokens), spans(tokens, "sentences", NEEDED_FOR)
    boundaries = [place for sentence in sentences for place in sentence if 0 < place < count]
    whole = min(max(1, round(share * count)), count - 1)
    return min(boundaries, key=lambda place: abs(place - share * count), default=whole)
