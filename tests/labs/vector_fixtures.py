"""What gensim and numpy say of word vectors, for JavaScript to agree with: ``python tests/labs/vector_fixtures.py``
writes it. They are given the numbers before these are packed, so that what packing costs is in the comparison."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import torch

from plmlab.labs import VectorLab
from plmlab.vectors import WordVectors

FILE = Path(__file__).with_name("vector_fixtures.json")
WORDS = ("the", "king", "queen", "man", "woman", "girl", "girls", "Zürich", "猫", "مرحبا", "🦊", "<img src=x>", "cup",
         "cups", "walk", "walked")
WIDTH = 7
UPDATES = (0, 100, 2500)
ASKED = ("man", "king", "woman", "queen")
AXES = (("man", "woman"), ("girl", "girls"))


def snapshots() -> dict[int, WordVectors]:
    """Random vectors that grow and turn, of very different lengths."""
    generator = torch.Generator().manual_seed(0)
    start, end = (torch.randn(len(WORDS), WIDTH, generator=generator) for _ in range(2))
    lengths = torch.logspace(1.5, -2, len(WORDS))[:, None]
    found = {update: WordVectors(WORDS, lengths * ((1 - share) * start + share * end))
             for update, share in zip(UPDATES, (0.0, 0.3, 1.0), strict=True)}
    return found


def twins() -> list[WordVectors]:
    """Vectors of two more seeds, the first near to the last snapshot, in another order and with a word more."""
    generator = torch.Generator().manual_seed(1)
    last = snapshots()[UPDATES[-1]].matrix
    near = last + 0.3 * last.norm(dim=-1, keepdim=True) * torch.randn(last.shape, generator=generator)
    first = WordVectors((*reversed(WORDS), "more"), torch.cat([near.flip(0), torch.ones(1, WIDTH)]))
    return [first, WordVectors(WORDS, torch.randn(len(WORDS), WIDTH, generator=generator))]


def lab(**more: Any) -> VectorLab:
    """A lab of them, with groups, counts and twins."""
    groups = {"people": ["king", "queen", "man", "woman"], "things": ["cup", "cups"]}
    return VectorLab(snapshots(), **{"word": "king", "analogy": ASKED, "groups": groups, "twins": twins(),
                                     "counts": range(len(WORDS), 0, -1), **more})


def keyed(vectors: WordVectors) -> Any:
    """The same vectors in gensim."""
    from gensim.models import KeyedVectors
    made = KeyedVectors(vectors.matrix.shape[1])
    made.add_vectors(list(vectors.words), vectors.matrix.numpy())
    return made


def of_snapshot(vectors: WordVectors) -> dict[str, Any]:
    """gensim's neighbours and analogies, and numpy's dot products."""
    gensim, matrix = keyed(vectors), vectors.matrix.double().numpy()
    a, b, c, d = ASKED
    left = [word for word, _ in gensim.most_similar(positive=[b, c], negative=[a], topn=len(WORDS))]
    unit = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    target = unit[WORDS.index(b)] - unit[WORDS.index(a)] + unit[WORDS.index(c)]
    cosines = unit @ target / np.linalg.norm(target)
    alone = {name: [other for other, _ in gensim.most_similar(word, topn=len(WORDS)) if other not in (a, b, c)]
             for name, word in (("b", b), ("c", c))}
    dots = matrix @ matrix[1]
    by_dot = [int(row) for row in np.argsort(-dots) if row != 1]
    return {
        "near": [[word, float(score)] for word, score in gensim.most_similar("king", topn=10)],
        "dot": [[WORDS[row], float(dots[row])] for row in by_dot[:10]],
        "kept": [[WORDS[row], float(cosines[row])] for row in np.argsort(-cosines)[:8]],
        "left": left[:8],
        "ranks": {"added": left.index(d) + 1, "b": alone["b"].index(d) + 1, "c": alone["c"].index(d) + 1},
        "unit": unit.round(7).tolist(),
    }


def pictures(found: dict[int, WordVectors]) -> dict[str, Any]:
    """Where words stand, [snapshot][word][axis], on both kinds of axes, which are the last snapshot's."""
    units = [one.matrix.double().numpy() for one in found.values()]
    units = [one / np.maximum(np.linalg.norm(one, axis=1, keepdims=True), 1e-12) for one in units]
    ends = units[-1]
    steps = np.stack([ends[WORDS.index(to)] - ends[WORDS.index(start)] for start, to in AXES])
    directions = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    mean = ends.mean(0)
    _, sizes, axes = np.linalg.svd(ends - mean)
    axes = axes[:2] * np.sign(axes[np.arange(2), np.abs(axes[:2]).argmax(1)])[:, None]
    return {"words": [(one @ directions.T).tolist() for one in units],
            "principal": [((one - mean) @ axes.T).tolist() for one in units],
            "shares": (sizes[:2] ** 2 / (sizes ** 2).sum()).tolist(),
            "angle": float(directions[0] @ directions[1])}


def seeds() -> list[dict[str, list[str]]]:
    """gensim's ten nearest to king in each other seed, among the words that are shown."""
    return [{"cosine": [word for word, _ in keyed(twin.only(WORDS)).most_similar("king", topn=10)]} for twin in twins()]


def cases() -> dict[str, Any]:
    """What Python sends, and what must come of it."""
    found = snapshots()
    state = lab().state
    sent = {name: b64encode(state[name]).decode() for name in ("numbers", "steps")}
    return {"state": state | sent | {"twins": [b64encode(twin).decode() for twin in state["twins"]]},
            "asked": list(ASKED), "axes": [list(pair) for pair in AXES],
            "snapshots": [of_snapshot(one) for one in found.values()], "pictures": pictures(found), "seeds": seeds()}


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), ensure_ascii=False) + "\n", encoding="utf-8")
