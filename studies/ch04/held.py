"""What does the encoder's last state still hold? A linear probe reads the source's words off it, place by place.

"The last state is a summary of the sentence": then each word could be read off it, the first as well as the last.
Places are counted from both ends, after a sceptic: of places counted from the beginning alone one learns nothing of the
words that were read last.
Beside the probe stand what one knows without looking at the state: the commonest word of each place, and the commonest
one between its two neighbours, if someone told them; the same probe on an encoder that was never trained; and what the
decoder itself makes of the state: whether the sentence that holds the word is translated rightly, in its place.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from plmlab.chapters.ch04.arms import ARMS, LONGER, SEEDS, UPDATES
from plmlab.chapters.ch04.translation import ids, new, pairs, pieces, test_set, translations
from plmlab.models.seq2seq import Seq2Seq
from plmlab.recipes import Parts, seed_summary
from plmlab.world.datasets.passages import Passage
from studies.ch04.trainings import STUDY

PROBED = {"fixed": LONGER, "fixed, 32": LONGER, "backwards": UPDATES, "general": LONGER}
AIM, EACH = 30, 12
"""Passages of 30 words at the most; so many words at each end are asked."""
PLACES = (*range(EACH), *range(-EACH, 0))
"""The places that are asked, those from the end below 0."""
LEARNED, ASKED = 4000, 500
ROUNDS, RATE, DECAY = 300, 0.03, 1e-3


@torch.no_grad()
def last_states(model: Seq2Seq, some: Sequence[Passage], name: str) -> Float[Tensor, "batch state"]:
    """The encoder's last state, hidden state and memory side by side."""
    states = []
    for begin in range(0, len(some), 100):
        _, carried = model.eval().read(pairs(some[begin:begin + 100], ARMS[name]).source)
        states.append(torch.cat([vectors[-1] for vectors in carried], -1))
    return torch.cat(states)


def asked_words(some: Sequence[Passage]) -> Int[Tensor, "batch place"]:
    """The ids of the words at `PLACES` of each source."""
    return torch.tensor([[ids()[passage.english[place]] for place in PLACES] for passage in some])


def long_enough(seed: int | str, count: int) -> list[Passage]:
    """Passages in which no word stands at two of the `PLACES`."""
    return [passage for passage in test_set(AIM, seed, 2 * count, "train" if seed == "learned" else "test")
            if len(passage.english) >= 2 * EACH][:count]


def probed(states: Float[Tensor, "batch state"], words: Int[Tensor, "batch place"], fresh: Float[Tensor, "more state"],
           asked: Int[Tensor, "more place"]) -> list[float]:
    """The share of ``asked`` words, place by place, that linear readers name from ``fresh`` states, having learned from
    others: one reader a place, softmax over all words, by Adam on all at once."""
    mean, scale = states.mean(0), states.std(0) + 1e-6
    known, new_ones = (states - mean) / scale, (fresh - mean) / scale
    names = words.unique()
    classes = torch.searchsorted(names, words)
    weights = torch.zeros(words.shape[1], states.shape[1], len(names), requires_grad=True)
    bias = torch.zeros(words.shape[1], 1, len(names), requires_grad=True)
    optimiser = torch.optim.AdamW([weights, bias], lr=RATE, weight_decay=DECAY)
    for _ in range(ROUNDS):
        optimiser.zero_grad()
        F.cross_entropy((known @ weights + bias).flatten(0, 1), classes.T.flatten()).backward()
        optimiser.step()
    with torch.no_grad():
        said = names[(new_ones @ weights + bias).argmax(-1)]
    return (said == asked.T).float().mean(-1).tolist()


def written_rightly(model: Seq2Seq, some: Sequence[Passage], name: str) -> list[float]:
    """Place → the share of passages in which the sentence that holds its word is written rightly, where it should."""
    shares = []
    for text, passage in zip(translations(model, some, ARMS[name]), some, strict=True):
        ours, theirs = pieces(text), pieces(passage.chinese)
        of = [number for number, words in enumerate(pieces(passage.english)) for _ in words]
        shares.append([ours[of[place]:of[place] + 1] == [theirs[of[place]]] for place in PLACES])
    return [fmean(column) for column in zip(*shares, strict=True)]


def probe(folder: str, name: str, seed: int) -> dict[str, list[float]]:
    """Place → the share of words read off an arm's last state, ``trained`` and ``untrained``, and of those whose
    sentence is ``written`` rightly."""
    learned, asked = long_enough("learned", LEARNED), long_enough(seed, ASKED)
    told = {}
    kept = STUDY.trained(folder, name, updates=PROBED[name], seed=seed)
    for which, model in (("trained", kept), ("untrained", new(ARMS[name], seed))):
        assert isinstance(model, Seq2Seq)
        if which == "trained":
            told["written"] = written_rightly(model, asked, name)
        told[which] = probed(last_states(model, learned, name), asked_words(learned), last_states(model, asked, name),
                             asked_words(asked))
    return told


def guessed(seed: int) -> dict[str, list[float]]:
    """Place → the share of words that are the ``commonest`` one there in the text to learn from, and the commonest one
    between those ``neighbours``, anywhere."""
    learned, asked = long_enough("learned", LEARNED), long_enough(seed, ASKED)
    there = [Counter(passage.english[place] for passage in learned) for place in PLACES]
    between: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for passage in learned:
        around = ("", *passage.english, "")
        for before, word, after in zip(around, passage.english, around[2:], strict=False):
            between[before, after][word] += 1

    def told(passage: Passage, place: int) -> str:
        """The commonest word between a place's neighbours."""
        around, position = ("", *passage.english, ""), place % len(passage.english)
        words = between[around[position], around[position + 2]]
        return words.most_common(1)[0][0] if words else ""

    return {"commonest": [fmean(passage.english[place] == words.most_common(1)[0][0] for passage in asked)
                          for place, words in zip(PLACES, there, strict=True)],
            "neighbours": [fmean(passage.english[place] == told(passage, place) for passage in asked)
                           for place in PLACES]}


def measure(parts: Parts) -> dict[str, Any]:
    """``places`` asked, those from the end below 0; ``guessed``: without a state → the share right at each place, with
    spread; ``arms``: arm → ``trained``, ``untrained`` and ``written`` → the same."""
    folder = str(parts.folder)
    runs = parts(probe, [(folder, name, seed) for name in PROBED for seed in SEEDS])
    guesses = parts(guessed, [(seed,) for seed in SEEDS])
    return {"places": list(PLACES), "aim": AIM,
            "guessed": {which: [seed_summary({seed: guesses[seed,][which][number] for seed in SEEDS})
                                for number in range(len(PLACES))] for which in ("commonest", "neighbours")},
            "arms": {name: {which: [seed_summary({seed: runs[folder, name, seed][which][number] for seed in SEEDS})
                                    for number in range(len(PLACES))] for which in ("trained", "untrained", "written")}
                     for name in PROBED}}
