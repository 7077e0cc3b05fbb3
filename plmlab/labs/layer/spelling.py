"""What an ELMo makes of a word's characters: which filters it wakes, on what, and near which words it lands."""

import unicodedata
from collections.abc import Iterable
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.interpret.readable import inference
from plmlab.labs.layer.reading import Reader
from plmlab.text.characters import word_codes
from plmlab.text.printable import printable

SHOWN = 12
"""So many filters are shown."""
LIKE = 4
"""So many words of the vocabulary are shown for a filter."""
NEAR = 8
"""So many words are shown near which the word lands."""
BATCH = 2048
BEGIN, END, FILLER = "‹", "›", "·"
"""How the codes are shown that stand round a word."""


class Spellings:
    """The filters of an ELMo and the words of its vocabulary: the mean of each filter, the words on which it fires
    most, and the vectors of all words, at length 1."""

    def __init__(self, reader: Reader) -> None:
        self.reader, token = reader, reader.token
        codes = reader.elmo.codes[list(reader.ids)].long()
        with inference(reader.model):
            parts = [_found(reader, some) for some in codes.split(BATCH)]
            unit = F.normalize(torch.cat([token(some[None])[0] for some in codes.split(BATCH)]).float().cpu(), dim=-1)
        found, places = (torch.cat(part) for part in zip(*parts, strict=True))
        self.means, self.unit = found.mean(0), unit
        self.best = found.topk(min(LIKE, len(found)), 0).indices
        self.places = places.gather(0, self.best)
        self.fired = found.gather(0, self.best)
        shapes = [convolution.weight.shape for convolution in cast(Iterable[nn.Conv1d], token.convolutions)]
        self.widths = [width for count, _, width in shapes for _ in range(count)]
        self.chance = _chance(unit)

    def read(self, text: str) -> dict[str, Any]:
        """A word as a dict for JavaScript. ValueError where there is none.

        ``characters`` are [sign, how many codes]; ``filters`` the strongest: a filter's ``width``, its ``found`` value,
        its ``mean`` over the vocabulary, the code at which what it reads begins (``start``; 0 is the begin of the
        word), and the words that it finds most in (``like``). ``near``: [word, cosine], the nearest first; ``chance``
        the cosine of two words of the vocabulary in the mean.
        """
        typed = text.split()
        if not typed or not typed[0].encode("utf-8", "ignore"):
            raise ValueError("The box for a word is empty. Type one; what is drawn is from before.")
        word, longest = typed[0], self.reader.longest
        codes = torch.tensor([word_codes(word, longest)])
        with inference(self.reader.model):
            found, places = (part[0] for part in _found(self.reader, codes.to(self.reader.elmo.codes.device)))
            vector = self.reader.token(codes[None].to(self.reader.elmo.codes.device))[0, 0].float().cpu()
        above = (found - self.means).masked_fill(found <= 0, -torch.inf)
        strongest = [int(one) for one in above.argsort(descending=True)[:SHOWN] if found[one] > 0]
        cosines = self.unit @ F.normalize(vector, dim=-1)
        itself = self.reader.words.index(word) if word in self.reader.words else None
        nearest = [int(one) for one in cosines.argsort(descending=True)[:NEAR + 1] if int(one) != itself][:NEAR]
        shown, left = characters(word, longest - 2)
        return {
            "word": printable(word), "known": itself is not None, "characters": shown,
            "vocabulary": len(self.reader.words),
            "filters": [self._filter(one, found, places) for one in strongest], "all": len(self.widths),
            "near": [[self.reader.words[one], float(cosines[one])] for one in nearest], "chance": self.chance,
            "said": " ".join(note for note in (self._cut(left), _more(len(typed) - 1)) if note),
        }

    def _filter(self, one: int, found: Float[Tensor, "model"], places: Int[Tensor, "model"]) -> dict[str, Any]:
        best = zip(self.best[:, one].tolist(), self.places[:, one].tolist(), self.fired[:, one].tolist(), strict=True)
        like = [{"word": self.reader.words[word], "parts": marked(self.reader.words[word], start, self.widths[one]),
                 "found": fired} for word, start, fired in best]
        return {"number": one, "width": self.widths[one], "start": int(places[one]), "found": float(found[one]),
                "mean": float(self.means[one]), "like": like}

    def _cut(self, left: int) -> str:
        if not left:
            return ""
        return f"A word has room for {self.reader.longest - 2} codes here: the last {left} of this one " \
               f"{'is' if left == 1 else 'are'} not read."


def _found(reader: Reader, codes: Int[Tensor, "words character"],
           ) -> tuple[Float[Tensor, "words filters"], Int[Tensor, "words filters"]]:
    """The largest activation of each filter, and the place where it has it."""
    sums = [part.max(-1) for part in reader.token.sums(codes)]
    found = reader.token.activation(torch.cat([values for values, _ in sums], -1))
    return found.float().cpu(), torch.cat([places for _, places in sums], -1).cpu()


def _chance(unit: Float[Tensor, "words model"]) -> float:
    """The mean cosine of two different words: |Σ u|² counts each pair twice and each word once."""
    count = len(unit)
    return float((unit.double().sum(0).square().sum() - unit.double().square().sum()) / (count * (count - 1)))


def characters(word: str, room: int) -> tuple[list[tuple[str, int]], int]:
    """The characters of a word as signs that can be shown, each with how many of its codes (bytes of UTF-8) find room;
    and how many codes do not."""
    shown, left = [], 0
    for character in word:
        codes = len(character.encode("utf-8", "ignore"))
        read = min(codes, room)
        room, left = room - read, left + codes - read
        if read:
            shown.append((sign(character), read))
    return shown, left


def sign(character: str) -> str:
    """A character as it can be shown alone: one that joins others is put on a ring."""
    return f"◌{character}" if unicodedata.category(character).startswith("M") else printable(character)


def marked(word: str, start: int, width: int) -> tuple[str, str, str]:
    """A word of the vocabulary in three parts: before what a filter reads, what it reads, and after. Code 0 is the
    begin of the word, its bytes follow, then its end and fillers."""
    before, read, after, place = "", "", "", 1
    if start == 0:
        read = BEGIN
    for character in word:
        end = place + len(character.encode("utf-8", "ignore"))
        if end <= start:
            before += character
        elif place < start + width:
            read += character
        else:
            after += character
        place = end
    if start + width > place:
        read += END if start <= place else ""
        read += FILLER * (start + width - max(place + 1, start))
    return before, read, after


def _more(count: int) -> str:
    return "" if count <= 0 else f"One word is read at a time: {count} more {'is' if count == 1 else 'are'} left out."
