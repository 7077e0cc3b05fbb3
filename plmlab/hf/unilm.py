"""Weight mapping between our UniLM and a BERT of ``transformers`` with six segments, the format in which the authors
published UniLM.

The ``transformers`` model uses full attention by default. For another mask, pass it a four-dimensional
``attention_mask``, [batch head query key] with a single head, which is 0 where a query can attend to a key and −∞ where
it is blocked.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from plmlab.hf.bert import BERTS
from plmlab.models.unilm import UniLM, UniLMConfig, UniLMPretraining

if TYPE_CHECKING:
    from transformers import BertConfig


def our_size(config: "BertConfig") -> UniLMConfig:
    """Convert a ``transformers`` configuration to ours. Raises ValueError for a setting that our model does not
    support."""
    return UniLMConfig(**vars(BERTS.size(config)))


UNILMS = replace(BERTS, encoder=UniLM, pretraining=UniLMPretraining, size=our_size)
