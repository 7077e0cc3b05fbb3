"""What loops over plain numbers say of the Layer Lab's vectors, for JavaScript to agree with:
``python tests/labs/layer_fixtures.py`` writes it."""

import json
from base64 import b64encode
from math import sqrt
from pathlib import Path
from typing import Any

import torch
from layer_models import elmo, lab, sentences

from plmlab.world.datasets.occurrences import Occurrence

FILE = Path(__file__).with_name("layer_fixtures.json")
MIXES = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1 / 3, 1 / 3, 1 / 3], [0.71, 0.18, 0.11],
         [0.0, 0.37, 0.63], [0.98, 0.02, 0.0])
Vector = list[float]


def read(row: Occurrence) -> list[Vector]:
    """The vectors of one use, a layer each, from the model itself."""
    with torch.no_grad():
        return [layer[0, row.place + 1].double().tolist() for layer in elmo().layers([list(row.words)])]


def length(vector: Vector) -> float:
    return sqrt(sum(x * x for x in vector))


def cosine(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (length(one) * length(other))


def mixed(layers: list[Vector], lengths: Vector, shares: list[float]) -> Vector:
    return [sum(share * layer[j] / size for share, layer, size in zip(shares, layers, lengths, strict=True))
            for j in range(len(layers[0]))]


def told(near: Vector, may: list[bool], right: list[bool]) -> float:
    """The share of right ones among the nearest that may be taken; those equally near count alike."""
    best = max(score for score, ok in zip(near, may, strict=True) if ok)
    tied = [hit for score, ok, hit in zip(near, may, right, strict=True) if ok and score >= best - 1e-6]
    return sum(tied) / len(tied)


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def of_mix(known: list[list[Vector]], asked: list[list[Vector]], lengths: Vector, shares: Vector) -> dict[str, Any]:
    """The four scores, how near strangers are, and the cosines of the first asked use with all stored ones."""
    rows, others = sentences().known, sentences().asked
    ours, theirs = ([mixed(layers, lengths, shares) for layers in part] for part in (known, asked))
    found: dict[str, list[float]] = {"sense": [], "sense elsewhere": [], "form": [], "form elsewhere": []}
    for vector, use in zip(theirs, others, strict=True):
        near = [cosine(vector, one) for one in ours]
        form, sense, away = ([getattr(row, name) == getattr(use, name) for row in rows]
                             for name in ("word", "sense", "pattern"))
        away = [not same for same in away]
        for name, among in (("", [True] * len(rows)), (" elsewhere", away)):
            own = [ok and same for ok, same in zip(among, form, strict=True)]
            hits = {same for ok, same in zip(own, sense, strict=True) if ok}
            if hits == {True, False}:
                found[f"sense{name}"].append(told(near, own, sense))
            if any(own):
                found[f"form{name}"].append(told(near, among, form))
    strangers = [cosine(a, b) for a, one in zip(ours, rows, strict=True) for b, other in zip(ours, rows, strict=True)
                 if one.word != other.word]
    return {"shares": shares, "scores": {name: mean(values) for name, values in found.items()},
            "counted": {name: len(values) for name, values in found.items()}, "strangers": mean(strangers),
            "near": [cosine(theirs[0], one) for one in ours]}


def cases() -> dict[str, Any]:
    """What Python sends, and what must come of it."""
    made = lab()
    known, asked = ([read(row) for row in part] for part in (sentences().known, sentences().asked))
    lengths = [mean([length(layers[i]) for layers in known]) for i in range(3)]
    store, state = made.store, made.state
    sent = store | {part: {"rows": store[part]["rows"], "vectors": text_of(store[part]["vectors"])}
                    for part in ("known", "asked")}
    told_ = [one | {"vectors": text_of(one["vectors"])} for one in state["sentences"]]
    places = made.places
    two = [read(Occurrence(tuple(one["words"]), place, "", "", "")) for one, place in
           zip(state["sentences"], places, strict=True)]
    half = len(two[0][0]) // 2
    cosines = [[cosine(a[part], b[part]) for part in (slice(half), slice(half, None), slice(None))]
               for a, b in zip(*two, strict=True)]
    return {"store": sent, "sentences": told_, "places": places, "cosines": cosines, "spelling": made.spelling,
            "mixes": [of_mix(known, asked, lengths, shares) for shares in MIXES]}


def text_of(sent: bytes) -> str:
    return b64encode(sent).decode()


def stored() -> str:
    return json.dumps(cases(), ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(stored(), encoding="utf-8")
