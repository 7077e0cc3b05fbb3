"""Shared weights between the notebook's layers and `TransformerXL`, for a comparison of outputs and gradients."""

from torch import nn

from plmlab.models.transformer_xl import TransformerXL

NAMES = {"norm1": "attention_residual.norm", "norm2": "feed_forward_residual.norm", "up": "feed_forward.up",
         "down": "feed_forward.down", "attention.u": "attention.content_bias", "attention.w": "attention.position_bias"}
"""Names of parameters in the notebook's layer → names in the model's."""


def share_weights(layers: nn.ModuleList, reference: TransformerXL) -> list[tuple[nn.Parameter, nn.Parameter]]:
    """Draw random weights for the layers of ``reference``, and make the notebook's ``layers`` share them. Returns the
    pairs of parameters, which still have gradients of their own."""
    pairs = []
    for name, mine in layers.named_parameters():
        path = f"layers.{name}"
        for short, long in NAMES.items():
            path = path.replace(short, long)
        other = reference.get_parameter(path)
        nn.init.normal_(other, std=0.3)
        mine.data = other.data.view_as(mine)
        pairs.append((mine, other))
    return pairs
