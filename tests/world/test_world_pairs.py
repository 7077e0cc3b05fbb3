"""Translations, next-sentence and sentence-order pairs, and the tokenizer of the world's words."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise
from random import Random

import pytest

from plmlab.text import SENTINELS, SPECIALS, Tokenizer
from plmlab.text.words import word_tokenizer
from plmlab.world.datasets.tokenizer import TEXTS, build_world_tokenizer, sentence_words
from plmlab.world.documents.articles import Article
from plmlab.world.documents.pairs import PairError, next_sentences, partners, sentence_orders
from plmlab.world.grammar.splits import SPLITS


@pytest.fixture(scope="module")
def library(small) -> list[Article]:
    """Articles of 4, 3, 2 and 1 sentences, no two sentences alike."""
    said = small.sentences("train", seed=1)
    told = list({sentence.words: sentence for sentence in islice(said, 40)}.values())
    assert len(told) >= 10
    return [Article(f"person:{name}", (name,), tuple(told[first:last]), (0,))
            for name, first, last in (("A", 0, 4), ("B", 4, 7), ("C", 7, 9), ("D", 9, 10))]


@pytest.fixture(scope="module")
def places(library) -> dict[tuple[str, ...], tuple[str, int]]:
    """A sentence's words → its article and its place there."""
    return {sentence.words: (article.entity, place)
            for article in library for place, sentence in enumerate(article.sentences)}


def test_a_translation_says_what_the_sentence_says(full):
    for pair, sentence in zip(islice(full.translations("test", seed=3), 50), full.sentences("test", seed=3),
                              strict=False):
        assert pair == (sentence.words, sentence.chinese)
        assert full.parse(list(pair.english), "test").chinese == pair.chinese


def test_translations_are_the_same_on_every_machine(small, full):
    said = [" ".join(words) for world in (small, full) for pair in islice(world.translations("train", seed=5), 300)
            for words in pair]
    assert hashlib.sha256("\n".join(said).encode()).hexdigest()[:16] == "d605e97676aed3c4"


def test_next_sentences_follow_or_come_from_elsewhere(library, places):
    drawn = list(islice(next_sentences(library, Random(1)), 4000))
    for first, second, is_next in drawn:
        (home, here), (other, there) = places[first], places[second]
        assert (other, there) == (home, here + 1) if is_next else other != home
    assert sum(pair.is_next for pair in drawn) == pytest.approx(2000, abs=4 * 32)
    begin = {sentence.words for article in library for sentence in article.sentences[:-1]}
    assert {first for first, _, _ in drawn} == begin
    strangers = Counter(second for _, second, is_next in drawn if not is_next)
    assert set(strangers) == set(places), "any sentence of another article may come"


def test_sentence_orders_are_neighbours_swapped_half_the_time(library, places):
    drawn = list(islice(sentence_orders(library, Random(2)), 4000))
    for first, second, in_order in drawn:
        (home, here), (other, there) = places[first], places[second]
        assert other == home and there - here == (1 if in_order else -1)
    assert sum(pair.in_order for pair in drawn) == pytest.approx(2000, abs=4 * 32)


@pytest.mark.parametrize("make", [next_sentences, sentence_orders])
def test_the_same_seed_draws_the_same_pairs(library, make):
    one, again, other = (list(islice(make(library, Random(seed)), 50)) for seed in (7, 7, 8))
    assert one == again != other


def test_article_pairs_are_the_same_on_every_machine(library):
    said = [f"{' '.join(first)} | {' '.join(second)} {label}" for make in (next_sentences, sentence_orders)
            for first, second, label in islice(make(library, Random(3)), 200)]
    assert hashlib.sha256("\n".join(said).encode()).hexdigest()[:16] == "6f727db040becb90"


@pytest.mark.parametrize("chosen, make, message", [
    (slice(0, 1), next_sentences, "two entities; there are 1"),
    (slice(0, 0), sentence_orders, "fewer than 2"),
    (slice(3, 4), sentence_orders, "fewer than 2"),
])
def test_too_few_articles(library, chosen, make, message):
    with pytest.raises(PairError, match=message):
        next(make(library[chosen], Random(0)))


@pytest.mark.parametrize("split", ["train", "entities", "facts"])
def test_pairs_of_a_world_come_from_its_own_articles(full, split: str):
    read = full.articles("train" if split == "train" else None)
    said = [tuple(sentence.words for sentence in article.sentences) for article in read
            if split != "entities" or article.entity in full.held.entities]
    follows = {pair for sentences in said for pair in pairwise(sentences)}
    for first, second, is_next in islice(full.next_sentences(split, seed=1), 300):
        assert not is_next or (first, second) in follows
        assert any(second in sentences for sentences in said)
    for first, second, in_order in islice(full.sentence_orders(split, seed=1), 300):
        assert ((first, second) if in_order else (second, first)) in follows


def texts_of(world, text: str) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """English and Chinese of one kind of text."""
    if text == "sentences":
        for split in SPLITS:
            yield from islice(world.translations(split, seed=2), 400)
    elif text == "articles":
        yield from ((s.words, s.chinese) for split in (None, "train") for a in world.articles(split)
                    for s in a.sentences)
    elif text == "questions":
        for kind in ("one-hop", "bridge", "comparison"):
            for question in islice(world.questions(kind, "train", seed=3), 100):
                yield question.words, question.chinese
                yield question.answer, question.answer_chinese
    else:
        for story in islice(world.stories(seed=4), 20):
            yield from ((s.words, s.chinese) for s in story.sentences)
            yield story.question, story.question_chinese
            yield story.answer, story.answer_chinese


@pytest.mark.parametrize("text", TEXTS)
def test_a_token_is_a_word_and_nothing_is_unknown(small, full, text: str):
    for world in (small, full):
        tokenizer = build_world_tokenizer(world, texts=[text])
        assert tokenizer.tokens(range(7)) == list(SPECIALS)
        assert tokenizer.tokens(range(7, 39)) == list(SENTINELS)
        for words in {words for pair in texts_of(world, text) for words in pair}:
            ids = tokenizer.encode(" ".join(words))
            assert tokenizer.tokens(ids) == list(words) and tokenizer.vocab.unk not in ids


def test_the_usual_tokenizer_has_what_is_not_a_story(small):
    tokenizer = build_world_tokenizer(small)
    for text in ("sentences", "articles", "questions"):
        assert all(tokenizer.id(word) > 38 for pair in texts_of(small, text) for words in pair for word in words)
    assert len(build_world_tokenizer(small, texts=TEXTS)) > 2 * len(tokenizer)
    assert len(build_world_tokenizer(small, ["english"], ["sentences"])) == 39 + len(small.vocabulary)


def test_what_is_no_word_is_unknown_and_a_mask_is_a_mask(small):
    tokenizer = build_world_tokenizer(small, ["english"])
    assert tokenizer.tokens(tokenizer.encode("the wombat [MASK] 女孩")) == ["the", "[UNK]", "[MASK]", "[UNK]"]
    assert tokenizer.tokens(build_world_tokenizer(small, ["chinese"]).encode("the")) == ["[UNK]"]
    assert tokenizer.decode(tokenizer.encode("the girl sleeps .")) == "the girl sleeps."


def test_the_chinese_vocabulary_is_what_is_said(small, full):
    """Sampled text has all of the small world's words, and none that is not foreseen in either world."""
    for world, count, missed in ((small, 800, 0), (full, 2000, 30)):
        _, foreseen = sentence_words(world)
        said = {word for split in SPLITS for sentence in islice(world.sentences(split, seed=1), count)
                for word in sentence.chinese}
        assert said <= foreseen and len(foreseen - said) <= missed


def test_a_tokenizer_is_kept_and_comes_back(tmp_path, small):
    tokenizer = build_world_tokenizer(small, texts=["sentences"])
    tokenizer.save(tmp_path)
    again = Tokenizer.load(tmp_path)
    english, chinese = map(sorted, sentence_words(small))
    assert again.fingerprint == tokenizer.fingerprint == word_tokenizer([*english, *chinese]).fingerprint
    assert again.vocab == tokenizer.vocab


@pytest.mark.parametrize("asked, message", [
    ({"languages": ["klingon"]}, "english, chinese"), ({"languages": []}, "english, chinese"),
    ({"languages": "english"}, "give a list"), ({"texts": ["letters"]}, "sentences, articles, questions, stories"),
])
def test_what_the_world_does_not_write(small, asked, message: str):
    with pytest.raises(ValueError, match=message):
        build_world_tokenizer(small, **asked)


def test_partners_are_words_and_their_translations(full):
    sentence = full.parse(["the", "student", "found", "the", "dirty", "coins", "under", "the", "chair", "."])
    pairs = [(sentence.chinese[position], sentence.words[source]) for position,
             source in partners(sentence, full.lexicon)]
    assert pairs == [("学生", "student"), ("椅子", "chair"), ("找到", "found"), ("脏", "dirty"), ("硬币", "coins")]


def test_a_word_that_could_have_two_partners_has_none(full):
    twice = next(s for s in full.sentences("train", 1) if len(set(s.chinese)) < len(s.chinese))
    for position, source in partners(twice, full.lexicon):
        assert twice.chinese.count(twice.chinese[position]) == 1
        assert any((twice.chinese[position],) == word.chinese for word, _ in full.lexicon.readings[twice.words[source]])
