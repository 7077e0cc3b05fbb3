"""Posteriors of blanks of unknown length, against every sentence written out and filled in in all ways."""

import math
import statistics
import time
from bisect import bisect_right
from itertools import accumulate, islice, pairwise, permutations
from random import Random

import pytest
from blanks_brute import all_fillings, draw_spans, next_by_hand, of_blank
from world_brute import Language, language, random_automaton

from plmlab.draws import choice, randint, shuffled
from plmlab.world.probability.automaton import END, FINAL, Arc, Automaton, Builder, Start
from plmlab.world.probability.blanks import BLANK, Blanks, Drawing, DrawnBlanks
from plmlab.world.probability.infilling import part_a
from plmlab.world.probability.posterior import NotInGrammar, joint, posterior


def short_spans(count: int, spans) -> float:
    """A drawing that hides no span of three words, and of others the less the longer they and the sentence are, the
    last more so than the first."""
    return math.prod(0.0 if stop - begin == 3 else (0.9 - 0.2 * place) ** (stop - begin)
                     for place, (begin, stop) in enumerate(spans)) / count


def only(length: int) -> Drawing:
    """A drawing that hides nothing in sentences of any other length."""
    return lambda count, spans: float(count == length)


def plain(automaton: Automaton, text, filled) -> Blanks:
    return Blanks(automaton, text, filled)


def drawn(automaton: Automaton, text, filled) -> Blanks:
    return DrawnBlanks(automaton, text, filled, drawing=short_spans)


def asked(sentences: Language, rng: Random):
    """A sentence with blanks, of which some are filled: the text, the fillings, all fillings."""
    words = choice(rng, [words for words in sorted(sentences) if words])
    spans = draw_spans(rng, len(words))
    filled = {blank: words[slice(*span)] for blank, span in enumerate(spans) if rng.random() < 0.3}
    return part_a(words, spans), filled, tuple(words[slice(*span)] for span in spans)


def compare(automaton: Automaton, sentences: Language, rng: Random, make, drawing) -> set[str]:
    """One draw, and every figure of it; gives what kind of draw it was."""
    text, filled, said = asked(sentences, rng)
    ways = all_fillings(sentences, text, filled, drawing)
    if not ways:
        with pytest.raises(NotInGrammar):
            make(automaton, text, filled)
        return {"impossible"}
    blanks = make(automaton, text, filled)
    assert blanks.mass == pytest.approx(sum(ways.values()))
    still = [blank for blank in range(blanks.count) if blank not in filled]
    assert sum(blanks.posterior({blank: way[blank] for blank in still}) for way in ways) == pytest.approx(1)
    for way, mass in islice(ways.items(), 5):
        assert blanks.posterior({blank: way[blank] for blank in still}) == pytest.approx(mass / sum(ways.values()))
    for blank in still:
        alone = of_blank(ways, blank)
        for filling, p in islice(alone.items(), 5):
            assert blanks.posterior({blank: filling}) == pytest.approx(p)
        lengths = dict.fromkeys(map(len, alone), 0.0)
        for filling, p in alone.items():
            lengths[len(filling)] += p
        assert blanks.lengths(blank) == pytest.approx(lengths)
        for place in range(len(said[blank]) + 1):
            expected = next_by_hand(ways, blank, said[blank][:place])
            if not expected:
                continue
            found = blanks.next_words(blank, said[blank][:place])
            assert found == pytest.approx(expected) and sum(found.values()) == pytest.approx(1)
            assert list(found.values()) == sorted(found.values(), reverse=True)
        for count in (1, 3, 10_000):
            best = blanks.likeliest(blank, count)
            assert [p for _, p in best] == pytest.approx(sorted(alone.values(), reverse=True)[:count])
            assert dict(best) == pytest.approx({filling: alone[filling] for filling, _ in best})
            assert len(dict(best)) == len(best) == min(count, len(alone))
    longer = {len(way[blank]) for way in ways for blank in still}
    return {kind for kind, holds in {
        "two blanks": len(still) > 1, "filled": filled and still, "all filled": not still, "begin": text[0] == BLANK,
        "end": text[-1] == BLANK, "touch": (BLANK, BLANK) in list(pairwise(text)),
        "lengths": len(longer) > 1, "one word": said and 1 in map(len, said), "whole": text == [BLANK],
        "one sentence in two ways": len({sum(way, ()) for way in ways}) < len(ways)}.items() if holds}


@pytest.mark.parametrize(("make", "drawing"), [(plain, lambda count, spans: 1.0), (drawn, short_spans)])
def test_every_figure_is_a_sum_over_sentences(grammar, sentences, make, drawing):
    """On the small world, and on small automata in which a sentence may begin others and have several derivations."""
    met = set[str]()
    for seed in range(15):
        met |= compare(grammar, sentences, Random(seed), make, drawing)
    for seed in range(16):
        automaton = random_automaton(seed)
        rng, written_out = Random(seed), language(automaton)
        for _ in range(3):
            met |= compare(automaton, written_out, rng, make, drawing)
    assert met >= {"two blanks", "filled", "all filled", "begin", "end", "touch", "lengths", "one word", "whole",
                   "one sentence in two ways"}
    assert ("impossible" in met) == (make is drawn)


def test_a_toy_worked_by_hand():
    """a b c (1/2), a b b c (3/10), a c (1/5): a [MASK] c is b or b b; a [MASK] is also c alone."""
    builder = Builder()
    c = builder.state([Arc("c", None, FINAL, 1)])
    b = builder.state([Arc("b", None, c, 1)])
    begin = builder.state([Arc("b", None, c, 5), Arc("b", None, b, 3), Arc("c", None, FINAL, 2)])
    automaton = builder.automaton([Start("one", builder.state([Arc("a", None, begin, 1)]), 1)])
    blanks = Blanks(automaton, ["a", BLANK, "c"])
    assert blanks.mass == pytest.approx(0.8) and blanks.lengths(0) == pytest.approx({1: 5 / 8, 2: 3 / 8})
    assert blanks.likeliest(0, 9) == [(("b",), pytest.approx(5 / 8)), (("b", "b"), pytest.approx(3 / 8))]
    assert blanks.next_words(0) == {"b": 1.0} and blanks.next_words(0, ["b"]) == pytest.approx({END: 5 / 8, "b": 3 / 8})
    open_end = Blanks(automaton, ["a", BLANK])
    assert open_end.mass == pytest.approx(1) and open_end.next_words(0) == pytest.approx({"b": 0.8, "c": 0.2})
    assert str(open_end.fill({0: ["b", "c"]})) == "a b c" and str(open_end) == "a [MASK]"
    halved = DrawnBlanks(automaton, ["a", BLANK, "c"], drawing=lambda count, spans: 0.25 if count == 4 else 0.5)
    assert halved.mass == pytest.approx(0.25 + 0.075) and halved.lengths(0) == pytest.approx({1: 10 / 13, 2: 3 / 13})


def test_a_filling_is_worth_all_its_derivations_together():
    """x b (3/10, two derivations of 3/20 each) before y d (1/4) and x c (1/5), though b is never one arc's best."""
    builder = Builder()
    end = builder.state([Arc(".", None, FINAL, 1)])
    x = builder.state([Arc("b", "noun", end, 3), Arc("b", "verb", end, 3), Arc("c", None, end, 4)])
    y = builder.state([Arc("d", None, end, 1), Arc("e", None, end, 1)])
    automaton = builder.automaton([Start("one", builder.state([Arc("x", None, x, 1), Arc("y", None, y, 1)]), 1)])
    blanks = Blanks(automaton, [BLANK, "."])
    assert blanks.likeliest(0) == [(("x", "b"), pytest.approx(0.3))]
    first, *alike, last = (filling for filling, _ in blanks.likeliest(0, 4))
    assert (first, last) == (("x", "b"), ("x", "c")) and sorted(alike) == [("y", "d"), ("y", "e")]


def test_in_whatever_order_blanks_are_filled_the_steps_multiply_to_the_posterior(small, grammar):
    for seed, words in enumerate(islice(small.text(seed=5), 12)):
        spans = draw_spans(Random(seed), len(words))
        text, said = part_a(words, spans), {blank: words[slice(*span)] for blank, span in enumerate(spans)}
        expected = small.logprob(words) - math.log(Blanks(grammar, text).mass)
        for order in permutations(said):
            blanks, nats = Blanks(grammar, text), 0.0
            for blank in order:
                for place, word in enumerate([*said[blank], END]):
                    nats += math.log(blanks.next_words(blank, said[blank][:place])[word])
                blanks = blanks.fill({blank: said[blank]})
            assert nats == pytest.approx(expected, abs=1e-9)
        assert math.log(Blanks(grammar, text).posterior(said)) == pytest.approx(expected, abs=1e-9)


def test_one_blank_for_the_whole_sentence_is_left_to_right(full):
    """GPT's next words; the end of the blank is that of the sentence."""
    blanks = Blanks(full.automaton(), [BLANK])
    assert blanks.mass == pytest.approx(1)
    for words in islice(full.text(seed=4), 3):
        for place in range(len(words) + 1):
            assert blanks.next_words(0, words[:place]) == pytest.approx(full.next_words(words[:place]))
        assert math.log(blanks.posterior({0: words})) == pytest.approx(full.logprob(words))


def test_a_blank_whose_length_is_told_is_as_many_hidden_words(full):
    """BERT's reader, in the full world: a blank of one word, and of two."""
    automaton = full.automaton()
    for seed, words in enumerate(islice(full.text(seed=6), 3)):
        position = randint(Random(seed), len(words))
        blanks = Blanks(automaton, part_a(words, [(position, position + 1)]))
        one = blanks.lengths(0)[1]
        [belief] = posterior(automaton, words, [position])
        found = {word: p * blanks.next_words(0, [word]).get(END, 0.0) / one for word, p in blanks.next_words(0).items()}
        assert {word: p for word, p in found.items() if p} == pytest.approx(belief)
        told = DrawnBlanks(automaton, blanks.text, drawing=only(len(words)))
        assert told.lengths(0) == {1: 1.0} and told.next_words(0) == pytest.approx(belief)
        begin = min(position, len(words) - 2)
        two = DrawnBlanks(automaton, part_a(words, [(begin, begin + 2)]),
                          drawing=only(len(words)))
        together = joint(automaton, words, [begin, begin + 1])
        assert dict(two.likeliest(0, 100_000)) == pytest.approx(together)


def test_lengths_in_the_full_world_by_steps_over_single_states(full):
    automaton = full.automaton()
    for seed, words in enumerate(islice(full.text(seed=8), 3)):
        begin, stop = sorted(shuffled(Random(seed), range(len(words) + 1))[:2])
        masses, states = {}, automaton.read(words[:begin])
        for length in range(1, automaton.longest + 1):
            states = automaton.advance(states, None)
            ends = states
            for word in words[stop:]:
                ends = automaton.advance(ends, word)
            if FINAL in ends:
                masses[length] = ends[FINAL]
        blanks = Blanks(automaton, part_a(words, [(begin, stop)]))
        assert blanks.mass == pytest.approx(sum(masses.values()))
        assert blanks.lengths(0) == pytest.approx({n: mass / sum(masses.values()) for n, mass in masses.items()})


@pytest.mark.parametrize("text", ["the [MASK] near the [MASK] is [MASK] .", "[MASK] the [MASK]", "in [MASK] ."])
def test_no_filling_that_is_written_word_by_word_is_likelier(full, text: str):
    """Drawn word by word, many have the figure that the search gives them, and none that it lacks a better one."""
    blanks, rng = Blanks(full.automaton(), text.split()), Random(1)
    best = dict(blanks.likeliest(0, 15))
    assert list(best.values()) == sorted(best.values(), reverse=True) and len(best) == 15
    for filling, p in best.items():
        assert blanks.posterior({0: filling}) == pytest.approx(p)
    for _ in range(5):
        said: list[str] = []
        while not said or said[-1] != END:
            chances = blanks.next_words(0, said)
            at = bisect_right(list(accumulate(chances.values())), rng.random() * (1 - 1e-9))
            said.append(list(chances)[at])
        filling = tuple(said[:-1])
        assert filling in best or blanks.posterior({0: filling}) <= min(best.values()) + 1e-12


def test_what_cannot_be(small, grammar):
    text = ["the", BLANK, "near", "the", BLANK, "."]
    blanks = Blanks(grammar, text)
    assert blanks.posterior({0: ["zebra"]}) == 0 == blanks.posterior({0: ["cup"], 1: ["near"]})
    with pytest.raises(NotInGrammar, match=r"no filling of blank 0 of 'the \[MASK\] near the \[MASK\] \.' begins with "
                       "'zebra'"):
        blanks.next_words(0, ["zebra"])
    with pytest.raises(NotInGrammar, match=r"matches 'the zebra near the \[MASK\] \.', with one or more words"):
        blanks.fill({0: ["zebra"]})
    with pytest.raises(NotInGrammar, match=r"matches '\[MASK\] the the', with one or more words"):
        Blanks(grammar, [BLANK, "the", "the"])
    with pytest.raises(NotInGrammar, match="one or more words"):
        Blanks(grammar, [*next(small.text()), BLANK])
    with pytest.raises(NotInGrammar, match="with a number of words that the objective can mask"):
        DrawnBlanks(grammar, text, drawing=lambda count, spans: 0.0)
    for ask in (blanks.next_words, blanks.lengths, blanks.likeliest):
        with pytest.raises(ValueError, match=r"blank 2 was given; 'the \[MASK\] near the \[MASK\] \.' has 2"):
            ask(2)
    with pytest.raises(ValueError, match="blank 0 was given, but is filled with 'cup'"):
        blanks.fill({0: ["cup"]}).next_words(0)
    with pytest.raises(ValueError, match="blank 5 was given"):
        blanks.posterior({5: ["cup"]})
    for words in ([], ["cup", BLANK]):
        with pytest.raises(ValueError, match="a filling is one or more words"):
            blanks.fill({1: words})
    with pytest.raises(ValueError, match="count=0; give 1 or more fillings"):
        blanks.likeliest(0, 0)


@pytest.mark.timing
@pytest.mark.parametrize("text", ["[MASK]", "the [MASK] near the [MASK] is [MASK] .", "[MASK] the [MASK]"])
def test_a_query_of_the_full_world_takes_less_than_a_tenth_of_a_second(full, text: str):
    def seconds(ask) -> float:
        begun = time.process_time()
        ask(Blanks(full.automaton(), text.split()))
        return time.process_time() - begun

    Blanks(full.automaton(), [BLANK])
    for ask in (lambda blanks: blanks.next_words(0), lambda blanks: blanks.lengths(0),
                lambda blanks: blanks.likeliest(0, 5)):
        assert statistics.median(seconds(ask) for _ in range(5)) < 0.1
