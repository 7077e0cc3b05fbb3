"""Pages cut into blocks, the documents of a retriever: whole sentences, as many as a reader takes in at once (Lee et
al. 2019; theirs and REALM's hold 288 pieces of words)."""

from collections.abc import Iterator
from dataclasses import dataclass

from plmlab.text.pages import TitledPages
from plmlab.text.tokenizers import Tokenizer

AROUND = 3
"""[CLS], [SEP] between title and text, and [SEP] at the end."""


@dataclass(frozen=True)
class Block:
    """Sentences of one page that stand one after the other; ``first`` is the number of the first of them in its page,
    from 0."""

    page: str
    first: int
    sentences: tuple[str, ...]

    @property
    def title(self) -> str:
        """The title of the page, which is part of what a retriever reads."""
        return self.page

    def __str__(self) -> str:
        """Title and text in one string, which an index keeps."""
        return f"{self.title}: {self.text}"

    @property
    def text(self) -> str:
        """The sentences, a space between them."""
        return " ".join(self.sentences)


def blocks(pages: TitledPages, longest: int) -> list[Block]:
    """Each page cut between sentences into blocks, in order, each filled until the next sentence would not fit.

    [CLS] title [SEP] text [SEP] has at most ``longest`` tokens. The authors leave a sentence that is longer by itself
    whole, and their reader never sees its end. Here it is cut, between words where that is possible, into pieces that
    fill a block each; the last piece shares its block with the sentences that follow. So all of the text is in some
    block. ValueError where ``longest`` leaves no room for a text behind a title.
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
    """How many tokens of text fit behind a title."""
    if (room := longest - AROUND - _alone(tokenizer, title)) < 1:
        raise ValueError(f"a block of {longest} tokens has no room for a text: the title {title!r:.60} and the special "
                         f"tokens take {longest - room}; give a longest of {longest - room + 1} or more")
    return room


def _alone(tokenizer: Tokenizer, text: str) -> int:
    """The tokens of a text by itself."""
    return len(tokenizer.encode(text, plain=True))


def _inside(tokenizer: Tokenizer, sentence: str) -> int:
    """The tokens that a sentence adds behind another one; to a byte-level tokenizer the space is of its first word."""
    return _alone(tokenizer, " " + sentence)


def _pieces(tokenizer: Tokenizer, sentence: str, room: int, title: str) -> Iterator[str]:
    """The sentence, in as few pieces of at most ``room`` tokens as can be."""
    while len(ends := tokenizer.offsets(sentence, plain=True)) > room:
        end = ends[room - 1][1]
        if not sentence[end:].startswith(" ") and " " in sentence[:end].strip():
            end = sentence.rindex(" ", 0, end)
        while end > 1 and _alone(tokenizer, sentence[:end]) > room:
            end -= 1
        if _alone(tokenizer, sentence[:end]) > room:
            raise ValueError(f"the character {sentence[:end]!r:.60} takes more than the {room} tokens that are left "
                             f"behind the title {title!r:.60}; give a greater longest")
        yield sentence[:end].rstrip()
        sentence = sentence[end:].lstrip()
    yield sentence
