"""Objectives: pure functions from tokens to an Example. What is damaged, who sees whom, where each stands."""

from plmlab.objectives.blanks import blank_infilling, document_infilling, sentence_infilling
from plmlab.objectives.causal import causal, segmented
from plmlab.objectives.fine_tuning import answered, classified, extracted, tagged
from plmlab.objectives.layouts import cls_first, cls_last
from plmlab.objectives.masked import always_mask, bert_80_10_10, masked
from plmlab.objectives.masked_and_permuted import masked_and_permuted
from plmlab.objectives.next_sentence import next_sentence
from plmlab.objectives.permuted import permuted, permuted_targets
from plmlab.objectives.prefix import both_directions, left_to_right, masked_target, prefix, right_to_left, unified
from plmlab.objectives.registry import OBJECTIVES, Choice, Objective
from plmlab.objectives.retrieved import retrieved
from plmlab.objectives.sequences import sequence_to_sequence
from plmlab.objectives.two_way import two_way
from plmlab.objectives.window import window

__all__ = ["OBJECTIVES", "Choice", "Objective", "always_mask", "answered", "bert_80_10_10", "blank_infilling",
           "both_directions", "causal", "classified", "cls_first", "cls_last", "document_infilling", "extracted",
           "left_to_right", "masked", "masked_and_permuted", "masked_target", "next_sentence", "permuted",
           "permuted_targets", "prefix", "retrieved", "right_to_left", "segmented", "sentence_infilling",
           "sequence_to_sequence", "tagged", "two_way", "unified", "window"]
