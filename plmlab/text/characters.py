"""Words as characters (字符): the UTF-8 bytes of a word, between a begin and an end.

The codes are those of ELMo (Peters et al. 2018) as its authors' bilm-tf hands them to a trained model: five signs
follow the 256 bytes, and all are shifted by one, so that 0 is no word at all.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from plmlab.lists import refuse_string

BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, FILLER = range(257, 262)
CODES = 262
"""How many codes there are, 0 included."""
LONGEST = 50
"""The codes of a word, its begin and end and what fills it up included."""


def word_codes(word: str, longest: int = LONGEST) -> list[int]:
    """A word's codes, ``longest`` of them: begin, as many of its bytes as find room, end, and filler. ValueError for no
    room."""
    if longest < 3:
        raise ValueError(f"a word's begin, a byte and its end need 3 places; longest is {longest}")
    return _framed([byte + 1 for byte in word.encode("utf-8", "ignore")[:longest - 2]], longest)


def sign_codes(sign: int, longest: int = LONGEST) -> list[int]:
    """The codes of ``BEGIN_SENTENCE`` or ``END_SENTENCE``, which stand where words do."""
    return _framed([sign], longest)


def sentence_codes(words: Sequence[str], longest: int = LONGEST) -> Int[Tensor, "time longest"]:
    """The codes of a sentence's words, a row each, between those of its begin and its end."""
    refuse_string(words, "a sentence")
    begin, end = (sign_codes(sign, longest) for sign in (BEGIN_SENTENCE, END_SENTENCE))
    return torch.tensor([begin, *(word_codes(word, longest) for word in words), end])


def batch_codes(sentences: Sequence[Sequence[str]], longest: int = LONGEST) -> Int[Tensor, "batch time longest"]:
    """The codes of several sentences, rows of 0 where one is shorter than the longest. ValueError for none."""
    refuse_string(sentences, "sentences")
    if not sentences:
        raise ValueError("no sentence was given")
    return torch.nn.utils.rnn.pad_sequence([sentence_codes(words, longest) for words in sentences], batch_first=True)


def _framed(codes: list[int], longest: int) -> list[int]:
    framed = [BEGIN_WORD, *codes, END_WORD]
    return framed + [FILLER] * (longest - len(framed))
