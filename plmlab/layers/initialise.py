"""Weight initialization."""

from torch import nn


def initialise(module: nn.Module, std: float = 0.02) -> None:
    """Initialize weights from N(0, ``std``) and biases to 0 (GPT: Radford et al. 2018, §4.1; BERT: Devlin et al.
    2019)."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=std)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


def initialise_residuals(model: nn.Module, layers: int) -> None:
    """Initialize the last projection of each sublayer from N(0, 0.02/√(2 · layers)). The residual path sums two
    sublayer outputs per layer; this keeps its initial scale independent of depth (GPT-2: Radford et al. 2019, §2.3)."""
    for name, weight in model.named_parameters():
        if name.endswith(("out.weight", "down.weight")):
            nn.init.normal_(weight, std=0.02 / (2 * layers) ** 0.5)
