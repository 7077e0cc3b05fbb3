"""Documents: runs of an article's sentences or sentences of the grammar, short enough, in one language."""

from collections import Counter
from itertools import islice
from random import Random

import pytest

from plmlab.objectives import causal
from plmlab.world.datasets.documents import MOST, document_batches, documents
from plmlab.world.datasets.tokenizer import build_bilingual_tokenizer
from plmlab.world.grammar.splits import is_test


def drawn(full, count=400, split="train", longest=40, **how):
    return list(islice(documents(full, split, Random(3), longest, **how), count))


def runs(full, split, longest):
    """Every run of an article's sentences that fits and cannot go on, by brute force, in English words."""
    found = set()
    for article in full.paired(split):
        rest = article.sentences
        for start in range(len(rest)):
            for end in range(start + 1, len(rest) + 1):
                sizes = [sum(max(len(one.words), len(one.chinese)) for one in rest[start:stop])
                         for stop in (end, end + 1)]
                if (end == start + 1 or sizes[0] <= longest) and (end == len(rest) or sizes[1] > longest):
                    found.add(tuple(one.words for one in rest[start:end]))
                    break
    return found


def words(document):
    return tuple(one.words for one in document)


@pytest.mark.parametrize("longest", [25, 60])
def test_documents_of_articles_are_their_longest_runs(full, longest):
    known = runs(full, "train", longest)
    told = drawn(full, longest=longest, articles=1)
    assert {words(document) for document in told} <= known
    assert len({words(document) for document in told}) > 300, "many different ones"
    assert any(len(document) > 3 for document in told) or longest < 60


def test_documents_of_the_grammar_are_sentences_of_the_split(full):
    for split in ("train", "test"):
        told = [one for document in drawn(full, 150, split, articles=0) for one in document]
        for one in told:
            assert full.logprob(one.words, split) > -100
            assert one.pattern not in full.open_patterns or is_test(one.words) == (split == "test")
    counts = Counter(map(len, drawn(full, 1200, longest=400, articles=0)))
    assert set(counts) == set(range(1, MOST + 1)) and min(counts.values()) > 240


def test_no_document_is_longer_than_asked_in_either_language(full):
    told = drawn(full, 1500)
    for side in ("words", "chinese"):
        sizes = [sum(len(getattr(one, side)) for one in document) for document in told]
        assert 35 < max(sizes) <= 40
    assert all(len(document) == 1 for document in drawn(full, 50, longest=1)), "at least one sentence"


def test_half_of_the_documents_are_of_articles(full):
    known = runs(full, "train", 400)
    share = sum(len(document) > 1 and words(document) in known for document in drawn(full, 1000, longest=400))
    multiple = sum(len(document) > 1 for document in drawn(full, 1000, longest=400, articles=1))
    assert share == pytest.approx(multiple / 2, abs=64)


def test_articles_of_the_plain_test_are_those_of_training(full):
    """So held-out documents have none, whatever is asked for."""
    assert {words(one.sentences) for one in full.paired("test")} == {words(one.sentences)
                                                                    for one in full.paired("train")}
    held_out = drawn(full, 150, "test")
    assert held_out == drawn(full, 150, "test", articles=0) == drawn(full, 150, "test", articles=1)


def test_a_minimum_number_of_sentences_leaves_out_shorter_documents(full):
    told = drawn(full, 300, least=2)
    assert told == [document for document in drawn(full, 600) if len(document) > 1][:300]


def texts_of(full, tokenizer, seed, step, **how):
    """The texts of a batch, as an objective is given them."""
    texts = []

    def keep(text, *, vocab, rng):
        texts.append(text)
        return causal(text, vocab=vocab, rng=rng)
    document_batches(full, "train", tokenizer, keep, 80, seed, longest=40, **how).examples(step)
    return texts


@pytest.mark.parametrize("bilingual", [False, True])
def test_sentences_make_up_a_text_in_one_language(full, bilingual):
    tokenizer, rng = build_bilingual_tokenizer(full), Random("1:5")
    drawn_again, chinese = documents(full, "train", rng, 40), 0
    for text in texts_of(full, tokenizer, 1, 5, bilingual=bilingual):
        document = next(drawn_again)
        other = bilingual and rng.random() < 0.5
        chinese += other
        sentences = [one.chinese if other else one.words for one in document]
        assert [tuple(tokenizer.tokens(text[begin:end])) for begin, end in text.sentences] == sentences
        assert tuple(tokenizer.tokens(text)) == tuple(word for sentence in sentences for word in sentence)
        assert (text.entities is None) == other and len(text.words) == len(text)
    assert 25 < chinese < 55 if bilingual else chinese == 0


def test_a_batch_depends_on_seed_and_step_only(full):
    tokenizer = build_bilingual_tokenizer(full)
    one, again, *others = (texts_of(full, tokenizer, *place) for place in ((1, 5), (1, 5), (1, 6), (2, 5)))
    assert one == again and all(one != other for other in others)
