"""Text: a tuple of ids that knows its spans, against brute force; tokenizers' words against the library's own."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import combinations, pairwise
from random import Random

import pytest
from standin import annotated
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers, trainers

from plmlab.objectives import OBJECTIVES
from plmlab.text import Text, Tokenizer, Vocabulary
from plmlab.text.text import Named, Spans, spans

KINDS = ("words", "sentences", "entities")
NEEDS = {"sentence_order": ("sentences",), "denoising": ("sentences",), "gap_sentences": ("sentences",),
         "continuation": ("sentences",), "whole_words": ("words",), "spans_masked": ("words",),
         "entities_masked": ("entities", "words"), "entity_mentions": ("entities",)}
"""Objectives that need the spans of a text, and which."""
LINES = ["The weaver of Oakton mended the old bridge, and the miller's son watched her.",
         "A heron stood below it. \"Does it sleep?\" asked Anna-Marie Bell of Oakton… Nobody knew.\n\nIt did!",
         "她在桥边等了很久，磨坊主的儿子没有来。桥很旧。"]


def drawn(rng: Random, size: int) -> Spans:
    """Spans of a text: neighbours among some ascending cuts, some left out."""
    cuts = sorted({int(rng.random() * (size + 1)) for _ in range(8)})
    return tuple(span for span in pairwise(cuts) if rng.random() < 0.7)


def known(text: Text) -> dict[str, Spans | None]:
    return {what: getattr(text, what) for what in KINDS}


def unigram() -> Tokenizer:
    """A tokenizer as SentencePiece trains one."""
    backend = Backend(models.Unigram())
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    backend.train_from_iterator(LINES * 3, trainers.UnigramTrainer(
        vocab_size=120, special_tokens=["<pad>", "<unk>", "<s>", "</s>", "<mask>"], unk_token="<unk>",
        show_progress=False))
    return Tokenizer.of(backend)


TRAINED = {"words": lambda: Tokenizer.words(LINES * 3, 400), "bpe": lambda: Tokenizer.bpe(LINES * 3, 400),
           "wordpiece": lambda: Tokenizer.wordpiece(LINES * 3, 120, lowercase=False), "unigram": unigram}


@pytest.fixture(scope="module", params=TRAINED)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return TRAINED[request.param]()


@pytest.mark.parametrize("told", [lambda found: found, lambda found: lambda: list(found)], ids=["told", "when asked"])
def test_a_slice_knows_the_spans_that_lie_wholly_within_it(told) -> None:
    rng = Random(0)
    for size in (0, 1, 2, 7, 12) * 4:
        ids = [100 + place for place in range(size)]
        whole = {what: drawn(rng, size) for what in KINDS[:2]}
        text = Text(ids, **{what: told(found) for what, found in whole.items()})
        assert known(text) == {**whole, "entities": None} and text == tuple(ids)
        for start, stop in [*combinations(range(-size - 2, size + 3), 2), (0, None), (None, 3), (-3, None)]:
            part = text[start:stop]
            assert isinstance(part, Text) and list(part) == ids[start:stop] and part.entities is None
            for what, found in whole.items():
                inside = [[ids[place] for place in range(*span)] for span in found if ids[slice(*span)]
                          and set(ids[slice(*span)]) <= set(ids[start:stop])]
                assert [list(part[slice(*span)]) for span in getattr(part, what)] == inside
        assert known(text[::2]) == known(text[::-1]) == dict.fromkeys(KINDS) and list(text[::-1]) == ids[::-1]


def test_a_text_behind_another_knows_what_both_know() -> None:
    one, other = Text([7, 8], words=[(0, 1), (1, 2)], sentences=[(0, 2)]), Text([9, 9, 7], words=[(0, 3)])
    both = one + other
    assert both == (7, 8, 9, 9, 7) and known(both) == {"words": ((0, 1), (1, 2), (2, 5)), "sentences": None,
                                                       "entities": None}
    assert known(both[1:]) == {"words": ((0, 1), (1, 4)), "sentences": None, "entities": None}
    bare = one + (5,)  # noqa: RUF005
    assert bare == (7, 8, 5) and known(bare) == dict.fromkeys(KINDS)
    again = deepcopy(one)
    assert again == one and known(again) == known(one)


@pytest.mark.parametrize("wrong", [[(0, 0)], [(2, 1)], [(0, 4)], [(-1, 2)], [(1, 2), (0, 1)], [(0, 2), (1, 3)]])
def test_spans_that_are_none_are_refused_when_told_or_when_asked_for(wrong: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match=r"the words of a text are given as .*from 0 to 3"):
        Text([1, 2, 3], words=wrong)
    text = Text([1, 2, 3], words=lambda: wrong)
    with pytest.raises(ValueError, match=r"the words of a text are given as"):
        assert text[:2].words
    with pytest.raises(ValueError, match=r"the entities of a text"):
        Named("abc", wrong)


def test_what_is_told_when_asked_is_found_once() -> None:
    asked = []
    text = Text([1, 2], entities=lambda: asked.append(1) or [(0, 1)])
    assert not asked and text[:1].entities == text.entities == ((0, 1),) == text[:2].entities and asked == [1]


@pytest.mark.parametrize(("what", "told"), [("words", "Tokenizer.text"), ("sentences", "punctuation"),
                                            ("entities", "wikipedia_links")])
def test_who_needs_what_a_text_does_not_know_says_so(what: str, told: str) -> None:
    assert spans(Text([1, 2], **{what: [(0, 2)]}), what, "this") == ((0, 2),)
    assert spans(Text(**{what: ()}), what, "this") == ()
    for ids in ([1, 2], (1, 2), Text([1, 2]), range(2)):
        with pytest.raises(ValueError, match=f"whole-word masking needs the {what} of a text.*{told}"):
            spans(ids, what, "whole-word masking")


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objective_makes_of_a_text_what_it_makes_of_its_ids(name: str) -> None:
    """If it needs the words, sentences or entities of the text, it refuses mere ids, and asks for nothing else."""
    objective, vocab = OBJECTIVES[name], Vocabulary(400)
    texts = [[50 + place for place in range(size)] for size in (14, 9)][:objective.texts]

    def made(kind: Callable[[Sequence[int]], Sequence[int]]) -> str:
        return repr(objective.make(*map(kind, texts), vocab=vocab, rng=Random(3)))
    needed = NEEDS.get(name, ())
    assert made(annotated) == made(lambda ids: Text(ids, **{what: getattr(annotated(ids), what) for what in needed}))
    if not needed:
        assert made(annotated) == made(list) == made(tuple)
    for kind in (Text, list) if needed else ():
        with pytest.raises(ValueError, match=f"needs the {needed[0]} of a text"):
            made(kind)


def test_words_are_those_of_the_library(tokenizer: Tokenizer) -> None:
    for line in [*LINES, "", " ", "mended mended", "一"]:
        encoding = tokenizer.backend.encode(line, add_special_tokens=False)
        numbers = dict.fromkeys(number for number in encoding.word_ids if number is not None)
        text = tokenizer.text(line)
        assert text == tuple(tokenizer.encode(line)) and text.entities is None
        assert text.words == tuple(map(encoding.word_to_tokens, numbers))
        assert list(map(known, tokenizer.texts([line, LINES[0]]))) == [known(text), known(tokenizer.text(LINES[0]))]


def test_a_tokenizer_that_cuts_no_words_first_knows_none() -> None:
    backend = Backend(models.BPE())
    backend.train_from_iterator(LINES, trainers.BpeTrainer(vocab_size=90, show_progress=False))
    assert Tokenizer.of(backend).text(LINES[0]).words is None


def test_sentences_end_where_punctuation_ends_them(tokenizer: Tokenizer) -> None:
    expected = [["A heron stood below it.", '"Does it sleep?"', "asked Anna-Marie Bell of Oakton…", "Nobody knew.",
                 "It did!"], ["她在桥边等了很久，磨坊主的儿子没有来。", "桥很旧。"]]
    for line, sentences in zip(LINES[1:], expected, strict=True):
        text = tokenizer.text(line)
        assert text.sentences is not None and len(text.sentences) == len(sentences)
        for span, sentence in zip(text.sentences, sentences, strict=True):
            offsets = tokenizer.offsets(line)[slice(*span)]
            assert line[offsets[0][0]:offsets[-1][1]].strip() == sentence


def test_entities_of_a_string_are_all_tokens_that_have_a_letter_of_it(tokenizer: Tokenizer) -> None:
    names = ["Anna-Marie Bell", "Oakton", "nobody"]
    line = LINES[1].replace("Nobody", "nobody")
    text = tokenizer.text(Named(line, [(at, at + len(name)) for name in names for at in [line.index(name)]]))
    offsets = tokenizer.offsets(line)
    for span, name in zip(text.entities, names, strict=True):
        at = line.index(name)
        assert list(range(*span)) == [place for place, (start, end) in enumerate(offsets)
                                      if start < at + len(name) and end > at]
