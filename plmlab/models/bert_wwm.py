"""BERT with whole-word masking (Devlin et al., update of May 31st, 2019; Cui et al. 2019 for Chinese): BERT whose
objective masks all subwords of a word together.

The model and its input format are BERT's, and so are the predictions, one softmax per subword. Only the choice of the
masked positions differs: see `plmlab.objectives.whole_words`.
"""

from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import whole_words
from plmlab.objectives.next_sentence import with_nsp
from plmlab.text.tokenizers import Tokenizer


@model("bert-wwm-pretraining", BERTConfig, ENCODER,
       Pretraining("bert-wwm", whole_words, Tokenizer.wordpiece, added=2, pairs=with_nsp(whole_words)))
class WholeWordBERTPretraining(BERTPretraining):
    """BERT with its two pretraining heads, pretrained with whole-word masking."""
