"""ERNIE 1.0 (Sun et al. 2019, "Enhanced Representation through Knowledge Integration"): BERT whose objective masks
whole entities.

The model and its input format are BERT's; see `plmlab.objectives.entities_masked` for the objective, which needs texts
with known entities. ERNIE 2.0 (Sun et al. 2020) is another model: it adds task embeddings and is trained on a growing
set of tasks (continual multi-task learning). ``ErnieForPreTraining`` of ``transformers`` has these embeddings; with
``use_task_id=False`` it equals BERT, and therefore this model.

Differences from the paper: there is no phrase-level masking (§3.2.2) and no dialogue language model. Differences from
the authors' code: there is no next-sentence prediction, because our text pairs have no entities, so the masked-LM head
is trained alone; the activation is GELU, as in BERT, where the authors' configuration has ReLU.
"""

from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import entities_masked
from plmlab.text.tokenizers import Tokenizer


@model("ernie-pretraining", BERTConfig, ENCODER,
       Pretraining("ernie", entities_masked, Tokenizer.wordpiece, added=2))
class ERNIEPretraining(BERTPretraining):
    """BERT with its two pretraining heads, pretrained with entity-level masking."""
