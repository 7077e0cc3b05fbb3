"""GLM's floor: what its Examples cost who knows the grammar, against every sentence with every span written out."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice, permutations
from random import Random

import pytest
from blanks_brute import Fillings, all_fillings, all_spans, draw_spans, next_by_hand
from world_brute import Language, language, random_automaton

from plmlab.draws import shuffled
from plmlab.example import IGNORE
from plmlab.objectives import blank_infilling, blanks, causal, document_infilling, masked, sentence_infilling
from plmlab.world.probability.blanks import Blanks, Drawing, Span
from plmlab.world.probability.drawn_spans import blank_spans, document_span
from plmlab.world.probability.example_floor import example_floor, questions
from plmlab.world.probability.floors import FloorError
from plmlab.world.probability.infilling import drawn_blanks, filled_in_order, infilling, part_a, visible_blanks
from plmlab.world.probability.posterior import NotInGrammar
from plmlab.world.probability.readers import FIRST, PositionVocabulary, length_known

DRAWINGS = [(partial(blank_infilling, rate=0.15), partial(blank_spans, rate=0.15)),
            (partial(blank_infilling, rate=0.5), partial(blank_spans, rate=0.5)), (document_infilling, document_span)]
drawings = pytest.mark.parametrize(("objective", "drawing"), DRAWINGS, ids=["some", "half", "document"])


def asked(words, make, seed: int = 0):
    """What an objective asks of a sentence, and the vocabulary."""
    vocab = PositionVocabulary.of(len(words))
    return questions(make(range(FIRST, FIRST + len(words)), vocab=vocab, rng=Random(seed)), vocab), vocab


@pytest.mark.parametrize("drawing", [None, partial(blank_spans, rate=0.5)], ids=["visible", "drawn"])
def test_each_token_has_the_distribution_of_all_fillings_that_are_left(small, drawing: Drawing | None):
    """In the order of the blanks: known are Part A, the blanks before, the words before."""
    automata = [(small.automaton(), 6)] + [(random_automaton(seed), 3) for seed in range(12)]
    compared = 0
    for automaton, number in automata:
        sentences = language(automaton)
        for seed, words in enumerate(shuffled(Random(2), [words for words in sorted(sentences) if words])[:number]):
            spans = draw_spans(Random(seed), len(words))
            if drawing and not drawing(len(words), spans):
                continue
            text, order, filled = part_a(words, spans), shuffled(Random(seed), range(len(spans))), {}
            found = iter(infilling(automaton, words, spans, order, drawing))
            for blank in order:
                ways = all_fillings(sentences, text, filled, *[drawing] if drawing else [])
                said = words[slice(*spans[blank])]
                for place in range(len(said) + 1):
                    assert next(found) == pytest.approx(next_by_hand(ways, blank, said[:place]))
                    compared += 1
                filled[blank] = said
            assert next(found, None) is None
    assert compared > 60


@drawings
def test_an_objective_draws_spans_as_often_as_is_told(objective, drawing: Drawing, monkeypatch):
    """Over all spans it adds up to 1, and 4,000 draws, of which no Example is made, keep near it."""
    for count in range(1, 9):
        assert sum(drawing(count, spans) for spans in all_spans(count)) == pytest.approx(1)
        assert all(drawing(count, spans) >= 0 for spans in all_spans(count))
    monkeypatch.setattr(blanks, "_infilled", lambda tokens, spans, order, vocab: spans)
    met = Counter(tuple(objective(range(7), vocab=None, rng=Random(seed))) for seed in range(4000))
    expected = {tuple(spans): 4000 * p for spans in all_spans(7) if (p := drawing(7, spans))}
    assert set(met) <= set(expected)
    frequent = {spans: times for spans, times in expected.items() if times >= 5}
    chi_square = sum((met[spans] - times) ** 2 / times for spans, times in frequent.items())
    assert len(frequent) > 5 and abs(chi_square - len(frequent)) < 4 * math.sqrt(2 * len(frequent))


@pytest.mark.parametrize("spans", [[], [(0, 0)], [(2, 4), (4, 5)], [(3, 5), (0, 1)], [(0, 8)], [(-1, 2)]])
def test_what_is_never_drawn_has_no_chance(spans):
    assert blank_spans(7, spans, 0.9) == 0 == document_span(7, spans)


def test_a_rate_tells_lengths_worked_by_hand():
    """Three words, all but nothing to hide: one span, 1, 2, 3 long with weights 3, 9/2, 9/2, at 3, 2, 1 places."""
    assert blank_spans(3, [(1, 2)], 0.01) == pytest.approx(3 / 12 / 3)
    assert blank_spans(3, [(0, 2)], 0.01) == pytest.approx(4.5 / 12 / 2)
    assert blank_spans(3, [(0, 3)], 0.01) == pytest.approx(4.5 / 12)
    assert document_span(4, [(2, 4)]) == pytest.approx((1 / 2 + 1 / 2 / 3) / 3)


def test_an_example_tells_its_spans_and_their_order(small):
    for seed, words in enumerate(islice(small.text(seed=2), 30)):
        spans = draw_spans(Random(seed), len(words))
        order = shuffled(Random(seed + 1), range(len(spans)))
        found = filled_in_order(words, *asked(words, partial(blank_infilling, spans=spans, order=order)))
        assert found == (spans, order)


def test_a_sentence_costs_its_surprise_given_what_part_a_shows(small):
    """The steps add up, in any order; a whole sentence is GPT's."""
    automaton = small.automaton()
    for seed, words in enumerate(islice(small.text(seed=3), 10)):
        spans = draw_spans(Random(seed), len(words))
        expected = math.log(Blanks(automaton, part_a(words, spans)).mass) - small.logprob(words)
        for order in permutations(range(len(spans))):
            found, vocab = asked(words, partial(blank_infilling, spans=spans, order=order))
            assert visible_blanks(automaton, words, found, vocab) == pytest.approx(expected, abs=1e-9)
        for whole in (sentence_infilling, causal):
            found, vocab = asked(words, whole)
            assert visible_blanks(automaton, words, found, vocab) == pytest.approx(-small.logprob(words))


def examples(sentences: Language, drawing: Drawing) -> Iterator[tuple[tuple[str, ...], list[Span], float]]:
    """Every sentence, every way to hide spans of it, and how likely both are."""
    for words, p in sentences.items():
        for spans in all_spans(len(words)):
            if chance := p * drawing(len(words), spans):
                yield words, spans, chance


@drawings
def test_nobody_who_is_told_no_length_can_pay_less_than_who_knows_the_drawing(objective, drawing: Drawing):
    """Over all sentences and all spans he pays the entropy of what fills the blanks given Part A; length_known pays
    less, who does not count more."""
    differ = 0
    for seed in range(3, 11):
        automaton = random_automaton(seed, states=5)
        sentences = {words: p for words, p in language(automaton).items() if words}
        if max(map(len, sentences)) > 4 or len(sentences) < len(language(automaton)):
            continue
        by_text: dict[tuple[str, ...], dict[Fillings, float]] = defaultdict(dict)
        told = counting = visible = 0.0
        for words, spans, chance in examples(sentences, drawing):
            by_text[tuple(part_a(words, spans))][tuple(words[slice(*span)] for span in spans)] = chance
            found, vocab = asked(words, partial(blank_infilling, spans=spans, order=range(len(spans))))
            told += chance * length_known(automaton, words, found, vocab)
            counting += chance * drawn_blanks(automaton, words, found, vocab, drawing=drawing)
            visible += chance * visible_blanks(automaton, words, found, vocab)
        entropy = -sum(p * math.log(p / sum(ways.values())) for ways in by_text.values() for p in ways.values())
        assert counting == pytest.approx(entropy)
        assert told <= counting + 1e-12 and counting <= visible + 1e-12
        differ += told + 1e-3 < counting < visible - 1e-3
    assert differ > 2


def test_worlds_give_floors_in_this_order(small):
    readers = [length_known, partial(drawn_blanks, drawing=blank_spans), visible_blanks]
    told, drawn, visible = (small.floor(blank_infilling, sentences=60, reader=reader) for reader in readers)
    assert told == small.floor(blank_infilling, sentences=60)
    assert told.mean + 0.02 < drawn.mean < visible.mean - 0.005


def test_a_sampled_floor_is_near_the_sum_over_all_examples():
    automaton = random_automaton(3, states=5)
    sentences = {words: p for words, p in language(automaton).items() if words}
    nats = tokens = 0.0
    for words, spans, chance in examples(sentences, blank_spans):
        found, vocab = asked(words, partial(blank_infilling, spans=spans, order=range(len(spans))))
        nats += chance * drawn_blanks(automaton, words, found, vocab, drawing=blank_spans)
        tokens += chance * len(found)
    rng = Random(1)
    drawn = ([arc.word for arc in automaton.walk(automaton.draw_start(rng), rng)] for _ in range(400))
    floor = example_floor(automaton, drawn, blank_infilling, rng, partial(drawn_blanks, drawing=blank_spans))
    assert not floor.exact and 0 < floor.stderr < 0.05 and nats > 0
    assert abs(floor.mean - nats / tokens) < 4 * floor.stderr


def ends_unsaid(tokens, *, vocab, rng):
    made = blank_infilling(tokens, vocab=vocab, rng=rng)
    return replace(made, targets=made.targets.where(made.targets != vocab.end, IGNORE))


def sees_what_comes(tokens, *, vocab, rng):
    made = blank_infilling(tokens, vocab=vocab, rng=rng, spans=[(0, 1), (2, 3)])
    return replace(made, visible=replace(made.visible, edits=((len(made.tokens) - 4, len(made.tokens) - 1, True),)))


@pytest.mark.parametrize("make", [masked, ends_unsaid, sees_what_comes])
def test_other_examples_are_refused(small, make):
    words = next(small.text())
    for reader in (visible_blanks, partial(drawn_blanks, drawing=blank_spans)):
        with pytest.raises(FloorError, match=r"do not fill blanks one after the other.*use length_known"):
            reader(small.automaton(), words, *asked(words, make))


def test_words_that_are_no_sentence_and_spans_that_are_not_drawn(small):
    with pytest.raises(NotInGrammar, match=r"matches 'the \[MASK\] cup \.'"):
        infilling(small.automaton(), ["the", "women", "cup", "."], [(1, 2)], [0])
    with pytest.raises(NotInGrammar, match=r"of 'the women \[MASK\] \.' begins with 'cup'"):
        infilling(small.automaton(), ["the", "women", "cup", "."], [(2, 3)], [0])
    with pytest.raises(ValueError, match=r"never masks \[\(0, 1\), \(2, 3\)\] of 4 words; give the function of"):
        infilling(small.automaton(), ["the", "women", "laugh", "."], [(0, 1), (2, 3)], [0, 1], blank_spans)


@pytest.mark.parametrize(("spans", "order", "message"), [
    ([(0, 1), (2, 3)], [0], r"order is \[0\]; give a permutation of the numbers 0 to 1 of the spans"),
    ([(0, 1)], [1], r"order is \[1\]"), ([(2, 1)], [0], "in the order of the text, none empty and none overlapping"),
    ([(0, 0)], [0], "none empty"), ([(0, 2), (1, 3)], [0, 1], "none overlapping"), ([(0, 99)], [0], "has 3 words"),
])
def test_spans_that_are_none(small, spans, order, message: str):
    with pytest.raises(ValueError, match=message):
        infilling(small.automaton(), ["the", "women", "laugh"], spans, order)
