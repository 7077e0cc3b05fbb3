"""Words as character codes (字符): the UTF-8 bytes of a word, between a begin and an end symbol.

The codes are those of ELMo (Peters et al. 2018) as the authors' bilm-tf feeds them to a trained model: five special
symbols follow the 256 bytes, and all codes are shifted by one, so that 0 is padding.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from plmlab.lists import refuse_string

BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, FILLER = range(257, 262)
CODES = 262
"""The number of codes, including 0."""
LONGEST = 50
"""The number of codes per word, including begin, end and padding characters."""


def word_codes(word: str, longest: int = LONGEST) -> list[int]:
    """The ``longest`` codes of a word: begin, its first ``longest`` − 2 bytes, end, and padding. Raises ValueError if
    ``longest`` is below 3."""
    if longest < 3:
        raise ValueError(f"longest={longest} is too short; the begin of a word, one byte and its end need 3 codes")
    return _framed([byte + 1 for byte in word.encode("utf-8", "ignore")[:longest - 2]], longest)


def sign_codes(sign: int, longest: int = LONGEST) -> list[int]:
    """The codes of ``BEGIN_SENTENCE`` or ``END_SENTENCE``, in the same format as those of a word."""
    return _framed([sign], longest)


def sentence_codes(words: Sequence[str], longest: int = LONGEST) -> Int[Tensor, "time longest"]:
    """The codes of a sentence, one row per word, between a row for its begin and a row for its end."""
    refuse_string(words, "a sentence")
    begin, end = (sign_codes(sign, longest) for sign in (BEGIN_SENTENCE, END_SENTENCE))
    return torch.tensor([begin, *(word_codes(word, longest) for word in words), end])


def batch_codes(sentences: Sequence[Sequence[str]], longest: int = LONGEST) -> Int[Tensor, "batch time longest"]:
    """The codes of several sentences, padded with rows of 0 to the length of the longest. Raises ValueError for an
    empty list."""
    refuse_string(sentences, "sentences")
    if not sentences:
        raise ValueError("sentences is empty; give one or more sentences")
    return torch.nn.utils.rnn.pad_sequence([sentence_codes(words, longest) for words in sentences], batch_first=True)


def _framed(codes: list[int], longest: int) -> list[int]:
    framed = [BEGIN_WORD, *codes, END_WORD]
    return framed + [FILLER] * (longest - len(framed))
