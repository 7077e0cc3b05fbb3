"""Decoding (解码): from the distribution of the next token to a text.

``greedy`` takes the likeliest token each time, ``sample`` draws one, ``beam_search`` keeps several texts open. All
three write with any `AutoregressiveModel`, which has ``start`` and ``step``: ours, recurrent or not, an encoder-decoder
that was `Given` its source, a function (`Rereading`), or a `Table` made by hand.
"""

from plmlab.decode.autoregressive import AutoregressiveModel, DecodingState, Given, Rereading, Table
from plmlab.decode.beam import Beam, beam_search, length_penalty
from plmlab.decode.hypothesis import Hypothesis
from plmlab.decode.steps import distribution, greedy, sample

__all__ = [
           "AutoregressiveModel",
           "Beam",
           "DecodingState",
           "Given",
           "Hypothesis",
           "Rereading",
           "Table",
           "beam_search",
           "distribution",
           "greedy",
           "length_penalty",
           "sample",
]
