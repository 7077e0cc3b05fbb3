"""Weight mapping between our PEGASUS and that of ``transformers``, whose positional encodings are stored as frozen
weights of a fixed length.

Their configuration's defaults are not those of PEGASUS: `read_pegasus` requires ReLU and scaled embeddings, which the
published checkpoints set.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from plmlab.hf.bart import layer_links, our_sizes, their_sizes, with_tied
from plmlab.hf.links import Link, affine, filled, loaded, require, to_ours, to_theirs
from plmlab.layers.positions import SinesThenCosines
from plmlab.models.pegasus import PEGASUS, PEGASUSConfig
from plmlab.weights import weights

if TYPE_CHECKING:
    from transformers import PegasusConfig as TheirConfig
    from transformers import PegasusForConditionalGeneration

TIME = 1024
"""Number of positions of a model that `write_pegasus` makes; ours has no limit."""
OUTPUT_BIAS = "final_logits_bias"
"""Their constant bias of the output layer, which is zero."""
POSITIONS = tuple(f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder"))


def links_of(layers: int) -> list[Link]:
    """Links of all trained weights, relative to ``PegasusForConditionalGeneration``."""
    return [Link("token.weight", "model.shared.weight"), *layer_links(layers),
            *affine("encoder.final_norm", "model.encoder.layer_norm"),
            *affine("decoder.final_norm", "model.decoder.layer_norm")]


def positions(time: int, model: int) -> Tensor:
    """The positional encodings of the first ``time`` positions, [time, model]."""
    return SinesThenCosines(model)(torch.arange(time)[None])[0]


def read_pegasus(config: "TheirConfig", theirs: Mapping[str, Tensor]) -> PEGASUS:
    """Convert the weights of a PEGASUS of ``transformers`` to ours. Raises ValueError for a setting, positional
    encodings or an output bias that our model does not support."""
    require(config, scale_embedding=True, activation_function="relu", decoder_start_token_id=config.pad_token_id)
    for name in POSITIONS:
        if name in theirs and not torch.allclose(
                theirs[name].float().cpu(), positions(len(theirs[name]), config.d_model).float(), atol=1e-2):
            raise ValueError(f"{name} is not the sinusoidal positional encoding; ours cannot load other encodings")
    if OUTPUT_BIAS in theirs and theirs[OUTPUT_BIAS].any():
        raise ValueError(f"{OUTPUT_BIAS} is not zero; our output layer has no bias")
    model = PEGASUS(PEGASUSConfig(**our_sizes(config)))
    return filled(model, to_ours(links_of(config.encoder_layers), theirs))


def write_pegasus(model: PEGASUS) -> "PegasusForConditionalGeneration":
    """Convert our PEGASUS to a ``PegasusForConditionalGeneration`` of ``transformers`` for up to `TIME` tokens. Its
    beginning and end of generated text are not set: pass ``eos_token_id``, the id of [END], to ``generate``."""
    from transformers import PegasusConfig as TheirConfig
    from transformers import PegasusForConditionalGeneration

    ours = model.config
    theirs = PegasusForConditionalGeneration(TheirConfig(
        **their_sizes(ours), max_position_embeddings=TIME, activation_function="relu", scale_embedding=True,
        pad_token_id=ours.start, eos_token_id=None, forced_eos_token_id=None))
    return loaded(theirs, with_tied(to_theirs(links_of(ours.layers), weights(model)))
                  | dict.fromkeys(POSITIONS, positions(TIME, ours.model))
                  | {OUTPUT_BIAS: torch.zeros(1, ours.vocab)})
