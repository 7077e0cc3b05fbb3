"""One string given for a list of words is refused wherever it would be read letter by letter, without a word."""

import pytest
import torch

from plmlab import world
from plmlab.metrics import accuracy, answers, bleu, entity_f1, f1, rouge, word_f1
from plmlab.retrieval import BM25
from plmlab.text import Tokenizer
from plmlab.text.characters import batch_codes
from plmlab.text.words import word_sentences, word_tokenizer
from plmlab.vectors.learning import learn_vectors
from plmlab.vectors.word_vectors import WordVectors

TEXTS = [["the", "cat"], ["a", "dog"]]


def vectors() -> WordVectors:
    return WordVectors(("a", "b", "ab"), torch.eye(3))


@pytest.mark.parametrize("ask", [
    lambda: BM25(TEXTS).best("the cat", 1), lambda: BM25(["the cat", "a dog"]), lambda: BM25("the cat"),
    lambda: bleu("the cat", "the cat"), lambda: rouge("the cat", "the cat"), lambda: accuracy("ab", "ab"),
    lambda: f1("ab", "ab"), lambda: answers("ab", "ab"), lambda: word_f1("cat", ["cat"]),
    lambda: word_f1(["cat"], "cat"),
    lambda: entity_f1(["OO"], ["OO"]), lambda: entity_f1([["O", "O"]], ["OO"]), lambda: entity_f1("OO", "OO"),
    lambda: batch_codes("the cat"), lambda: batch_codes(["the cat"]),
    lambda: learn_vectors(["the cat", "the cat"], show=False), lambda: [*word_sentences("the cat")],
    lambda: word_tokenizer("the cat"), lambda: Tokenizer.words(["the cat"], 99).encode_all("the cat"),
    lambda: vectors().only("ab"), lambda: vectors().near(torch.ones(3), without="ab"),
    lambda: world.small().logprob("the cat sleeps"), lambda: world.small().next_words("the cat"),
    lambda: world.small().explain("the cat"),
])
def test_a_string_is_no_list_of_words(ask) -> None:
    with pytest.raises(ValueError, match=r"list of strings, and one string was given: '"):
        ask()


def test_one_word_texts_are_found_as_words() -> None:
    assert BM25(TEXTS).best(["cat"], 1)[0].text == 0
