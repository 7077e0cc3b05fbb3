"""Objectives: pure functions from tokens to an Example. What is damaged, who sees whom, where each stands."""

from plmlab.objectives.causal import causal, segmented
from plmlab.objectives.fine_tuning import answered, classified, extracted, tagged
from plmlab.objectives.masked import masked
from plmlab.objectives.next_sentence import next_sentence
from plmlab.objectives.registry import OBJECTIVES, Choice, Objective
from plmlab.objectives.sequences import sequence_to_sequence
from plmlab.objectives.two_way import two_way
from plmlab.objectives.window import window

__all__ = ["OBJECTIVES", "Choice", "Objective", "answered", "causal", "classified", "extracted", "masked",
           "next_sentence", "segmented", "sequence_to_sequence", "tagged", "two_way", "window"]
