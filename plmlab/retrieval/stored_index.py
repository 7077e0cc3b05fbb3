"""Storage of an index in a folder, with a hash of each text and the fingerprint of the encoder, so that vectors of
other texts or of another encoder are never used."""

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
    """Raised if an index was built from other texts or with another encoder; the message lists the differences."""


def save_index(folder: Folder, index: DocumentIndex, *, encoder: str) -> None:
    """Write an index atomically, replacing an existing one.

    ``encoder`` is a string that identifies the encoder of the vectors: `plmlab.weights.fingerprint` of the model, plus
    anything else that the vectors depend on. Only hashes of the texts are stored. Raises OSError if the disk cannot be
    written.
    """
    import faiss

    vectors, positions = index.parts()
    documents = {"numbers": np.array([*index.texts], dtype=np.int64), "sha256": _hashes(index.texts),
                 "positions": positions}
    with drafted(Path(folder)) as draft:
        faiss.write_index(vectors, str(draft / VECTORS))
        flush(draft / VECTORS)
        write(draft / DOCUMENTS, safetensors.numpy.save(documents))
        header = {"format": FORMAT, "kind": index.kind, "settings": index.settings, "encoder": encoder,
                  "next_number": index.next_number,
                  "sha256": {name: _digest(draft / name) for name in (VECTORS, DOCUMENTS)}}
        write(draft / INDEX, (json.dumps(header, indent=2) + "\n").encode())


def load_index(folder: Folder, texts: Mapping[int, str], *, encoder: str) -> DocumentIndex:
    """Load the index in a folder if it was built from these texts with this encoder.

    ``texts`` maps document numbers to texts (``dict(enumerate(texts))`` if no document was ever removed); ``encoder``
    is as in `save_index`. Raises StaleIndex if texts differ, are missing or are new, or if the encoder differs, and
    ValueError if the files are invalid.
    """
    import faiss

    folder = Path(folder)
    header = _told(folder)
    documents = safetensors.numpy.load_file(folder / DOCUMENTS)
    _same(folder, dict(zip(documents["numbers"].tolist(), documents["sha256"], strict=True)), texts)
    if header["encoder"] != encoder:
        raise StaleIndex(f"the vectors in {folder} were made by another encoder ({header['encoder']:.12}, not "
                         f"{encoder:.12}), so queries and documents are not comparable. Encode the documents again, or "
                         "load the encoder that the index was built with")
    index = KINDS[header["kind"]](**header["settings"])
    index.resume(Parts(faiss.read_index(str(folder / VECTORS)), documents["positions"].copy()),
                 {number: texts[number] for number in documents["numbers"].tolist()}, header["next_number"])
    return index


def _told(folder: Path) -> dict[str, Any]:
    """The contents of index.json, after verifying the files against their hashes."""
    if missing := [name for name in (INDEX, VECTORS, DOCUMENTS) if not (folder / name).is_file()]:
        raise ValueError(f"{folder} holds no index: it lacks {', '.join(missing)}. An index is a folder with {INDEX}, "
                         f"{VECTORS} and {DOCUMENTS}, written by plmlab.retrieval.save_index")
    if pointers := git_lfs.pointers(*(folder / name for name in (INDEX, VECTORS, DOCUMENTS))):
        raise ValueError(f"{folder} is incomplete: {pointers}")
    try:
        header = json.loads((folder / INDEX).read_bytes())
    except ValueError as problem:
        raise ValueError(f"{folder / INDEX} is not JSON: {problem}") from None
    if not isinstance(header, dict) or not set(header) >= TOLD:
        raise ValueError(f"{folder / INDEX} was not written by plmlab.retrieval.save_index: it lacks one of "
                         + ", ".join(sorted(TOLD)))
    if header["format"] != FORMAT or header["kind"] not in KINDS:
        raise ValueError(f"{folder} holds an index of kind {header['kind']!r:.60} in format {header['format']}, but "
                         f"this plmlab reads {', '.join(KINDS)} in format {FORMAT}: use the plmlab that wrote it, or a "
                         "newer one")
    for name in (VECTORS, DOCUMENTS):
        if _digest(folder / name) != header["sha256"].get(name):
            raise ValueError(f"{folder / name} was changed or truncated since it was saved (its hash differs): "
                             "copy the folder again, or encode the documents again")
    return header


def _same(folder: Path, kept: Mapping[int, np.ndarray], texts: Mapping[int, str]) -> None:
    """Raise StaleIndex if the texts do not match the stored hashes."""
    both = {number: texts[number] for number in kept if number in texts}
    differ = sum(not np.array_equal(kept[number], found)
                 for number, found in zip(both, _hashes(both), strict=True))
    missing, new = len(kept) - len(both), len(texts) - len(both)
    if differ or missing or new:
        raise StaleIndex(f"the index in {folder} was built from {len(kept)} documents, and {len(texts)} texts were "
                         f"given: {differ} differ, {missing} missing, {new} new. Encode the changed documents again, "
                         "or give the texts that the index was built from, each under its number")


def _hashes(texts: Mapping[int, str]) -> np.ndarray:
    """The SHA-256 of each text, one row of 32 bytes per text."""
    joined = b"".join(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts.values())
    return np.frombuffer(joined, dtype=np.uint8).reshape(len(texts), 32)


def _digest(file: Path) -> str:
    """The SHA-256 of a file of any size."""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
