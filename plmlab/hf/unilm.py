"""UniLM: ours, and BERT of ``transformers`` with six segments, in which layout its authors published it.

Theirs sees everything unless it is told otherwise: give it the mask of a text as an ``attention_mask`` of four axes,
batch, head (one for all), query and key, which is 0 where a query may look and −∞ where it may not.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from plmlab.hf.bert import BERTS
from plmlab.models.unilm import UniLM, UniLMConfig, UniLMPretraining

if TYPE_CHECKING:
    from transformers import BertConfig


def our_size(config: "BertConfig") -> UniLMConfig:
    """Their configuration as ours; a ValueError where it asks for what ours does not do."""
    return UniLMConfig(**vars(BERTS.size(config)))


UNILMS = replace(BERTS, encoder=UniLM, pretraining=UniLMPretraining, size=our_size)
