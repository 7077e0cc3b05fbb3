"""What is said of arguments of the wrong kind: one string for a list of words is refused, and long data is cut."""

from random import Random

import pytest
import torch

from plmlab import world
from plmlab.metrics import accuracy, answers, bleu, entity_f1, f1, rouge, word_f1
from plmlab.objectives import permuted, window
from plmlab.plots import attention_heatmap
from plmlab.retrieval import BM25
from plmlab.tables import Table
from plmlab.text import Tokenizer
from plmlab.text.characters import batch_codes
from plmlab.text.pages import TitledPages
from plmlab.text.vocabulary import Vocabulary
from plmlab.text.words import word_sentences, word_tokenizer
from plmlab.train import History
from plmlab.vectors import write_glove
from plmlab.vectors.learning import learn_vectors
from plmlab.vectors.word_vectors import WordVectors
from plmlab.world.datasets.tokenizer import build_world_tokenizer

TEXTS = [["the", "cat"], ["a", "dog"]]


def vectors() -> WordVectors:
    return WordVectors(("a", "b", "ab"), torch.eye(3))


@pytest.mark.parametrize("ask", [
    lambda: BM25(TEXTS).search(["the cat"], 1), lambda: BM25(["the cat", "a dog"]), lambda: BM25("the cat"),
    lambda: bleu("the cat", "the cat"), lambda: rouge("the cat", "the cat"), lambda: accuracy("ab", "ab"),
    lambda: f1("ab", "ab"), lambda: answers("ab", "ab"), lambda: word_f1("cat", ["cat"]),
    lambda: word_f1(["cat"], "cat"),
    lambda: entity_f1(["OO"], ["OO"]), lambda: entity_f1([["O", "O"]], ["OO"]), lambda: entity_f1("OO", "OO"),
    lambda: batch_codes("the cat"), lambda: batch_codes(["the cat"]),
    lambda: learn_vectors(["the cat", "the cat"], show=False), lambda: [*word_sentences("the cat")],
    lambda: word_tokenizer("the cat"), lambda: Tokenizer.words(["the cat"], 99).encode_all("the cat"),
    lambda: vectors().only("ab"), lambda: vectors().near(torch.ones(3), without="ab"),
    lambda: world.small().logprob("the cat sleeps"), lambda: world.small().next_words("the cat"),
    lambda: world.small().explain("the cat"), lambda: attention_heatmap("a", [[1.0]], "ab", ["a"]),
    lambda: TitledPages({}, {}, Tokenizer.words(["the cat"], 99)).ids("the cat"),
])
def test_a_string_is_no_list_of_words(ask) -> None:
    with pytest.raises(ValueError, match=r"list of strings, but a single string was given: '"):
        ask()


def test_one_word_texts_are_found_as_words() -> None:
    assert BM25(TEXTS).search([["cat"]], 1).lists() == [(0,)]


LONG = "word " * 20_000


@pytest.mark.parametrize("ask", [
    lambda: vectors()[LONG], lambda: vectors().neighbours(LONG), lambda: Tokenizer.words(["the cat"], 99).id(LONG),
    lambda: write_glove(WordVectors((LONG,), torch.ones(1, 2)), "never"), lambda: BM25([LONG]),
    lambda: [*world.small().articles(split=LONG)], lambda: [*world.small().sentences(LONG)],
    lambda: window([1] * 9999, vocab=Vocabulary(60), rng=Random(0), reach=[1] * 9998),
    lambda: permuted([50] * 9999, vocab=Vocabulary(60), rng=Random(0), order=[0] * 9999),
    lambda: Table(("a",), ((LONG, LONG),)), lambda: History.from_dict(dict.fromkeys(map(str, range(9999))), "a"),
    lambda: build_world_tokenizer(world.small(), LONG), lambda: entity_f1([[LONG]], [[LONG]]),
])
def test_what_was_given_never_fills_a_message(ask) -> None:
    with pytest.raises(ValueError) as told:
        ask()
    assert len(str(told.value)) < 600
