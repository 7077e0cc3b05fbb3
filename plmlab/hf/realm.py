"""Loading of REALM's released embedder, in the format of ``transformers`` 4, into our `DualEncoder`.

Later versions of ``transformers`` do not support REALM. The files are those of a BERT whose weight names begin with
``realm.``, with a linear layer ``cls.dense`` and a LayerNorm ``cls.LayerNorm`` on the pooled [CLS]. They also contain a
masked-LM head, ``cls.predictions``, which the embedder does not use and which is dropped. The LayerNorm adds
``layer_norm_eps``, 1e-12 in the released configuration, to the variance, as in ``transformers``; the authors'
TensorFlow code adds 0.001.

The format is taken from the code of ``transformers`` 4. None of the released files was available for testing.
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
    """Load the embedder from a folder with config.json and model.safetensors, such as that of
    ``google/realm-cc-news-pretrained-embedder``, in evaluation mode and float32.

    Raises NotLoadable, a ValueError, if a file or a weight is missing, if a shape does not match the configuration, or
    if the weights exist only as pytorch_model.bin.
    """
    place = Path(folder).expanduser()
    try:
        size = _size(_config(place))
        theirs = _weights(place)
        ours = to_ours(_links(size), theirs)
        model = DualEncoder(size)
        if problems := differences(model, ours):
            raise ValueError("; ".join(problems[:3]))
        return filled(model, ours).float().eval()
    except NotLoadable:
        raise
    except (OSError, ValueError, AttributeError, TypeError, SafetensorError) as error:
        reason = git_lfs.pointers(place / CONFIG, place / WEIGHTS) or error
        raise NotLoadable(f"the embedder in {str(place)!r} cannot be loaded: {reason}") from None


def _config(place: Path) -> Any:
    """Read the configuration in the folder."""
    file = place / CONFIG
    if not file.is_file():
        raise NotLoadable(f"there is no {file}; give a folder with {CONFIG} and {WEIGHTS}")
    config = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(config, dict) or config.get("model_type") != "realm":
        raise NotLoadable(f"{file} is not the configuration of a REALM: its model_type is not 'realm'; load a BERT "
                          "with from_hf")
    return SimpleNamespace(**config)


def _weights(place: Path) -> Mapping[str, Tensor]:
    file = place / WEIGHTS
    if file.is_file():
        return load_file(file)
    if (place / PICKLED).is_file():
        raise NotLoadable(f"{str(place)!r} contains its weights only as {PICKLED}. This is a pickle, which can run "
                          f"arbitrary code when it is loaded, and is not supported; provide them as {WEIGHTS}")
    raise NotLoadable(f"there is no {file}; give a folder with {CONFIG} and {WEIGHTS}")


def _size(config: Any) -> DualEncoderConfig:
    return DualEncoderConfig(**asdict(BERTS.size(config)), width=config.retriever_proj_size)


def _links(size: BERTConfig) -> list[Link]:
    """Links of all weights."""
    bert = [replace(link, theirs="realm." + link.theirs.removeprefix("bert."))
            for link in [*BERTS.links(size), *BERTS.pooler]]
    return [*within("encoder", bert), *affine("projection", "cls.dense"), *affine("norm", "cls.LayerNorm")]
