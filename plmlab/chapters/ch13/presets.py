"""Presets of the Mask Lab: how MASS, T5 and BART corrupt the same sentence."""

from plmlab.labs.mask.lab import MaskPreset

SENTENCE = "Thank you for inviting me to your party last week ."
"""The example of T5's paper (Raffel et al. 2020, figure 2)."""
ONE_NOISE = {"permutation": 0.0, "infilling": 0.0, "masking": 0.0, "deletion": 0.0, "rotation": 0.0}

PRESETS = (
    MaskPreset("T5: 30 %, short spans", "span_corruption", {"rate": 0.3, "mean": 1.5}),
    MaskPreset("T5: half of the tokens", "span_corruption", {"rate": 0.5, "mean": 3.0}),
    MaskPreset("MASS: half of the text", "masked_span", {"rate": 0.5}),
    MaskPreset("MASS: one token, like BERT", "masked_span", {"rate": 0.05}),
    MaskPreset("MASS: the whole text, like GPT", "masked_span", {"rate": 1.0}),
    MaskPreset("BART: text infilling", "denoising", ONE_NOISE | {"infilling": 0.3}),
    MaskPreset("BART: token masking", "denoising", ONE_NOISE | {"masking": 0.3}),
    MaskPreset("BART: token deletion", "denoising", ONE_NOISE | {"deletion": 0.3}),
    MaskPreset("BART: rotation", "denoising", ONE_NOISE | {"rotation": 1.0}),
)
