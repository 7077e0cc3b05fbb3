"""Model families: an encoder and its pretraining model, converted between plmlab and ``transformers``."""

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
    """The mapping that `read` and `write` use for an encoder and its pretraining model.

    "Ours" refers to plmlab, "theirs" to ``transformers``. In the links, our names are relative to our encoder or to our
    pretraining model; their names are always relative to their pretraining model.

    Attributes:
        encoder, pretraining: our classes.
        theirs: the names of their two classes.
        part: the attribute of our pretraining model that holds the encoder.
        size: their configuration → ours; raises ValueError for a setting that our model does not support.
        config: our configuration and additional arguments → theirs; raises ValueError likewise.
        links: our configuration → the links of all encoder weights except the pooler.
        pooler: the links of the pooler, which some of their models lack.
        head: the links of the token output layer. The first one identifies a pretraining model.
        others: the links of other heads, which a checkpoint may lack.
        tied: the links of tied weights that their checkpoints store under a second name.
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
        """Build our model from ``transformers`` weights, named as in the pretraining model: our pretraining model if
        the weights include the token output layer, otherwise our encoder.

        A missing pooler or other head is initialized to zero, with a warning. Raises ValueError if other weights are
        missing, or for a setting that our model does not support.
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
        """Convert our encoder or pretraining model to ``transformers``. Our pooler is dropped if their model has none.
        Raises ValueError for a setting that their model does not support."""
        import transformers

        size = model.config
        has_head = isinstance(model, self.pretraining)
        theirs: Any = getattr(transformers, self.theirs[has_head])(self.config(size))
        prefix, names = bare(theirs), theirs.state_dict()
        links = [*self.links(size), *(link for link in self.pooler if link.theirs.removeprefix(prefix) in names)]
        if has_head:
            links = [*within(self.part, links), *self.head, *self.others, *self.tied]
        state = to_theirs(links, weights(model))
        return loaded(theirs, {name.removeprefix(prefix): tensor for name, tensor in state.items()})
