"""Which source words does the encoder's last state encode? Linear probes predict the word at each position from this
state.

If "the last state is a summary of the sentence", every word can be decoded from it, the first as well as the last.
Positions are counted from both ends (a reviewer's suggestion), because positions counted from the beginning alone say
nothing about the last words of the source. Baselines: the most frequent word at each position; the most frequent word
between the two neighbours, if these are given; and the same probe on an untrained encoder. For comparison, what the
decoder extracts from the state: whether the sentence that contains the word is translated correctly, in its place.
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
from plmlab.chapters.ch04.translation import ids, new, pairs, split_sentences, test_set, translations
from plmlab.models.seq2seq import Seq2Seq
from plmlab.recipes import Parts, seed_summary
from plmlab.world.datasets.passages import Passage
from studies.ch04.trainings import STUDY

PROBED = {"fixed": LONGER, "fixed, 32": LONGER, "backwards": UPDATES, "general": LONGER}
AIM, EACH = 30, 12
"""Maximum passage length in words, and the number of words probed at each end."""
PLACES = (*range(EACH), *range(-EACH, 0))
"""The probed positions; those counted from the end are negative."""
LEARNED, ASKED = 4000, 500
ROUNDS, RATE, DECAY = 300, 0.03, 1e-3


@torch.no_grad()
def last_states(model: Seq2Seq, some: Sequence[Passage], name: str) -> Float[Tensor, "batch state"]:
    """The encoder's last state: the hidden state and the cell state, concatenated."""
    states = []
    for begin in range(0, len(some), 100):
        _, carried = model.eval().read(pairs(some[begin:begin + 100], ARMS[name]).source)
        states.append(torch.cat([vectors[-1] for vectors in carried], -1))
    return torch.cat(states)


def asked_words(some: Sequence[Passage]) -> Int[Tensor, "batch place"]:
    """Token ids of the words at the `PLACES` of each source."""
    return torch.tensor([[ids()[passage.english[index]] for index in PLACES] for passage in some])


def long_enough(seed: int | str, count: int) -> list[Passage]:
    """``count`` passages that are long enough for the `PLACES` to be distinct."""
    return [passage for passage in test_set(AIM, seed, 2 * count, "train" if seed == "learned" else "test")
            if len(passage.english) >= 2 * EACH][:count]


def probed(states: Float[Tensor, "batch state"], words: Int[Tensor, "batch place"], fresh: Float[Tensor, "more state"],
           asked: Int[Tensor, "more place"]) -> list[float]:
    """Accuracy of linear probes at each position, trained on ``states`` and tested on ``fresh`` states.

    Each position has a softmax classifier over all words, trained with AdamW on the full batch.
    """
    mean, scale = states.mean(0), states.std(0) + 1e-6
    train, test = (states - mean) / scale, (fresh - mean) / scale
    names = words.unique()
    classes = torch.searchsorted(names, words)
    weights = torch.zeros(words.shape[1], states.shape[1], len(names), requires_grad=True)
    bias = torch.zeros(words.shape[1], 1, len(names), requires_grad=True)
    optimiser = torch.optim.AdamW([weights, bias], lr=RATE, weight_decay=DECAY)
    for _ in range(ROUNDS):
        optimiser.zero_grad()
        F.cross_entropy((train @ weights + bias).flatten(0, 1), classes.T.flatten()).backward()
        optimiser.step()
    with torch.no_grad():
        predicted = names[(test @ weights + bias).argmax(-1)]
    return (predicted == asked.T).float().mean(-1).tolist()


def written_rightly(model: Seq2Seq, some: Sequence[Passage], name: str) -> list[float]:
    """For each position, the fraction of passages in which the sentence that contains its word is translated correctly
    and in place."""
    shares = []
    for text, passage in zip(translations(model, some, ARMS[name]), some, strict=True):
        ours, theirs = split_sentences(text), split_sentences(passage.chinese)
        sentence = [number for number, words in enumerate(split_sentences(passage.english)) for _ in words]
        shares.append([ours[sentence[index]:sentence[index] + 1] == [theirs[sentence[index]]] for index in PLACES])
    return [fmean(column) for column in zip(*shares, strict=True)]


def probe(folder: str, name: str, seed: int) -> dict[str, list[float]]:
    """Probe accuracy at each position on the last states of a ``trained`` and of an ``untrained`` encoder, and the
    fraction of words whose sentence is translated correctly (``written``)."""
    train, test = long_enough("learned", LEARNED), long_enough(seed, ASKED)
    figures = {}
    loaded = STUDY.trained(folder, name, updates=PROBED[name], seed=seed)
    for which, model in (("trained", loaded), ("untrained", new(ARMS[name], seed))):
        assert isinstance(model, Seq2Seq)
        if which == "trained":
            figures["written"] = written_rightly(model, test, name)
        figures[which] = probed(last_states(model, train, name), asked_words(train), last_states(model, test, name),
                                asked_words(test))
    return figures


def guessed(seed: int) -> dict[str, list[float]]:
    """Baseline accuracies at each position: predicting the most frequent training word at this position
    (``commonest``), and the most frequent word between the two adjacent words at any position (``neighbours``)."""
    train, test = long_enough("learned", LEARNED), long_enough(seed, ASKED)
    frequencies = [Counter(passage.english[index] for passage in train) for index in PLACES]
    between: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for passage in train:
        around = ("", *passage.english, "")
        for before, word, after in zip(around, passage.english, around[2:], strict=False):
            between[before, after][word] += 1

    def infilled(passage: Passage, index: int) -> str:
        """The most frequent word between the two neighbours of a word."""
        around, start = ("", *passage.english, ""), index % len(passage.english)
        words = between[around[start], around[start + 2]]
        return words.most_common(1)[0][0] if words else ""

    return {"commonest": [fmean(passage.english[index] == words.most_common(1)[0][0] for passage in test)
                          for index, words in zip(PLACES, frequencies, strict=True)],
            "neighbours": [fmean(passage.english[index] == infilled(passage, index) for passage in test)
                           for index in PLACES]}


def measure(parts: Parts) -> dict[str, Any]:
    """``places``: the probed positions, with negative values counted from the end; ``guessed``: baseline → accuracy at
    each position with spread; ``arms``: configuration → ``trained``, ``untrained`` and ``written`` → the same."""
    folder = str(parts.folder)
    runs = parts(probe, [(folder, name, seed) for name in PROBED for seed in SEEDS])
    guesses = parts(guessed, [(seed,) for seed in SEEDS])
    return {"places": list(PLACES), "aim": AIM,
            "guessed": {which: [seed_summary({seed: guesses[seed,][which][number] for seed in SEEDS})
                                for number in range(len(PLACES))] for which in ("commonest", "neighbours")},
            "arms": {name: {which: [seed_summary({seed: runs[folder, name, seed][which][number] for seed in SEEDS})
                                    for number in range(len(PLACES))] for which in ("trained", "untrained", "written")}
                     for name in PROBED}}
