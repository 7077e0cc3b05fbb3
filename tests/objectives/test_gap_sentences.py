"""Gap sentences: the selections against exact brute force and by hand, source and target, and the masking of words."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from plmlab.example import IGNORE, PairExample
from plmlab.objectives import gap_sentences
from plmlab.objectives.gap_sentences import (
    SELECTIONS,
    Selection,
    gap_count,
    gap_score,
    independent,
    lead_sentences,
    original_ngrams,
    pad_started_pair,
    random_sentences,
    unique_ngrams,
)
from plmlab.text.text import Text
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)
PAD, UNK, M, END, X0 = 0, 1, 4, 6, 7
LETTERS = {letter: 40 + i for i, letter in enumerate("abcdefghijklmnopqrstuvwxyz.")} | {"_": M, "?": UNK, "$": END}
NAMES = {id: letter for letter, id in LETTERS.items()} | {PAD: "0", X0: "x"}


def ids(letters: str) -> Text:
    """One token per letter; sentences are separated by spaces."""
    ends = [0]
    for sentence in letters.split():
        ends.append(ends[-1] + len(sentence))
    return Text([LETTERS[letter] for letter in letters if letter != " "], sentences=pairwise(ends))


def shown(tokens) -> str:
    return "".join(NAMES[int(token)] for token in tokens)


def sides(example: PairExample) -> tuple[str, str]:
    """What the encoder reads, and the targets of the decoder."""
    return shown(example.source.tokens), shown(example.target.targets)


def made(letters: str, **choices) -> tuple[str, str]:
    return sides(gap_sentences(ids(letters), vocab=VOCAB, rng=Random(0), **choices))


def selected(name: str, letters: str, count: int) -> list[int]:
    return sorted(SELECTIONS[name](letters.split(), count, Random(0)))


# --- brute force, in exact fractions, without Counter or rouge-score

def exact_f1(inside: list, outside: list, uniq: bool) -> Fraction:
    """Each token of one side is crossed out once on the other."""
    if uniq:
        inside, outside = sorted(set(inside)), sorted(set(outside))
    left, hits = list(outside), 0
    for token in inside:
        if token in left:
            left.remove(token)
            hits += 1
    if not hits:
        return Fraction(0)
    precision, recall = Fraction(hits, len(inside)), Fraction(hits, len(outside))
    return 2 * precision * recall / (precision + recall)


def without(document: list[list], gone: Sequence[int]) -> tuple[list, list]:
    """The tokens of some sentences, and those of all others."""
    inside = [token for i, sentence in enumerate(document) if i in gone for token in sentence]
    outside = [token for i, sentence in enumerate(document) if i not in gone for token in sentence]
    return inside, outside


def brute(document: list[list], count: int, uniq: bool, one_by_one: bool) -> list[int]:
    """Of all sentences that are left, the best; the last of several."""
    chosen: list[int] = []
    for _ in range(count):
        best, where = Fraction(-1), -1
        for i in range(len(document)):
            score = exact_f1(*without(document, [*(chosen if one_by_one else []), i]), uniq)
            if i not in chosen and score >= best:
                best, where = score, i
        chosen.append(where)
    return sorted(chosen)


@pytest.mark.parametrize(("name", "uniq", "one_by_one"), [
    ("Ind-Orig", False, False), ("Ind-Uniq", True, False), ("Seq-Orig", False, True), ("Seq-Uniq", True, True)])
def test_selections_are_those_of_brute_force(name: str, uniq: bool, one_by_one: bool) -> None:
    rng, seen = Random(1), Counter()
    for _ in range(150):
        document = [[40 + int(rng.random() * 7) for _ in range(1 + int(rng.random() * 6))]
                    for _ in range(1 + int(rng.random() * 6))]
        for count in {1, -(-len(document) // 2)}:
            found = sorted(SELECTIONS[name](document, count, Random(0)))
            assert found == brute(document, count, uniq, one_by_one), document
            seen[tuple(found)] += 1
    assert len(seen) > 20


def test_the_four_selections_differ() -> None:
    rng, differ = Random(2), Counter()
    for _ in range(100):
        document = [[40 + int(rng.random() * 7) for _ in range(1 + int(rng.random() * 6))] for _ in range(6)]
        chosen = {name: tuple(sorted(SELECTIONS[name](document, 3, Random(0)))) for name in SELECTIONS}
        differ.update((one, other) for one in chosen for other in chosen if chosen[one] != chosen[other])
    names = ["Ind-Orig", "Ind-Uniq", "Seq-Orig", "Seq-Uniq"]
    assert all(differ[one, other] > 5 for one in names for other in names if one != other)


# --- by hand

def test_scores_by_hand() -> None:
    """Of "aabc", "abde" has "b" and one of the two "a": 2 hits, P = 2/4, R = 2/4."""
    assert gap_score(["aabc", "abde"], [0], original_ngrams) == 0.5
    assert gap_score(["aabc", "abde"], [0], unique_ngrams) == pytest.approx(2 * 2 / (3 + 4))
    assert gap_score(["aabc", "aa", "abde"], [0], original_ngrams) == pytest.approx(2 * 3 / (4 + 6))
    assert gap_score(["aabc", "aa", "abde"], [0, 1], original_ngrams) == pytest.approx(2 * 2 / (6 + 4))
    assert gap_score(["abc", "de"], [0], original_ngrams) == gap_score(["abc"], [0], original_ngrams) == 0


def test_repeated_words_count_only_among_original_ngrams() -> None:
    """Hits of Orig: 3, 2, 3, 2; F1 of Uniq: 2/8, 4/9, 2/8, 4/9."""
    text = "aaa bc aaadefg bc"
    assert selected("Ind-Orig", text, 1) == selected("Seq-Orig", text, 1) == [2]
    assert selected("Ind-Uniq", text, 1) == selected("Seq-Uniq", text, 1) == [3]


def test_sequential_selection_avoids_a_second_copy() -> None:
    """With "abc" selected, its copy adds nothing to the rest, but "de" and "def" still match each other."""
    assert selected("Ind-Orig", "abc abc de def", 2) == [0, 1]
    assert selected("Seq-Orig", "abc abc de def", 2) == [1, 3]


@pytest.mark.parametrize("name", ["Ind-Orig", "Ind-Uniq", "Seq-Orig", "Seq-Uniq"])
def test_of_equal_scores_the_later_sentence_wins(name: str) -> None:
    assert selected(name, "ab cd ef gh", 1) == [3] and selected(name, "ab cd ef gh", 2) == [2, 3]
    assert selected(name, "ab ab c d", 1) == [1]


def test_equal_fractions_are_equal_scores() -> None:
    """P and R of sentences of different lengths are different numbers; 2PR / (P + R) can then differ in its last bit
    although both fractions are the same, 2 · hits / (all tokens)."""
    document = ["a", "abcdefg", "ahijklmnopq"]
    scores = {gap_score(document, [i], original_ngrams) for i in range(3)}
    assert scores == {round(2 / 19, 9)}


def test_the_first_and_random_sentences() -> None:
    assert lead_sentences(["a", "b", "c"], 2, Random(0)) == [0, 1]
    found = Counter(tuple(sorted(random_sentences("abcd", 2, Random(seed)))) for seed in range(1200))
    assert len(found) == 6 and all(140 < count < 260 for count in found.values())


@pytest.mark.parametrize(("sentences", "rate", "count"), [
    (1, 0.3, 1), (1, 1.0, 1), (3, 0.3, 1), (6, 0.3, 1), (7, 0.3, 2), (9, 0.3, 2), (10, 0.3, 3), (20, 0.15, 3),
    (20, 0.45, 9), (3, 0.05, 1), (4, 1.0, 4), (100, 0.29, 29), (100, 0.57, 57)])
def test_how_many_sentences(sentences: int, rate: float, count: int) -> None:
    """Rounded down, at least one; 0.29 · 100 is 28.999… as a float."""
    assert gap_count(sentences, rate) == count
    text = Text([40] * sentences, sentences=[(i, i + 1) for i in range(sentences)])
    assert gap_sentences(text, vocab=VOCAB, rng=Random(0), rate=rate).source.tokens.tolist().count(M) == count


# --- source and target

def test_a_worked_document() -> None:
    """The second sentence shares five tokens with the others, the first and the third one three each."""
    example = gap_sentences(ids("ab. abcde. cdf."), vocab=VOCAB, rng=Random(0))
    assert sides(example) == ("ab._cdf.$", "abcde.$")
    assert shown(example.target.tokens) == "0abcde."
    assert example.target.position_ids.tolist() == [list(range(7))]
    assert example.source.position_ids.tolist() == [list(range(9))]
    assert example.source.visible.dense().all() and example.cross.dense().all()
    assert (example.target.visible.dense() == example.target.visible.dense().tril()).all()
    assert set(example.source.targets.tolist()) == {IGNORE}


def test_targets_are_in_the_order_of_the_text() -> None:
    """Ind ranks the last sentence before the second one; one [MASK] for each, nothing between the targets."""
    assert independent(["de", "abc", "def", "abc"], 2, Random(0)) == [3, 1]
    assert made("de abc def abc", rate=0.5) == ("de_def_$", "abcabc$")
    assert made("de abc def ghi", select=[3, 0]) == ("_abcdef_$", "deghi$")
    assert made("de abc", select=()) == ("deabc$", "$")


def test_every_token_is_in_the_source_or_in_the_target() -> None:
    for seed in range(60):
        rng = Random(seed)
        letters, sentences = list("abcdefghijklmnopqrst"), []
        while letters:
            sentences.append("".join(letters.pop(0) for _ in range(min(len(letters), 1 + int(rng.random() * 5)))))
        source, target = made(" ".join(sentences), rate=0.6, selection=random_sentences)
        kept = [part for part in source[:-1].split("_") if part]
        assert "".join(sorted(source + target)).replace("_", "") == "$$abcdefghijklmnopqrst"
        assert target == "".join(sorted(target[:-1])) + "$" and source.count("_") == gap_count(len(sentences), 0.6)
        assert all(part == "".join(sorted(part)) for part in kept)


def test_a_text_of_one_sentence_is_its_own_target() -> None:
    assert made("abc") == ("_$", "abc$")
    plain = gap_sentences(Text(ids("abcd"), sentences=[]), vocab=VOCAB, rng=Random(0))
    assert sides(plain) == ("_$", "abcd$"), "no sentence ends in this text"


def test_the_rest_of_a_truncated_sentence_belongs_to_the_one_before() -> None:
    text = ids("ab abc xyz")[:7]
    assert text.sentences == ((0, 2), (2, 5))
    assert sides(gap_sentences(text, vocab=VOCAB, rng=Random(0), select=[1])) == ("ab_$", "abcxy$")


def test_special_tokens_and_ignored_ids_do_not_count() -> None:
    """With [UNK], the first two sentences would share a token; without "a", "b" and "e", only the last two do."""
    assert made("?b ?c d e") == ("?b?cd_$", "e$")
    assert made("abe abe ac dc") == ("abe_acdc$", "abe$")
    assert made("abe abe ac dc", ignore={LETTERS[letter] for letter in "abe"}) == ("abeabeac_$", "dc$")


def test_a_selection_gets_the_words_of_each_sentence() -> None:
    seen = []

    def second(sentences: Sequence[Sequence[int]], count: int, rng: Random) -> list[int]:
        seen.append(([shown(sentence) for sentence in sentences], count))
        return [1]
    assert made("a?b cd e", selection=second) == ("a?b_e$", "cd$")
    assert seen == [(["ab", "cd", "e"], 1)]


# --- sentences that stay

def test_intact_sentences_are_targets_too() -> None:
    assert made("abc abc de def", rate=0.5, intact=1.0) == ("abcabcdedef$", "abcabc$")
    sources = Counter(sides(gap_sentences(ids("abc abc de def"), vocab=VOCAB, rng=Random(seed), rate=0.5, intact=0.2))
                      for seed in range(1000))
    assert {target for _, target in sources} == {"abcabc$"}
    shares = {source: count / 1000 for (source, _), count in sources.items()}
    for source, expected in (("__dedef$", 0.64), ("abc_dedef$", 0.16), ("_abcdedef$", 0.16), ("abcabcdedef$", 0.04)):
        assert abs(shares[source] - expected) < 0.05


@pytest.mark.parametrize(("name", "draws"), [("Ind-Orig", False), ("Seq-Uniq", False), ("Random", True)])
def test_which_selections_draw(name: str, draws: bool) -> None:
    rng = Random(0)
    gap_sentences(ids("ab cd ef"), vocab=VOCAB, rng=rng, selection=SELECTIONS[name])
    assert (rng.getstate() != Random(0).getstate()) == draws


# --- masked words

def test_masked_words_are_targets_of_the_encoder() -> None:
    """15 % of the 20 tokens of the unselected sentences: 3; the decoder's side stays the same."""
    text = ids("abcdefghij klmnopqrst uv uv")
    assert sides(gap_sentences(text, vocab=VOCAB, rng=Random(0), select=[2, 3]))[0] == "abcdefghijklmnopqrst__$"
    outcomes = Counter()
    for seed in range(400):
        example = gap_sentences(text, vocab=VOCAB, rng=Random(seed), select=[2, 3], masking=0.15)
        tokens, targets = example.source.tokens.tolist(), example.source.targets.tolist()
        assert len(tokens) == len(targets) == 23 and shown(tokens[20:]) == "__$"
        assert shown(example.target.targets) == "uvuv$" and set(targets[20:]) == {IGNORE}
        chosen = [i for i, target in enumerate(targets) if target != IGNORE]
        assert len(chosen) == 3
        for i, (now, before) in enumerate(zip(tokens, text, strict=False)):
            if i in chosen:
                assert targets[i] == before
                outcomes["mask" if now == X0 else "same" if now == before else "random"] += 1
            elif i < 20:
                assert now == before
    assert abs(outcomes["mask"] / 1200 - 0.8) < 0.03 and abs(outcomes["same"] / 1200 - 0.1) < 0.03


def test_masking_takes_at_least_one_word_where_there_is_one() -> None:
    def masked(letters: str, **choices) -> int:
        example = gap_sentences(ids(letters), vocab=VOCAB, rng=Random(0), masking=0.15, **choices)
        return int((example.source.targets != IGNORE).sum())
    assert masked("ab c") == 1 and masked("ab c", rate=1.0) == 0
    whole = gap_sentences(ids("abcd ab"), vocab=VOCAB, rng=Random(0), select=[1], masking=1.0,
                          corrupt=lambda token, vocab, rng: X0)
    assert shown(whole.source.tokens) == "xxxx_$" and shown(whole.source.targets[:4]) == "abcd"
    intact = gap_sentences(ids("abcd ab"), vocab=VOCAB, rng=Random(0), select=[1], masking=1.0, intact=1.0,
                           corrupt=lambda token, vocab, rng: X0)
    assert shown(intact.source.tokens) == "xxxxab$", "a selected sentence that stays is not masked"


# --- refused

def test_the_plain_pair() -> None:
    example = pad_started_pair([41], [42, 43], VOCAB)
    assert example.source.tokens.tolist() == [41, END]
    assert example.target.tokens.tolist() == [PAD, 42, 43]
    assert example.target.targets.tolist() == [42, 43, END]


@pytest.mark.parametrize(("choices", "message"), [
    ({"rate": 0}, "rate=0"), ({"rate": 1.5}, "rate=1.5"), ({"intact": -0.1}, "intact=-0.1: give a proportion"),
    ({"masking": 2}, "masking=2: give a proportion"), ({"select": [2]}, r"select=\[2\]: give indices of the 2 sentenc"),
])
def test_what_is_refused(choices: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made("ab cd", **choices)


def test_texts_that_are_refused() -> None:
    with pytest.raises(ValueError, match="gap-sentence generation needs the sentences of a text"):
        gap_sentences([40, 41], vocab=VOCAB, rng=Random(0))
    with pytest.raises(ValueError, match="the text is empty"):
        gap_sentences(Text([], sentences=[]), vocab=VOCAB, rng=Random(0))


def test_the_paper_s_selections() -> None:
    assert list(SELECTIONS) == ["Random", "Lead", "Ind-Orig", "Ind-Uniq", "Seq-Orig", "Seq-Uniq"]
    default: Selection = SELECTIONS["Ind-Orig"]
    assert default is independent
