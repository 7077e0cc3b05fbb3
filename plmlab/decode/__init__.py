"""Decoding (解码): from the distribution of the next token to a text.

``greedy`` takes the likeliest token each time, ``sample`` draws one, ``beam_search`` keeps several texts open.
All three write with any model that can ``begin`` and say what comes ``next``: ours, recurrent or not, an
encoder-decoder that was `Given` its source, a function (`Rereading`), or a `Table` made by hand.
"""

from plmlab.decode.beam import Beam, beam_search, length_penalty
from plmlab.decode.hypothesis import Hypothesis
from plmlab.decode.steps import distribution, greedy, sample
from plmlab.decode.writers import Given, Memory, Rereading, Table, Writer

__all__ = ["Beam", "Given", "Hypothesis", "Memory", "Rereading", "Table", "Writer", "beam_search", "distribution",
           "greedy", "length_penalty", "sample"]
