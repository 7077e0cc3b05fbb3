"""The world's Texts: words, sentences and entities by their definition, and every source that hands them on."""

from functools import partial
from itertools import islice
from random import Random

import pytest

from plmlab.objectives import causal, masked
from plmlab.text import Text, Tokenizer
from plmlab.world.datasets.batches import bilingual_batches, pair_batches, sentence_batches
from plmlab.world.datasets.texts import document_text, sentence_texts
from plmlab.world.datasets.tokenizer import build_bilingual_tokenizer, build_world_tokenizer
from plmlab.world.grammar.sentence import Sentence


@pytest.fixture(scope="module")
def tokenizer(small):
    return build_world_tokenizer(small)


def names(text: Text, tokenizer: Tokenizer) -> list[list[str]]:
    """The words of the entities."""
    return [tokenizer.tokens(text[start:end]) for start, end in text.entities]


def by_tags(sentence: Sentence) -> list[list[str]]:
    """The words of the entities, read off the BIO tags."""
    found: list[list[str]] = []
    for word, tag in zip(sentence.words, sentence.bio, strict=True):
        if tag.startswith("B-"):
            found.append([])
        if tag != "O":
            found[-1].append(word)
    return found


def test_a_sentence_knows_its_words_itself_and_what_it_mentions(small, tokenizer) -> None:
    sentences = list(islice(small.sentences("train", seed=2), 200))
    for sentence, text in zip(sentences, sentence_texts(sentences, tokenizer), strict=True):
        assert [tokenizer.tokens(text[slice(*word)]) for word in text.words] == [[word] for word in sentence.words]
        assert text.sentences == ((0, len(sentence.words)),) and names(text, tokenizer) == by_tags(sentence)
    assert len({len(sentence.mentions) for sentence in sentences}) > 1


def test_a_document_knows_its_sentences(small, tokenizer) -> None:
    for article in islice(small.articles(), 10):
        text = document_text(article.sentences, tokenizer)
        assert tokenizer.tokens(text) == list(article.words) and len(text.words) == len(text)
        assert [tuple(tokenizer.tokens(text[slice(*one)])) for one in text.sentences] == [
            one.words for one in article.sentences]
        assert names(text, tokenizer) == [name for one in article.sentences for name in by_tags(one)]
        assert len(text[1:].sentences) == len(article.sentences) - 1
    assert document_text([], tokenizer) == ()


def test_a_tokenizer_that_cuts_words_is_refused(small) -> None:
    sentences = list(islice(small.sentences(), 5))
    with pytest.raises(ValueError, match="one token per word"):
        sentence_texts(sentences, Tokenizer.bpe([one.text for one in sentences], 300))


def given_to(make, objective=masked) -> list[Text]:
    """What the batches of a source hand their objective."""
    found: list[Text] = []

    def asked(*texts, **more):
        found.extend(text for text in texts if not isinstance(text, bool))
        return objective(texts[0], vocab=more["vocab"], rng=more["rng"])
    made = make(asked)
    made(3)
    return found


@pytest.mark.parametrize("split", ["train", "test", "entities"])
def test_batches_of_sentences_hand_on_what_the_world_knows(small, tokenizer, split: str) -> None:
    texts = given_to(lambda ask: sentence_batches(small, split, tokenizer, ask, 40, 7))
    seed = int(Random("7:3").random() * 2**53)
    for text, sentence in zip(texts, small.sentences(split, seed), strict=False):
        assert tokenizer.tokens(text) == list(sentence.words) and names(text, tokenizer) == by_tags(sentence)
        assert len(text.words) == len(text) and text.sentences == ((0, len(text)),)
    assert len(texts) == 40


def test_of_chinese_and_of_pairs_less_is_known(small) -> None:
    tokenizer = build_bilingual_tokenizer(small)
    texts = given_to(lambda ask: bilingual_batches(small, "train", tokenizer, ask, 40, 7))
    english = [any(name.isascii() and name.isalpha() for name in tokenizer.tokens(text)) for text in texts]
    assert [text.entities is not None for text in texts] == english and 5 < sum(english) < 35
    assert all(len(text.words) == len(text) and len(text.sentences) == 1 for text in texts)
    pairs = given_to(lambda ask: pair_batches(small, "train", tokenizer, 5, 7, objective=ask))
    assert len(pairs) == 10
    assert all(len(text.words) == len(text) and text.sentences is text.entities is None for text in pairs)


def test_the_objective_whose_floor_is_asked_is_told_the_same(small) -> None:
    found: list[Text] = []

    def of_entities(tokens, *, vocab, rng):
        found.append(tokens)
        return masked(tokens, vocab=vocab, rng=rng, select=[start + 1 for start, _ in tokens.entities or [(0, 1)]])
    small.floor(of_entities, sentences=30, rng=Random(4))
    seed = int(Random(4).random() * 2**31)
    for text, sentence in zip(found, small.sentences("train", seed), strict=False):
        assert [list(sentence.words[slice(*span)]) for span in text.entities] == by_tags(sentence)
        assert len(text.words) == len(sentence.words) and text.sentences == ((0, len(text)),)
    assert len(found) == 30 and partial(small.floor, causal)().exact
