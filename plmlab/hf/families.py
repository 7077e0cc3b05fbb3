"""A family: an encoder and the model that pretrains it, ours and those of ``transformers``, over and back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from plmlab.hf.links import Link, bare, filled, loaded, or_zeros, to_ours, to_theirs, within
from plmlab.weights import weights

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class Family:
    """What `read` and `write` must know of an encoder and its pretraining model.

    Links count from our encoder, or from our pretraining model; and from their pretraining model in either case.

    Attributes:
        encoder, pretraining: our classes.
        theirs: the names of their two.
        part: what our pretraining model calls its encoder.
        size: their configuration → ours; a ValueError where it asks for what ours does not do.
        config: ours, and further arguments → theirs; a ValueError likewise.
        links: our configuration → the links of all weights of the encoder but the pooler.
        pooler: the pooler's, which not all of their models have.
        head: those of the output layer of words, by the first of which a pretraining model is known.
        others: those of other heads, which weights may lack.
        tied: weights that theirs names twice, by their second name.
    """

    encoder: type[nn.Module]
    pretraining: type[nn.Module]
    theirs: tuple[str, str]
    part: str
    size: Callable[[Any], Any]
    config: Callable[..., Any]
    links: Callable[[Any], list[Link]]
    pooler: list[Link]
    head: list[Link]
    others: list[Link]
    tied: list[Link]

    def read(self, config: Any, theirs: Mapping[str, Tensor]) -> nn.Module:
        """Our model with their weights, named as in their pretraining model: with its heads where the weights hold
        them, else the encoder.

        A pooler, or another head, that the weights lack is zero, and a warning says so. ValueError where other weights
        are missing, or the configuration asks for what ours does not do.
        """
        size = self.size(config)
        model: nn.Module
        if self.head[0].theirs in theirs:
            model = self.pretraining(size)
            links = [*within(self.part, self.links(size)), *self.head]
            optional = [*within(self.part, self.pooler), *self.others]
        else:
            model, links, optional = self.encoder(size), self.links(size), self.pooler
        return filled(model, to_ours(links, theirs) | or_zeros(optional, theirs, weights(model)))

    def write(self, model: nn.Module) -> "PreTrainedModel":
        """The model of ``transformers`` with the size and the weights of our encoder, or of our pretraining model. A
        pooler stays behind where theirs has none. ValueError where theirs does not do what ours does."""
        import transformers

        size = model.config
        whole = isinstance(model, self.pretraining)
        theirs: Any = getattr(transformers, self.theirs[whole])(self.config(size))
        prefix, names = bare(theirs), theirs.state_dict()
        links = [*self.links(size), *(link for link in self.pooler if link.theirs.removeprefix(prefix) in names)]
        if whole:
            links = [*within(self.part, links), *self.head, *self.others, *self.tied]
        state = to_theirs(links, weights(model))
        return loaded(theirs, {name.removeprefix(prefix): tensor for name, tensor in state.items()})
