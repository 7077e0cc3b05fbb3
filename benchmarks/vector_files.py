"""Loading files of word vectors, ours compared with gensim's: ``python benchmarks/vector_files.py [words] [rounds]``.

Words have random vectors of 100 dimensions, with nine digits in word2vec's text format and five decimals in GloVe's.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from gensim.models import KeyedVectors
from rounds import race, table

from plmlab.vectors import WordVectors, read_vectors, write_word2vec, write_word2vec_binary

SIZE = 100


def files(folder: Path, words: int) -> dict[str, tuple[Path, Callable[[Path], KeyedVectors]]]:
    """Each file's format, its path, and gensim's function to load it."""
    matrix = torch.randn(words, SIZE, generator=torch.Generator().manual_seed(0))
    names = tuple(f"word{i}" for i in range(words))
    vectors = WordVectors(names, matrix)
    text, packed, binary, glove = (folder / name for name in ("v.txt", "v.txt.gz", "v.bin", "v.glove"))
    write_word2vec(vectors, text)
    write_word2vec(vectors, packed)
    write_word2vec_binary(vectors, binary)
    line = "%s" + " %.5f" * SIZE + "\n"
    glove.write_text("".join(line % (name, *row) for name, row in zip(names, matrix.tolist(), strict=True)))
    load = KeyedVectors.load_word2vec_format
    return {"word2vec's text": (text, load), "the same, gzip": (packed, load),
            "word2vec's binary": (binary, lambda path: load(path, binary=True)),
            "GloVe's text": (glove, lambda path: load(path, no_header=True))}


def main(words: int, rounds: int) -> None:
    """Print a table for each format."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, (path, load) in files(Path(folder), words).items():
            ours, theirs = read_vectors(path), load(path)
            assert list(ours.words) == theirs.index_to_key
            assert torch.equal(ours.matrix, torch.from_numpy(theirs.vectors))
            seconds = race({"gensim": lambda path=path, load=load: load(path),
                            "plmlab": lambda path=path: read_vectors(path)}, rounds=rounds, warm_up=1)
            print(f"{name}, {path.stat().st_size / 1e6:,.0f} MB")
            print(table(seconds, words).replace("tokens", "words") + "\n")


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:] or ("20000", "5")))
