"""How weights begin."""

from torch import nn


def initialise(module: nn.Module) -> None:
    """Weights from N(0, 0.02), biases 0 (GPT: Radford et al. 2018, §4.1; BERT: Devlin et al. 2019)."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
