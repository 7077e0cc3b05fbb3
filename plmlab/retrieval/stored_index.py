"""An index in a folder, with what it was made of: the hash of each text, and the fingerprint of the encoder. Vectors of
other texts, or of another encoder, are not used."""

import hashlib
import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from plmlab import git_lfs
from plmlab.atomic import drafted, flush, write
from plmlab.retrieval.hnsw import HNSWIndex
from plmlab.retrieval.index import DocumentIndex, FlatIndex, Parts
from plmlab.retrieval.ivf import IVFIndex

FORMAT = 1
INDEX, VECTORS, DOCUMENTS = "index.json", "vectors.faiss", "documents.safetensors"
KINDS: dict[str, type[DocumentIndex]] = {kind.kind: kind for kind in (FlatIndex, IVFIndex, HNSWIndex)}
TOLD = {"format", "kind", "settings", "encoder", "next_number", "sha256"}
Folder = str | PathLike[str]


class StaleIndex(ValueError):
    """An index that was made of other texts, or by another encoder, and how they differ."""


def save_index(folder: Folder, index: DocumentIndex, *, encoder: str) -> None:
    """Write an index, in the place of one that may be there; the folder appears whole or not at all.

    ``encoder`` is a string that changes when the encoder of the vectors does: `plmlab.weights.fingerprint` of the
    model, and what else it depends on. The texts are not written, only their hashes. OSError where the disk refuses.
    """
    import faiss

    vectors, positions = index.parts()
    documents = {"numbers": np.array([*index.texts], dtype=np.int64), "sha256": _hashes(index.texts),
                 "positions": positions}
    with drafted(Path(folder)) as draft:
        faiss.write_index(vectors, str(draft / VECTORS))
        flush(draft / VECTORS)
        write(draft / DOCUMENTS, safetensors.numpy.save(documents))
        told = {"format": FORMAT, "kind": index.kind, "settings": index.settings, "encoder": encoder,
                "next_number": index.next_number,
                "sha256": {name: _digest(draft / name) for name in (VECTORS, DOCUMENTS)}}
        write(draft / INDEX, (json.dumps(told, indent=2) + "\n").encode())


def load_index(folder: Folder, texts: Mapping[int, str], *, encoder: str) -> DocumentIndex:
    """The index in a folder, if it was made of these texts by this encoder.

    ``texts`` is a document's number → its text, ``dict(enumerate(texts))`` where none was ever removed; ``encoder`` is
    that of `save_index`. A `StaleIndex` says how many texts differ, are missing or are new, or that the encoder is
    another; any other ValueError says what is wrong with the files.
    """
    import faiss

    folder = Path(folder)
    told = _told(folder)
    documents = safetensors.numpy.load_file(folder / DOCUMENTS)
    _same(folder, dict(zip(documents["numbers"].tolist(), documents["sha256"], strict=True)), texts)
    if told["encoder"] != encoder:
        raise StaleIndex(f"the vectors in {folder} were made by another encoder ({told['encoder']:.12}, and not "
                         f"{encoder:.12}): a query of one means nothing to documents of the other. Encode the "
                         "documents again, or load the encoder that the index was made by")
    index = KINDS[told["kind"]](**told["settings"])
    index.resume(Parts(faiss.read_index(str(folder / VECTORS)), documents["positions"].copy()),
                 {number: texts[number] for number in documents["numbers"].tolist()}, told["next_number"])
    return index


def _told(folder: Path) -> dict[str, Any]:
    """What index.json says, once the files are seen to be those that were written with it."""
    if missing := [name for name in (INDEX, VECTORS, DOCUMENTS) if not (folder / name).is_file()]:
        raise ValueError(f"{folder} holds no index: it lacks {', '.join(missing)}. An index is a folder with {INDEX}, "
                         f"{VECTORS} and {DOCUMENTS}, as plmlab.retrieval.save_index writes it")
    if pointers := git_lfs.pointers(*(folder / name for name in (INDEX, VECTORS, DOCUMENTS))):
        raise ValueError(f"{folder} is not whole: {pointers}")
    try:
        told = json.loads((folder / INDEX).read_bytes())
    except ValueError as problem:
        raise ValueError(f"{folder / INDEX} is not JSON: {problem}") from None
    if not isinstance(told, dict) or not set(told) >= TOLD:
        raise ValueError(f"{folder / INDEX} was not written by plmlab.retrieval.save_index: it lacks one of "
                         + ", ".join(sorted(TOLD)))
    if told["format"] != FORMAT or told["kind"] not in KINDS:
        raise ValueError(f"{folder} holds an index of kind {told['kind']!r:.60} in format {told['format']}, and this "
                         f"plmlab reads {', '.join(KINDS)} in format {FORMAT}: use the plmlab that wrote it, or a "
                         "newer one")
    for name in (VECTORS, DOCUMENTS):
        if _digest(folder / name) != told["sha256"].get(name):
            raise ValueError(f"{folder / name} was changed or cut short since it was saved (its hash is another): "
                             "copy the folder again, or encode the documents again")
    return told


def _same(folder: Path, kept: Mapping[int, np.ndarray], texts: Mapping[int, str]) -> None:
    """A `StaleIndex` where the texts are not those that were kept as hashes."""
    both = {number: texts[number] for number in kept if number in texts}
    differ = sum(not np.array_equal(kept[number], found)
                 for number, found in zip(both, _hashes(both), strict=True))
    missing, new = len(kept) - len(both), len(texts) - len(both)
    if differ or missing or new:
        raise StaleIndex(f"the index in {folder} was made of {len(kept)} documents, and {len(texts)} texts were given: "
                         f"{differ} differ, {missing} missing, {new} new. Encode what has changed again, or give "
                         "the texts that the index was made of, each under its number")


def _hashes(texts: Mapping[int, str]) -> np.ndarray:
    """The sha256 of each text, a row of 32 bytes."""
    joined = b"".join(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts.values())
    return np.frombuffer(joined, dtype=np.uint8).reshape(len(texts), 32)


def _digest(file: Path) -> str:
    """The sha256 of a file of any size."""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
