"""Long documents: two distant sentences, each of which alone states a fact that the question needs."""

from collections import Counter
from itertools import islice, pairwise
from random import Random

import pytest

from plmlab.world.datasets.long_documents import LONGEST, ROOM, SHORTEST, _arranged, long_documents
from plmlab.world.datasets.reworded_articles import WORDINGS, Paragraph, RewordedArticles
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.datasets.two_hop_questions import SPLITS, facts_of_later_splits, two_hop_questions
from plmlab.world.documents.articles import Library
from plmlab.world.documents.stated import FactExtractor
from plmlab.world.world import World


def words(document, span):
    return tuple(world_tokenizer().tokens(document.tokens[slice(*span[:2])]))


def plain(full, fact):
    """A fact as a set of its ends where its relation holds in both directions."""
    mirrored = full.facts.relation(fact.relation).mirrored
    return fact.relation, frozenset([fact.subject, fact.object]) if mirrored else (fact.subject, fact.object)


@pytest.fixture(scope="module")
def drawn(full):
    """Documents of each split."""
    return {split: list(islice(long_documents(full, split, 3, lengths=(500, most)), number))
            for split, most, number in (("train", 1000, 60), ("development", 700, 15), ("test", 700, 30))}


@pytest.fixture(scope="module")
def everything(drawn):
    return [document for documents in drawn.values() for document in documents]


def test_paragraphs_and_sentences_cover_the_tokens(everything):
    for document in everything:
        for spans in (document.paragraphs, document.tokens.sentences):
            assert spans[0][0] == 0 and spans[-1][1] == len(document.tokens)
            assert all(one[1] == other[0] for one, other in pairwise(spans))
        ends = {end for _, end in document.tokens.sentences}
        assert all(end in ends for _, end in document.paragraphs)
        assert len({*document.entities}) == len(document.entities) == len(document.paragraphs)
        assert {*document.question.needed} < {*document.entities}
        assert document.query == tuple(world_tokenizer().encode(document.question.text, plain=True))


def test_supports_are_sentences_of_the_needed_articles_and_the_second_has_the_answer(everything):
    for document in everything:
        for support, key in zip(document.supports, document.question.needed, strict=True):
            assert document.entities[support.paragraph] == key
            start, end = document.paragraphs[support.paragraph]
            assert start <= support.start < support.end <= end
            assert (support.start, support.end) in document.tokens.sentences
        assert words(document, document.answer) == document.question.answer
        second = document.supports[1]
        assert second.start <= document.answer[0] and document.answer[1] <= second.end


@pytest.mark.parametrize("split", SPLITS)
def test_no_other_sentence_states_a_needed_fact(full, split):
    """By an independent extraction of facts from the text."""
    extractor = FactExtractor(full.library)
    for document in islice(long_documents(full, split, 5, lengths=(400, 500)), 25):
        needed = [plain(full, fact) for fact in document.question.facts]
        stating = {}
        for span in document.tokens.sentences:
            entity = next(key for key, (start, end) in zip(document.entities, document.paragraphs, strict=True)
                          if start <= span[0] < end)
            facts = {plain(full, fact) for fact in extractor.stated(words(document, span), entity)}
            stating |= {(fact, span): None for fact in needed if fact in facts}
        supports = [support[:2] for support in document.supports]
        assert {*stating} == {*zip(needed, supports, strict=True)}, document.question.text


def test_the_second_article_alone_does_not_answer_the_question(full, everything):
    """In the world's own articles it does."""
    for document in everything:
        subject, bridge = document.question.needed
        assert full.corpora.articles(document.question.split)[bridge].telling(document.question.facts[0]) is not None
        alone = words(document, document.paragraphs[document.supports[1].paragraph])
        assert f" {full.facts[subject].name} " not in f" {' '.join(alone)} "


def test_the_distance_is_counted_by_hand(everything):
    for document in everything[::20]:
        one, two = sorted((support.start, support.end) for support in document.supports)
        assert document.distance == len(document.tokens[one[1]:two[0]]) >= 0


def test_lengths_spread_over_their_range(drawn):
    lengths = Counter((len(one.tokens) - 500) // 100 for one in drawn["train"])
    assert {*lengths} == {*range(5)} and min(lengths.values()) > 5
    assert all(500 <= len(one.tokens) <= 1000 for one in drawn["train"])


def test_the_supports_are_in_either_order_and_the_answer_is_at_every_place():
    bridge, answer, *others = (Paragraph(number, range(50)) for number in range(42))
    rng = Random(1)
    orders = [[one.article for one in _arranged((bridge, answer), others, rng)] for _ in range(4000)]
    places = Counter(order.index(1) // 6 for order in orders)
    assert {*places} == {*range(7)} and all(count == pytest.approx(4000 / 7, abs=100) for count in places.values())
    assert sum(order.index(0) < order.index(1) for order in orders) == pytest.approx(2000, abs=130)
    assert {abs(order.index(0) - order.index(1)) // 6 for order in orders} == {*range(7)}


def test_the_splits_have_no_question_and_no_needed_fact_in_common(full):
    needed = {split: {plain(full, fact) for one in two_hop_questions(full, split) for fact in one.facts}
              for split in SPLITS}
    for one, other in (SPLITS[:2], SPLITS[1:], SPLITS[::2]):
        assert needed[one].isdisjoint(needed[other])
    assert [len(two_hop_questions(full, split)) for split in SPLITS] == [883, 60, 202]


def test_the_last_fact_of_a_test_question_is_in_no_training_text(full):
    known = {plain(full, fact) for article in full.articles("train") for one in article.sentences for fact in one.facts}
    assert all(plain(full, one.facts[1]) not in known for one in two_hop_questions(full, "test"))


@pytest.mark.parametrize("split", SPLITS[:2])
def test_articles_state_no_fact_of_later_splits(full, split, monkeypatch):
    stated = set()
    article = Library.article

    def kept(*arguments):
        found = article(*arguments)
        stated.update(fact for one in found.sentences for fact in one.facts)
        return found
    monkeypatch.setattr(Library, "article", kept)
    articles = RewordedArticles(full, split)
    for key in articles.keys:
        articles._general(key, WORDINGS[split][0])
    assert len(stated) > 2000
    later = {plain(full, fact) for fact in facts_of_later_splits(full, split)}
    assert later and later.isdisjoint(plain(full, fact) for fact in stated)


def test_questions_of_another_seed_are_the_same_in_other_words(full):
    for split in SPLITS:
        one, other = (two_hop_questions(full, split, seed) for seed in (0, 1))
        cases = [[(question.shape, question.facts) for question in some] for some in (one, other)]
        assert sorted(cases[0]) == sorted(cases[1]) and cases[0] != cases[1]
        assert {question.words for question in one} != {question.words for question in other}


def test_a_seed_determines_the_documents(full, drawn):
    again, other = (list(islice(long_documents(full, "test", seed, lengths=(500, 700)), 20)) for seed in (3, 4))
    assert again == drawn["test"][:20] != other


def test_a_document_needs_few_new_articles(full, monkeypatch):
    """The others are cached: 1,000 documents take seconds."""
    documents = long_documents(full, "development", 8, lengths=(1000, 2000))
    list(islice(documents, 100))
    written, article = [], Library.article
    monkeypatch.setattr(Library, "article", lambda self, key, *rest: written.append(key) or article(self, key, *rest))
    assert sum(len(one.entities) for one in islice(documents, 50)) > 1000
    assert len(written) < 250


def test_a_document_can_have_16000_tokens(full):
    document = next(long_documents(full, "train", lengths=(LONGEST - ROOM, LONGEST)))
    assert LONGEST - ROOM <= len(document.tokens) <= LONGEST


@pytest.mark.parametrize("lengths", [(SHORTEST - 1, 4000), (500, LONGEST + 1), (500, 500 + ROOM - 1), (900, 500)])
def test_impossible_lengths_are_refused(full, lengths):
    with pytest.raises(ValueError, match=r"400 to 16,000 tokens, and the maximum must be at least 60 above"):
        long_documents(full, "train", lengths=lengths)


def test_other_splits_and_worlds_that_are_too_small_are_refused(full, small, monkeypatch):
    with pytest.raises(ValueError, match="unknown split 'facts'; the splits are train, development, test"):
        long_documents(full, "facts")
    with pytest.raises(ValueError, match=r"all articles of this world have .* tokens, too few for"):
        long_documents(World("medium", 1), "train")
    monkeypatch.setattr("plmlab.world.datasets.long_documents.TRIES", 0)
    with pytest.raises(ValueError, match="in no wording of this world's articles"):
        next(long_documents(full, "development"))
    monkeypatch.setattr(small, "questions", lambda *_: iter(()))
    with pytest.raises(ValueError, match="no question of two hops in the split 'test'"):
        two_hop_questions(small, "test")
