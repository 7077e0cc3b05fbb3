"""Training objectives: pure functions from tokens to an Example, which set the corruption, the attention mask and the
targets."""

from plmlab.objectives.bidirectional_lm import bidirectional_lm
from plmlab.objectives.blanks import blank_infilling, document_infilling, sentence_infilling
from plmlab.objectives.causal import causal, segmented
from plmlab.objectives.continuation import continuation
from plmlab.objectives.denoising import denoising
from plmlab.objectives.entities_masked import entities_masked
from plmlab.objectives.entity_mentions import entity_mentions
from plmlab.objectives.fine_tuning import gpt_classification, sequence_classification, span_qa, token_classification
from plmlab.objectives.gap_sentences import gap_sentences
from plmlab.objectives.hybrid_pass import hybrid_forward_pass
from plmlab.objectives.layouts import cls_first, cls_last
from plmlab.objectives.masked import always_mask, bert_80_10_10, electra_85_15, masked
from plmlab.objectives.masked_and_permuted import masked_and_permuted
from plmlab.objectives.masked_span import masked_span
from plmlab.objectives.next_sentence import next_sentence
from plmlab.objectives.permuted import permuted, permuted_targets
from plmlab.objectives.prefix import (
    both_directions,
    left_to_right,
    mask_mixture,
    masked_seq2seq_target,
    prefix,
    right_to_left,
)
from plmlab.objectives.reader_inputs import reader_input
from plmlab.objectives.registry import OBJECTIVES, Choice, Objective
from plmlab.objectives.sentence_order import sentence_order
from plmlab.objectives.sequences import sequence_to_sequence
from plmlab.objectives.span_corruption import span_corruption
from plmlab.objectives.spans_masked import always_mask_span, span_80_10_10, spans_masked
from plmlab.objectives.whole_words import whole_words
from plmlab.objectives.window import window

__all__ = [
    "OBJECTIVES",
    "Choice",
    "Objective",
    "always_mask",
    "always_mask_span",
    "bert_80_10_10",
    "bidirectional_lm",
    "blank_infilling",
    "both_directions",
    "causal",
    "cls_first",
    "cls_last",
    "continuation",
    "denoising",
    "document_infilling",
    "electra_85_15",
    "entities_masked",
    "entity_mentions",
    "gap_sentences",
    "gpt_classification",
    "hybrid_forward_pass",
    "left_to_right",
    "mask_mixture",
    "masked",
    "masked_and_permuted",
    "masked_seq2seq_target",
    "masked_span",
    "next_sentence",
    "permuted",
    "permuted_targets",
    "prefix",
    "reader_input",
    "right_to_left",
    "segmented",
    "sentence_infilling",
    "sentence_order",
    "sequence_classification",
    "sequence_to_sequence",
    "span_80_10_10",
    "span_corruption",
    "span_qa",
    "spans_masked",
    "token_classification",
    "whole_words",
    "window",
]
