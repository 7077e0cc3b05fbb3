"""Pages split into blocks, the documents that a retriever searches: each block holds as many whole sentences as fit
into the reader's input (Lee et al. 2019; their blocks and REALM's have 288 wordpieces)."""

from collections.abc import Iterator
from dataclasses import dataclass

from plmlab.text.pages import TitledPages
from plmlab.text.tokenizers import Tokenizer

AROUND = 3
"""Number of special tokens: [CLS], [SEP] between title and text, and [SEP] at the end."""


@dataclass(frozen=True)
class Block:
    """Consecutive sentences of one page; ``first`` is the index of the block's first sentence in the page, from 0."""

    page: str
    first: int
    sentences: tuple[str, ...]

    @property
    def title(self) -> str:
        """The title of the page, which is part of the retriever's input."""
        return self.page

    def __str__(self) -> str:
        """Title and text in one string, stored in the index."""
        return f"{self.title}: {self.text}"

    @property
    def text(self) -> str:
        """The sentences, joined by spaces."""
        return " ".join(self.sentences)


def blocks(pages: TitledPages, longest: int) -> list[Block]:
    """Split each page between sentences into blocks, in order; each block is filled until the next sentence would not
    fit.

    [CLS] title [SEP] text [SEP] has at most ``longest`` tokens. In the authors' code a sentence that is too long stays
    whole, and the reader truncates it. Here it is split, between words if possible, into parts that fill one block
    each; the last part shares its block with the sentences that follow, so every part of the text is in some block.
    Raises ValueError if ``longest`` leaves no room for text after a title.
    """
    return [block for title in pages.texts for block in _cut(pages, title, longest)]


def _cut(pages: TitledPages, title: str, longest: int) -> Iterator[Block]:
    room = _room(pages.tokenizer, title, longest)
    first, taken, size = 0, list[str](), 0
    for number, sentence in enumerate(pages.texts[title]):
        more = _inside(pages.tokenizer, sentence)
        if taken and size + more <= room:
            taken, size = [*taken, sentence], size + more
            continue
        if taken:
            yield Block(title, first, tuple(taken))
        *full, last = _pieces(pages.tokenizer, sentence, room, title)
        yield from (Block(title, number, (piece,)) for piece in full)
        first, taken, size = number, [last], _alone(pages.tokenizer, last)
    if taken:
        yield Block(title, first, tuple(taken))


def _room(tokenizer: Tokenizer, title: str, longest: int) -> int:
    """The number of text tokens that fit after a title."""
    if (room := longest - AROUND - _alone(tokenizer, title)) < 1:
        raise ValueError(f"longest={longest} tokens leaves no room for a text: the title {title!r:.60} and the special "
                         f"tokens take {longest - room}; give longest={longest - room + 1} or more")
    return room


def _alone(tokenizer: Tokenizer, text: str) -> int:
    """Number of tokens in a text encoded on its own."""
    return len(tokenizer.encode(text, plain=True))


def _inside(tokenizer: Tokenizer, sentence: str) -> int:
    """The number of tokens of a sentence that follows another one. A byte-level tokenizer attaches the space to the
    sentence's first word."""
    return _alone(tokenizer, " " + sentence)


def _pieces(tokenizer: Tokenizer, sentence: str, room: int, title: str) -> Iterator[str]:
    """Split the sentence into the smallest number of parts with at most ``room`` tokens each."""
    while len(ends := tokenizer.offsets(sentence, plain=True)) > room:
        end = ends[room - 1][1]
        if not sentence[end:].startswith(" ") and " " in sentence[:end].strip():
            end = sentence.rindex(" ", 0, end)
        while end > 1 and _alone(tokenizer, sentence[:end]) > room:
            end -= 1
        if _alone(tokenizer, sentence[:end]) > room:
            raise ValueError(f"the character {sentence[:end]!r:.60} needs more than the {room} tokens that are left "
                             f"after the title {title!r:.60}; give a larger longest")
        yield sentence[:end].rstrip()
        sentence = sentence[end:].lstrip()
    yield sentence
