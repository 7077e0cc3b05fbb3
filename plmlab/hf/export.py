"""``to_hf``: convert one of our models, or its tokenizer, to ``transformers``, with the same weights and outputs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from tokenizers import Tokenizer as Backend
from torch import nn

from plmlab.hf.albert import ALBERTS
from plmlab.hf.bart import write_bart
from plmlab.hf.bert import BERTS
from plmlab.hf.electra import DISCRIMINATORS, GENERATORS
from plmlab.hf.gpt import write_gpt, write_gpt2
from plmlab.hf.mpnet import MPNETS
from plmlab.hf.pegasus import write_pegasus
from plmlab.hf.rag import ENCODERS, RAGS, write_dpr, write_rag
from plmlab.hf.roberta import ROBERTAS
from plmlab.hf.t5 import write_t5
from plmlab.hf.task_heads import COUNTERPARTS, write_task_head
from plmlab.hf.unilm import UNILMS
from plmlab.hf.xlnet import XLNETS
from plmlab.models.bart import BART
from plmlab.models.gpt import GPT, GPT2
from plmlab.models.pegasus import PEGASUS
from plmlab.models.t5 import T5, T5v11
from plmlab.text.tokenizers import Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

WRITERS: dict[type[nn.Module], Callable[[Any], "PreTrainedModel"]] = {
    **{ours: family.write for family in (BERTS, UNILMS, XLNETS, MPNETS, ROBERTAS, ALBERTS, GENERATORS, DISCRIMINATORS)
       for ours in (family.encoder, family.pretraining)},
    GPT: write_gpt, GPT2: write_gpt2, T5: write_t5, T5v11: write_t5, BART: write_bart,
    PEGASUS: write_pegasus, **dict.fromkeys(ENCODERS, write_dpr), **dict.fromkeys(RAGS, write_rag),
    **{kind.ours: write_task_head for kind in COUNTERPARTS},
}


def to_hf(model: nn.Module) -> "PreTrainedModel":
    """Convert one of our models to ``transformers``, with the same weights, precision, device and mode.

    BERT and UniLM → ``BertModel``, BERTPretraining and UniLMPretraining → ``BertForPreTraining``, GPT →
    ``OpenAIGPTLMHeadModel``, GPT2 → ``GPT2LMHeadModel``, XLNet → ``XLNetModel``, XLNetPretraining →
    ``XLNetLMHeadModel``, MPNet → ``MPNetModel``, MPNetPretraining → ``MPNetForMaskedLM``, RoBERTa → ``RobertaModel``,
    RoBERTaPretraining → ``RobertaForMaskedLM``, ALBERT → ``AlbertModel``, ALBERTPretraining → ``AlbertForPreTraining``,
    ELECTRA → ``ElectraModel``, ELECTRAGenerator → ``ElectraForMaskedLM``, ELECTRADiscriminator →
    ``ElectraForPreTraining``, T5 and T5v11 → ``T5ForConditionalGeneration``, BART → ``BartForConditionalGeneration``,
    PEGASUS → ``PegasusForConditionalGeneration``, QuestionEncoder → ``DPRQuestionEncoder``, DocumentEncoder →
    ``DPRContextEncoder``, RAGSequence → ``RagSequenceForGeneration``, RAGToken → ``RagTokenForGeneration``;
    SentenceClassifier → ``BertForSequenceClassification``, TokenClassifier → ``BertForTokenClassification``,
    SpanClassifier → ``BertForQuestionAnswering``, and likewise with the other encoders.
    Our pooler is dropped for the classes without one: those of XLNet and ELECTRA, ``MPNetForMaskedLM`` and
    ``RobertaForMaskedLM``. To share the result, use its ``save_pretrained(folder)``, and that of
    ``tokenizer_to_hf(tokenizer)``. Raises ValueError for a model without a counterpart.
    """
    if type(model) not in WRITERS:
        names = ", ".join(kind.__name__ for kind in WRITERS)
        raise ValueError(f"{type(model).__name__} has no counterpart in transformers; give one of {names}")
    theirs: nn.Module = WRITERS[type(model)](model)
    return cast("PreTrainedModel", theirs.train(model.training))


def tokenizer_to_hf(tokenizer: Tokenizer) -> "PreTrainedTokenizerFast":
    """Convert one of our tokenizers to a ``PreTrainedTokenizerFast`` with the same special tokens."""
    from transformers import PreTrainedTokenizerFast

    roles = {"pad": "pad", "unk": "unk", "cls": "cls", "sep": "sep", "mask": "mask", "bos": "start", "eos": "end"}
    ids = {theirs: getattr(tokenizer.vocab, ours) for theirs, ours in roles.items()}
    special = {f"{role}_token": tokenizer.backend.id_to_token(id) for role, id in ids.items() if id is not None}
    return PreTrainedTokenizerFast(tokenizer_object=Backend.from_str(tokenizer.backend.to_str()), **special)
