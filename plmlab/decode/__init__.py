"""Decoding (解码): generating text from next-token distributions.

``greedy`` takes the most likely token at each step, ``sample`` samples one, ``beam_search`` keeps several hypotheses,
``diverse_beam_search`` several groups of hypotheses, and ``exact_search`` every prefix that can still be the best. They
work with any `AutoregressiveModel`, which has ``start`` and ``step``: our decoders and recurrent models, an
encoder–decoder with its source (`ConditionedDecoder`), a function (`UncachedLM`), or a hand-made `TableLM`.
"""

from plmlab.decode.autoregressive import AutoregressiveModel, ConditionedDecoder, DecodingState, TableLM, UncachedLM
from plmlab.decode.beam import Beam, beam_search, length_penalty
from plmlab.decode.diverse import diverse_beam_search
from plmlab.decode.exact import ExactResult, SearchTooWide, exact_search
from plmlab.decode.hypothesis import Hypothesis
from plmlab.decode.steps import distribution, exact_match, greedy, greedy_texts, sample

__all__ = [
           "AutoregressiveModel",
           "Beam",
           "ConditionedDecoder",
           "DecodingState",
           "ExactResult",
           "Hypothesis",
           "SearchTooWide",
           "TableLM",
           "UncachedLM",
           "beam_search",
           "distribution",
           "diverse_beam_search",
           "exact_match",
           "exact_search",
           "greedy",
           "greedy_texts",
           "length_penalty",
           "sample",
]
