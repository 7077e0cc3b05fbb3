"""The measures, against published examples, formulas worked by hand, and the libraries' own records."""

import math
import random
import subprocess
import sys
import warnings

import pytest

from plmlab.metrics import (
    above_floor,
    accuracy,
    answers,
    bleu,
    entity_f1,
    f1,
    normalised,
    perplexity,
    rouge,
)


def test_texts_too_short_for_a_measure_are_warned_of():
    """Even a perfect answer gets 0 there; sacrebleu and rouge-score say nothing."""
    with pytest.warns(UserWarning, match="no generated text has four words"):
        assert bleu(["the cat"], ["the cat"]) == 0
    with pytest.warns(UserWarning, match="no generated text has four words"):
        assert bleu(["\u732b\u5750"], ["\u732b\u5750\u4e0b\u4e86"], chinese=True) == 0
    with pytest.warns(UserWarning, match="no reference has two words"):
        assert rouge(["cat"], ["cat"]).rouge2 == 0
    with pytest.warns(UserWarning, match="the gold tags contain no entity"):
        assert entity_f1([["O", "O"]], [["O", "O"]]) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bleu(["the cat", "the cat sat down"], ["the cat", "the cat sat down"]) == pytest.approx(100)
        assert rouge(["cat", "the cat"], ["cat", "the cat"]).rouge2 == 0.5
        assert entity_f1([["O"], ["O"]], [["O"], ["B-PER"]]) == 0


def test_perplexity_is_the_number_of_equal_choices():
    assert perplexity(math.log(8)) == pytest.approx(8)
    assert perplexity(0.0) == 1


@pytest.mark.parametrize("loss, error, leaks, says", [
    (2.5, 0.0, False, "0.500 nats above the floor"), (2.0, 0.0, False, "at the floor"),
    (1.9, 0.05, False, "at the floor"), (2.1, 0.05, False, "at the floor"),
    (1.9, 0.02, True, "0.100 nats below the floor: target leakage"),
    (1.999, 0.0, True, "target leakage"),
])
def test_a_loss_is_judged_against_its_floor(loss, error, leaks, says):
    found = above_floor(loss, 2.0, error)
    assert found.leaks == leaks and says in found.verdict
    assert found.excess == pytest.approx(loss - 2)
    assert found.ratio == pytest.approx(perplexity(loss) / perplexity(2.0))


def test_honest_noise_is_hardly_ever_called_a_leak():
    rng = random.Random(0)
    accused = 0
    for _ in range(2000):
        nats = [-math.log(0.5 if rng.random() < 0.5 else 0.5 / 16) for _ in range(400)]
        mean = sum(nats) / len(nats)
        error = (sum((x - mean) ** 2 for x in nats) / (len(nats) - 1) / len(nats)) ** 0.5
        floor = math.log(2) + 0.5 * math.log(16)
        accused += above_floor(mean, floor, error).leaks
    assert accused < 10


def ngrams(words: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def bleu_by_hand(written: list[list[str]], references: list[list[str]]) -> float:
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for ours, theirs in zip(written, references, strict=True):
            left = ngrams(theirs, n)
            for gram in ngrams(ours, n):
                total += 1
                if gram in left:
                    left.remove(gram)
                    hits += 1
        logs.append(math.log(hits / total))
    c, r = sum(map(len, written)), sum(map(len, references))
    return 100 * min(1.0, math.exp(1 - r / c)) * math.exp(sum(logs) / 4)


def test_bleu_is_the_papers_formula():
    ours = ["the cat sat on the mat today", "a dog ran over the green hill"]
    theirs = ["the cat sat on the mat", "a dog ran over the green hill near the town"]
    by_hand = bleu_by_hand([s.split() for s in ours], [s.split() for s in theirs])
    assert bleu(ours, theirs) == pytest.approx(by_hand)
    assert bleu(theirs, theirs) == pytest.approx(100)


def test_bleu_of_chinese_counts_characters():
    ours, theirs = ["他在咖啡馆里看了一部电影"], ["他在咖啡馆里看了两部电影"]
    assert bleu(ours, theirs, chinese=True) == pytest.approx(bleu_by_hand([list(ours[0])], [list(theirs[0])]))
    assert bleu(ours, theirs) < 1


def test_rouge_counts_shared_words_pairs_and_the_common_order():
    found = rouge(["police kill the gunman"], ["police killed the gunman"])
    assert (found.rouge1, found.rouge2, found.rougeL) == pytest.approx((3 / 4, 1 / 3, 3 / 4))
    jumbled = rouge(["the gunman kill police"], ["police killed the gunman"])
    assert (jumbled.rouge1, jumbled.rouge2, jumbled.rougeL) == pytest.approx((3 / 4, 1 / 3, 2 / 4))
    two = rouge(["police kill the gunman", "no"], ["police killed the gunman", "yes"])
    assert two.rouge1 == pytest.approx(3 / 8)


def test_rouge_of_chinese_counts_characters():
    assert rouge(["我爱苹果"], ["我爱大象"], chinese=True).rouge1 == pytest.approx(2 / 4)
    assert rouge(["我 爱"], ["我爱"], chinese=True).rouge2 == 1


def test_accuracy_and_f1_are_those_worked_by_hand():
    gold, predicted = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 0, 0]
    assert accuracy(predicted, gold) == pytest.approx(3 / 6)
    class_f1 = (2 * 2 / (4 + 3), 2 * 1 / (2 + 2), 0.0)
    assert f1(predicted, gold) == pytest.approx(sum(class_f1) / 3)
    assert f1(predicted, gold, "weighted") == pytest.approx((3 * class_f1[0] + 2 * class_f1[1]) / 6)
    assert f1(predicted, gold, "micro") == pytest.approx(3 / 6)
    assert f1([1, 1, 0], [1, 0, 1], "binary") == pytest.approx(1 / 2)
    assert f1(["noun", "verb"], ["noun", "noun"]) == pytest.approx((2 / 3 + 0) / 2)


def spans(tags: list[str]) -> set[tuple[str, int, int]]:
    """The entities of well-formed BIO tags."""
    found, start = set(), None
    for i, tag in enumerate([*tags, "O"]):
        if start is not None and not tag.startswith("I-"):
            found.add((tags[start][2:], start, i))
            start = None
        if tag.startswith("B-"):
            start = i
    return found


def random_tags(rng: random.Random, entities: int) -> list[str]:
    """Entities of two tokens each, of random types, a third of them empty."""
    kinds = [("PER", "LOC", "")[int(rng.random() * 3)] for _ in range(entities)]
    return [tag for kind in kinds for tag in ((f"B-{kind}", f"I-{kind}") if kind else ("O", "B-PER"))]


def test_entity_f1_counts_whole_entities():
    assert entity_f1([["B-PER", "I-PER", "O"]], [["B-PER", "I-PER", "O"]]) == 1
    assert entity_f1([["B-PER", "O", "O"]], [["B-PER", "I-PER", "O"]]) == 0
    assert entity_f1([["B-LOC", "I-LOC", "B-PER"]], [["B-PER", "I-PER", "B-PER"]]) == pytest.approx(1 / 2)
    rng = random.Random(1)
    gold, guess = ([random_tags(rng, 6) for _ in range(60)] for _ in range(2))
    right = sum(len(spans(g) & spans(p)) for g, p in zip(gold, guess, strict=True))
    total = sum(len(spans(tags)) for tags in [*gold, *guess])
    assert 0 < right < total / 2
    assert entity_f1(guess, gold) == pytest.approx(2 * right / total)


@pytest.mark.parametrize("answer, gold, exact, shared", [
    ("The Cat!", "cat", 1, 1), ("an  apple", "Apple.", 1, 1), ("theatre", "atre", 0, 0),
    ("the red cat", "black cat", 0, 1 / 2), ("", "", 1, 1), ("cat", "", 0, 0), ("the", "", 1, 1),
    ("cat cat", "cat", 0, 2 / 3), ("dog", ["cat", "a dog"], 1, 1), ("《苹果》。", "苹果", 1, 1),
    ("红苹果", "苹果", 0, 4 / 5),
])
def test_answers_are_counted_as_squad_does(answer, gold, exact, shared):
    found = answers([answer], [gold])
    assert (found.exact, found.f1) == pytest.approx((exact, shared))


def test_answers_over_many_questions_are_means():
    found = answers(["The Fox's tail", "a cat", "dog"], ["Foxs Tail.", ["black cat", "two cats"], ""])
    assert (found.exact, found.f1) == pytest.approx((1 / 3, (1 + 2 / 3 + 0) / 3))
    assert normalised("The Fox's  tail, an end;") == "foxs tail end"


@pytest.mark.parametrize("measure", [bleu, rouge, accuracy, f1, entity_f1, answers])
def test_what_cannot_be_compared_is_refused(measure):
    with pytest.raises(ValueError, match="nothing to measure"):
        measure([], [])
    with pytest.raises(ValueError, match="1 predictions cannot be compared with 2"):
        measure(["O"], ["O", "O"])


def test_bad_tags_and_missing_answers_are_named():
    with pytest.raises(ValueError, match="sentence 1 has 1 predicted tags and 2 gold"):
        entity_f1([["O"], ["O"]], [["O"], ["O", "O"]])
    with pytest.raises(ValueError, match="'PER'; BIO tags are"):
        entity_f1([["PER"]], [["O"]])
    with pytest.raises(ValueError, match="no gold answer"):
        answers(["x"], [[]])
    with pytest.raises(ValueError, match="below 0"):
        above_floor(1.0, 1.0, -0.1)


def test_the_measures_import_nothing_heavy():
    code = ("import sys, plmlab.metrics; "
            "print([m for m in ('sacrebleu', 'seqeval', 'rouge_score', 'sklearn', 'torch') if m in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
