"""Objectives: pure functions from tokens to an Example. What is damaged, who sees whom, where each stands."""

from plmlab.objectives.causal import causal
from plmlab.objectives.masked import masked
from plmlab.objectives.registry import OBJECTIVES, Choice, Objective
from plmlab.objectives.sequences import sequence_to_sequence

__all__ = ["OBJECTIVES", "Choice", "Objective", "causal", "masked", "sequence_to_sequence"]
