"""Decoding (解码): from the distribution of the next token to a text.

``greedy`` takes the likeliest token each time, ``sample`` draws one, ``beam_search`` keeps several texts open,
``diverse_beam_search`` several groups of them, and ``exact_search`` all that can still win. They write with any
`AutoregressiveModel`, which has ``start`` and ``step``: ours, recurrent or not, an encoder-decoder that was
`ConditionedDecoder` its source, a function (`UncachedLM`), or a `TableLM` made by hand.
"""

from plmlab.decode.autoregressive import AutoregressiveModel, ConditionedDecoder, DecodingState, TableLM, UncachedLM
from plmlab.decode.beam import Beam, beam_search, length_penalty
from plmlab.decode.diverse import diverse_beam_search
from plmlab.decode.exact import Exact, SearchTooWide, exact_search
from plmlab.decode.hypothesis import Hypothesis
from plmlab.decode.steps import distribution, greedy, sample

__all__ = [
           "AutoregressiveModel",
           "Beam",
           "ConditionedDecoder",
           "DecodingState",
           "Exact",
           "Hypothesis",
           "SearchTooWide",
           "TableLM",
           "UncachedLM",
           "beam_search",
           "distribution",
           "diverse_beam_search",
           "exact_search",
           "greedy",
           "length_penalty",
           "sample",
]
