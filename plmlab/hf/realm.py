"""REALM's released embedder, as ``transformers`` up to version 4 kept it, read into our `DualEncoder`.

The versions since then have no code for it, but its files are a BERT's whose names begin with ``realm.``, with a linear
layer ``cls.dense`` and a norm ``cls.LayerNorm`` on the pooled [CLS]. A head for hidden words, ``cls.predictions``, lies
beside them and is left away: the embedder has no use for it. The norm adds ``layer_norm_eps``, 1e-12 in the released
configuration, to the variance, as in ``transformers``; the authors' TensorFlow code adds 0.001.

What is known of these files here is what the code of ``transformers`` 4 says. None of the released ones was at hand to
be tried.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from plmlab import git_lfs
from plmlab.hf.bert import BERTS
from plmlab.hf.links import Link, affine, filled, to_ours, within
from plmlab.hf.load import NotLoadable
from plmlab.models.bert import BERTConfig
from plmlab.models.dual_encoder import DualEncoder, DualEncoderConfig
from plmlab.weights import differences

CONFIG, WEIGHTS, PICKLED = "config.json", "model.safetensors", "pytorch_model.bin"


def embedder_from_folder(folder: str | Path) -> DualEncoder:
    """The embedder in a folder with config.json and model.safetensors, such as that of
    ``google/realm-cc-news-pretrained-embedder``, ready to be asked (``eval``), in float32.

    NotLoadable, a ValueError, where a file or a weight is missing or has another shape than the configuration says, and
    for weights that are only there as pytorch_model.bin.
    """
    place = Path(folder).expanduser()
    try:
        size = _size(_told(place))
        theirs = _weights(place)
        ours = to_ours(_links(size), theirs)
        model = DualEncoder(size)
        if problems := differences(model, ours):
            raise ValueError("; ".join(problems[:3]))
        return filled(model, ours).float().eval()
    except NotLoadable:
        raise
    except (OSError, ValueError, AttributeError, TypeError, SafetensorError) as error:
        what = git_lfs.pointers(place / CONFIG, place / WEIGHTS) or error
        raise NotLoadable(f"the embedder in {str(place)!r} cannot be loaded: {what}") from None


def _told(place: Path) -> Any:
    """The configuration."""
    file = place / CONFIG
    if not file.is_file():
        raise NotLoadable(f"there is no {file}; give a folder with {CONFIG} and {WEIGHTS}")
    told = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(told, dict) or told.get("model_type") != "realm":
        raise NotLoadable(f"{file} does not describe a REALM, for its model_type is not 'realm'; from_hf reads a BERT")
    return SimpleNamespace(**told)


def _weights(place: Path) -> Mapping[str, Tensor]:
    file = place / WEIGHTS
    if file.is_file():
        return load_file(file)
    if (place / PICKLED).is_file():
        raise NotLoadable(f"{str(place)!r} holds its weights as {PICKLED} only. This is a pickle, which may run any "
                          f"code when it is opened, and it is not read here; get them as {WEIGHTS}")
    raise NotLoadable(f"there is no {file}; give a folder with {CONFIG} and {WEIGHTS}")


def _size(config: Any) -> DualEncoderConfig:
    return DualEncoderConfig(**asdict(BERTS.size(config)), width=config.retriever_proj_size)


def _links(size: BERTConfig) -> list[Link]:
    """The links of all weights."""
    bert = [replace(link, theirs="realm." + link.theirs.removeprefix("bert."))
            for link in [*BERTS.links(size), *BERTS.pooler]]
    return [*within("encoder", bert), *affine("projection", "cls.dense"), *affine("norm", "cls.LayerNorm")]
