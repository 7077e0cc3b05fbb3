"""A few pages, and a System 1 that points where it is told, for the tests of how a cognitive graph grows."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogqa import CogQA, CogQAConfig
from plmlab.models.cogqa_search import CogQASearch
from plmlab.models.registry import ModelSpec
from plmlab.text.words import word_tokenizer

PAGES = {
    "Roma": ["Roma is a cafe", "Dusk was made there", "Eva owns it"],
    "Dusk": ["Dusk is a film", "Adam directed it", "it came out in 1974"],
    "Eva": ["Eva lives in Milton", "she plays in Dusk"],
    "Adam": ["Adam was born in 1931"],
    "Milton": ["Milton is a town"],
    "Old Town": ["Old Town is old", "Eva likes it"],
}
SAID = {word for title, text in PAGES.items() for line in [title, *text] for word in line.split()}
WORDS = word_tokenizer(sorted(SAID | {"who", "directed", "the", "film", "made", "at", "older", "or", "is", "than"}))
SIZE = BERTConfig(len(WORDS), time=64, layers=2, model=8, heads=2, inner=8)


class FewPages:
    """The pages above, as ids."""

    def ids(self, text: str) -> list[int]:
        return WORDS.encode(text, plain=True)

    def named(self, question: Sequence[int]) -> list[str]:
        words = self.spelled(question)
        return sorted((title for title in PAGES if title in words), key=words.index)

    def find(self, words: Sequence[int]) -> str | None:
        return said if (said := self.spelled(words)) in PAGES else None

    def sentences(self, title: str) -> list[list[int]]:
        return [self.ids(line) for line in PAGES.get(title, [])]

    def spelled(self, words: Sequence[int]) -> str:
        return " ".join(WORDS.tokens(words))


Points = tuple[list[str], list[str]]
Script = Callable[[str, int], Points]
"""(title, how many clues came with it) → the words that it points at, as hops and as answers."""


class Scripted(CogQA):
    """A CogQA whose System 1 points where the script says, at the words' first place in the paragraph; the first that
    is named is the likeliest. What a node is, is random, and always the same for the same text."""

    def __init__(self, script: Script) -> None:
        torch.manual_seed(1)
        super().__init__(CogQAConfig(ModelSpec(BERT, SIZE)))
        self.script, self.seen = script, list[list[str]]()
        for parameter in self.reasoner.parameters():
            nn.init.normal_(parameter, std=0.7)
        self.eval()

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        logits, rows = torch.zeros(*batch.size, 4), []
        for row, (tokens, segments) in enumerate(zip(batch.tokens.tolist(), batch.segments.tolist(), strict=True)):
            real = [token for token in tokens if token != WORDS.vocab.need("pad")]
            rows.append(WORDS.tokens(real))
            first = segments.index(1) if 1 in segments else len(real)
            text = [WORDS.tokens([token])[0] for token in real[first:-1]]
            title = next((title for title, lines in PAGES.items()
                          if text[:len(lines[0].split())] == lines[0].split()), "")
            for kind, said in enumerate(self.script(title, rows[-1].count("[SEP]") - 2)):
                for rank, words in enumerate(said):
                    wanted = words.split()
                    at = next(i for i in range(len(text)) if text[i:i + len(wanted)] == wanted)
                    logits[row, first + at, 2 * kind] = 9 - rank
                    logits[row, first + at + len(wanted) - 1, 2 * kind + 1] = 9
            logits[row, 0, 0] = logits[row, 0, 2] = 5
        self.seen.append([" ".join(words) for words in rows])
        semantics = torch.stack([torch.randn(8, generator=torch.Generator().manual_seed(hash(tuple(row)) % 1000))
                                 for row in batch.tokens.tolist()])
        return logits, semantics


QUESTION = "who directed the film made at Roma"


def growth(script: Script, question: str = QUESTION, kind: Any = "special",
           **choices: Any) -> CogQASearch:
    pages = FewPages()
    return CogQASearch(Scripted(script), pages, WORDS.vocab, pages.ids(question), kind, **choices)


def by_hand(title: str, clues: int) -> Points:
    """Roma leads to the film, and by mistake to its owner, who leads to the film again; then there is more in it."""
    return {"Roma": (["Dusk", "Eva"], []), "Dusk": ([], ["Adam"] if clues == 1 else ["1974"]), "Eva": (["Dusk"], []),
            }.get(title, ([], []))


def compared(title: str, clues: int) -> Points:
    return {"Dusk": (["Adam"], []), "Adam": ([], ["1931"]), "Old Town": (["Eva"], ["old"]), "Eva": ([], [])}.get(
        title, ([], []))
