"""Convert a translation for JavaScript, with a comparison with the reference if one is known."""

from math import exp

from plmlab.interpret.alignments import Translation
from plmlab.labs.alignment.comparison import beside_reference, on_aligned
from plmlab.labs.alignment.state import Known, TranslationState
from plmlab.labs.shared.tokens import labels
from plmlab.text.spacing import readable
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.passages import Passage


def serialized(said: Translation, tokenizer: Tokenizer, gold: Passage | None) -> TranslationState:
    """Convert a translation to a dict for JavaScript.

    The dict holds the ``tokens``, their probabilities ``p``, and the attention ``weights`` (32-bit floats in row-major
    order; None without attention). If there is a reference, ``positions`` gives the reference index of each correct
    word (None for a wrong word); ``right`` is the number of correct words; ``partners`` are the gold links (step,
    source position); and ``hits`` is the number of gold links that have the largest weight of their step.
    """
    tokens = labels(tokenizer, said.tokens)
    words = tokens[:-1] if said.tokens[-1] == tokenizer.vocab.end else tokens
    known: Known = {"positions": None, "right": None, "exact": None, "partners": [], "hits": None}
    if gold is not None:
        positions, partners = beside_reference(words, gold.chinese, gold.partners)
        known = {"positions": positions, "right": len(words) - positions.count(None),
                 "exact": tuple(words) == gold.chinese,
                 "partners": [list(pair) for pair in partners],
                 "hits": None if said.weights is None else on_aligned(said.weights, partners)}
    return {"tokens": tokens, "text": readable(words), "p": [exp(logprob) for logprob in said.logprobs],
            "weights": None if said.weights is None else said.weights.float().numpy().astype("<f4").tobytes(), **known}
