"""A translation for JavaScript, compared with the reference where that is known."""

from math import exp

from plmlab.interpret.alignments import Translation
from plmlab.labs.alignment.comparison import beside_reference, on_aligned
from plmlab.labs.alignment.state import Known, Told
from plmlab.labs.shared.tokens import labels
from plmlab.text.spacing import readable
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.passages import Passage


def serialized(said: Translation, tokenizer: Tokenizer, gold: Passage | None) -> Told:
    """A translation as a dict for JavaScript.

    Its ``tokens`` with their probabilities ``p`` and ``weights`` (32-bit floats, row by row; None without attention).
    With a reference, ``positions`` has the reference position of each correct word, None for a wrong word; ``right``
    counts the correct words; ``partners`` are the gold links (step, source position), of which ``hits`` have the
    largest weight of their step.
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
