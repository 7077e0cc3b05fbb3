"""The character CNN of an ELMo applied to one word: the filters with the largest activations, and the nearest words."""

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
"""Number of filters shown."""
LIKE = 4
"""Number of vocabulary words shown per filter."""
NEAR = 8
"""Number of nearest words shown."""
BATCH = 2048
BEGIN, END, FILLER = "‹", "›", "·"
"""Symbols for the codes around a word: begin marker, end marker, padding."""


class Spellings:
    """Statistics over an ELMo's vocabulary: for each filter, its mean activation and the words with the highest
    activation; and the unit-length vectors of all words."""

    def __init__(self, reader: Reader) -> None:
        self.reader, token = reader, reader.token
        codes = reader.elmo.codes[list(reader.ids)].long()
        with inference(reader.model):
            parts = [_found(reader, batch) for batch in codes.split(BATCH)]
            unit = F.normalize(torch.cat([token(batch[None])[0] for batch in codes.split(BATCH)]).float().cpu(), dim=-1)
        found, places = (torch.cat(part) for part in zip(*parts, strict=True))
        self.means, self.unit = found.mean(0), unit
        self.best = found.topk(min(LIKE, len(found)), 0).indices
        self.places = places.gather(0, self.best)
        self.fired = found.gather(0, self.best)
        shapes = [convolution.weight.shape for convolution in cast(Iterable[nn.Conv1d], token.convolutions)]
        self.widths = [width for count, _, width in shapes for _ in range(count)]
        self.chance = _chance(unit)

    def read(self, text: str) -> dict[str, Any]:
        """Analyse a word, as a dict for JavaScript. Raises ValueError if the text is empty.

        ``characters`` lists [symbol, number of codes]. ``filters`` lists the filters with the largest activations:
        their ``width``, maximum activation (``found``), ``mean`` activation over the vocabulary, the first code of the
        window with the maximum (``start``; 0 is the begin marker), and the words with the highest activation
        (``like``). ``near`` lists [word, cosine], nearest first; ``chance`` is the mean cosine of two words of the
        vocabulary.
        """
        typed = text.split()
        if not typed or not typed[0].encode("utf-8", "ignore"):
            raise ValueError("The word field is empty. Type a word; the figure still shows the previous one.")
        word, longest = typed[0], self.reader.longest
        codes = torch.tensor([word_codes(word, longest)])
        with inference(self.reader.model):
            found, places = (part[0] for part in _found(self.reader, codes.to(self.reader.elmo.codes.device)))
            vector = self.reader.token(codes[None].to(self.reader.elmo.codes.device))[0, 0].float().cpu()
        above = (found - self.means).masked_fill(found <= 0, -torch.inf)
        strongest = [int(index) for index in above.argsort(descending=True)[:SHOWN] if found[index] > 0]
        cosines = self.unit @ F.normalize(vector, dim=-1)
        itself = self.reader.words.index(word) if word in self.reader.words else None
        nearest = [int(id) for id in cosines.argsort(descending=True)[:NEAR + 1] if int(id) != itself][:NEAR]
        symbols, left = characters(word, longest - 2)
        return {
            "word": printable(word), "known": itself is not None, "characters": symbols,
            "vocabulary": len(self.reader.words),
            "filters": [self._filter(index, found, places) for index in strongest], "all": len(self.widths),
            "near": [[self.reader.words[id], float(cosines[id])] for id in nearest], "chance": self.chance,
            "said": " ".join(note for note in (self._cut(left), _more(len(typed) - 1)) if note),
        }

    def _filter(self, index: int, found: Float[Tensor, "model"], places: Int[Tensor, "model"]) -> dict[str, Any]:
        best = zip(self.best[:, index].tolist(), self.places[:, index].tolist(), self.fired[:, index].tolist(),
                   strict=True)
        like = [{"word": self.reader.words[word], "parts": marked(self.reader.words[word], start, self.widths[index]),
                 "found": fired} for word, start, fired in best]
        return {"number": index, "width": self.widths[index], "start": int(places[index]), "found": float(found[index]),
                "mean": float(self.means[index]), "like": like}

    def _cut(self, left: int) -> str:
        if not left:
            return ""
        return f"A word is limited to {self.reader.longest - 2} bytes here: the last {left} of this word " \
               f"{'is' if left == 1 else 'are'} cut off."


def _found(reader: Reader, codes: Int[Tensor, "words character"],
           ) -> tuple[Float[Tensor, "words filters"], Int[Tensor, "words filters"]]:
    """The maximum activation of each filter, and the index of the code at which it occurs."""
    sums = [part.max(-1) for part in reader.token.sums(codes)]
    found = reader.token.activation(torch.cat([values for values, _ in sums], -1))
    return found.float().cpu(), torch.cat([places for _, places in sums], -1).cpu()


def _chance(unit: Float[Tensor, "words model"]) -> float:
    """Mean cosine of two different words, computed from |Σ u|², in which each pair occurs twice and each word once."""
    count = len(unit)
    return float((unit.double().sum(0).square().sum() - unit.double().square().sum()) / (count * (count - 1)))


def characters(word: str, room: int) -> tuple[list[tuple[str, int]], int]:
    """The characters of a word as printable symbols, each with the number of its codes (UTF-8 bytes) that fit into
    ``room``; and the number of codes that do not fit."""
    symbols, left = [], 0
    for character in word:
        codes = len(character.encode("utf-8", "ignore"))
        read = min(codes, room)
        room, left = room - read, left + codes - read
        if read:
            symbols.append((sign(character), read))
    return symbols, left


def sign(character: str) -> str:
    """A printable symbol for a character; combining marks are placed on a dotted circle."""
    return f"◌{character}" if unicodedata.category(character).startswith("M") else printable(character)


def marked(word: str, start: int, width: int) -> tuple[str, str, str]:
    """Split a word into three parts: before, under and after a filter that starts at code ``start``. Code 0 is the
    begin marker, followed by the bytes of the word, the end marker and padding."""
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
    return "" if count <= 0 else f"Only one word is analysed: {count} more {'is' if count == 1 else 'are'} left out."
