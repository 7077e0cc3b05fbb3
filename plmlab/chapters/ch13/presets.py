"""Presets of the Mask Lab: how MASS, T5 and BART corrupt the same sentence, and PEGASUS and PALM a text of several."""

from plmlab.labs.mask.lab import MaskPreset

SENTENCE = "Thank you for inviting me to your party last week ."
"""The example of T5's paper (Raffel et al. 2020, figure 2)."""
TWO_SENTENCES = "Thank you for inviting me . Thank you for your party last week ."
"""Two sentences of the same words, for BART's sentence permutation."""
THREE_SENTENCES = f"Thank you for inviting me . {SENTENCE} Thank you for last week ."
"""Three sentences of the same words, of which the second shares the most with the others, for PEGASUS and PALM."""
SEED = 63
"""With this seed, the first preset drops "for inviting" and the full stop, and BART's last one exchanges the sentences.
The spans of the paper's example, "for inviting" and "last", cannot be drawn: with the authors' placement, a dropped
span always ends the text."""
NO_NOISE = {"permutation": 0.0, "infilling": 0.0, "masking": 0.0, "deletion": 0.0, "rotation": 0.0}


def preset(title: str, objective: str, choices: dict[str, float], text: str = SENTENCE) -> MaskPreset:
    """A preset that also sets the text, so that each can follow any other."""
    return MaskPreset(title, objective, choices, text)


def bart(title: str, noise: dict[str, float], text: str = SENTENCE) -> MaskPreset:
    """A preset of BART with the given noise only."""
    return preset(f"BART: {title}", "denoising", NO_NOISE | noise, text)


PRESETS = (
    preset("T5: 30 %, short spans", "span_corruption", {"rate": 0.3, "mean": 1.5}),
    preset("T5: 15 %, one span", "span_corruption", {"rate": 0.15, "mean": 3.0}),
    preset("T5: half of the tokens", "span_corruption", {"rate": 0.5, "mean": 3.0}),
    preset("MASS: half of the text", "masked_span", {"rate": 0.5}),
    preset("MASS: one token, like BERT", "masked_span", {"rate": 0.05}),
    preset("MASS: the whole text, like GPT", "masked_span", {"rate": 1.0}),
    bart("token masking", {"masking": 0.3}),
    bart("token deletion", {"deletion": 0.3}),
    bart("text infilling", {"infilling": 0.3}),
    bart("document rotation", {"rotation": 1.0}),
    bart("final objective, two sentences", {"permutation": 1.0, "infilling": 0.3}, TWO_SENTENCES),
    preset("PEGASUS: one gap sentence of three", "gap_sentences", {"rate": 0.3}, THREE_SENTENCES),
    preset("PALM: the last sentence of three", "continuation", {"share": 0.8}, THREE_SENTENCES),
)
