"""Peak memory of pretraining on a large text: ``python benchmarks/corpus_memory.py [gigabytes] [model]`` (4, gpt2).

Writes a text of that size (random words of the Small World in sentences, twelve sentences per paragraph) to a temporary
folder, runs ``plmlab pretrain MODEL --corpus FILE --steps 3`` on it, and prints its peak resident memory (including
memory-mapped pages that happen to be resident) and its time, most of which is tokenization.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from plmlab import world

BLOCK = 10_000_000
"""Bytes of text that are sampled; they are repeated, with a different number in the paragraphs of each block."""
MARK = "NUMBER"


def paragraphs(size: int) -> Iterator[str]:
    """Paragraphs of random words, each with a placeholder for its number; about ``size`` bytes in total."""
    rng, words = Random(0), world.full().vocabulary

    def sentence() -> str:
        return " ".join(words[int(rng.random() * len(words))] for _ in range(5 + int(rng.random() * 12)))

    written = 0
    while written < size:
        paragraph = f"{MARK} " + " . ".join(sentence() for _ in range(12)) + " .\n\n"
        written += len(paragraph.encode())
        yield paragraph


def write(file: Path, size: int) -> None:
    """Write a text of ``size`` bytes, in which no two blocks are the same."""
    block = "".join(paragraphs(min(size, BLOCK)))
    with file.open("w", encoding="utf-8") as out:
        number = 0
        while out.tell() < size:
            out.write(block.replace(MARK, f"block {number}"))
            number += 1


def main(gigabytes: float, model: str) -> None:
    """Measure, and print the row of a table."""
    with TemporaryDirectory() as room:
        file = Path(room) / "large.txt"
        write(file, round(gigabytes * 1e9))
        size = file.stat().st_size
        begun = time.monotonic()
        subprocess.run([sys.executable, "-m", "plmlab", "pretrain", model, "--corpus", str(file), "--steps", "3",
                        "--out", str(Path(room) / "made")], check=True)
        minutes = (time.monotonic() - begun) / 60
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print("| model | text, GB | peak memory, GB | minutes |\n|---|--:|--:|--:|")
    print(f"| {model} | {size / 1e9:.2f} | {peak / 1e9:.2f} | {minutes:.1f} |")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 4.0, sys.argv[2] if len(sys.argv) > 2 else "gpt2")
