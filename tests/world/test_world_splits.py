"""What is held out never occurs in training text: proved on the automaton, whatever is sampled."""

import math
from itertools import islice

import pytest

from plmlab import world
from plmlab.world.facts.relations import Triple
from plmlab.world.grammar.splits import MODULUS, SplitError, is_test, word_code
from plmlab.world.probability.automaton import Automaton


@pytest.fixture(params=["small", "full"])
def made(request: pytest.FixtureRequest) -> world.World:
    return request.getfixturevalue(request.param)


def said_together(automaton: Automaton, start: int, one: str, other: str) -> set[tuple[str, str]]:
    """Every pair of values that the variables ``one`` and ``other`` take in one sentence from ``start``.

    All paths are followed at once: for each state, the pairs seen so far on some way there.
    """
    ways: dict[int, set[tuple[str | None, str | None]]] = {start: {(None, None)}}
    for state in range(start, 0, -1):
        seen = ways.pop(state, None)
        if not seen:
            continue
        for arc in automaton.arcs[state]:
            a = arc.label.value if arc.label.variable == one else None
            b = arc.label.value if arc.label.variable == other else None
            ways.setdefault(arc.target, set()).update((a or x, b or y) for x, y in seen)
    return {(a, b) for a, b in ways.get(0, ()) if a and b}


def all_facts(made: world.World, split: str) -> set[Triple]:
    """Every fact that some sentence of the split states."""
    automaton, patterns = made.automaton(split), {pattern.id: pattern for pattern in made.patterns}
    return {Triple(a, atom.relation, b) for start in automaton.starts for atom in patterns[start.label].facts
            if not made.facts.relation(atom.relation).derived
            for a, b in said_together(automaton, start.state, atom.subject, atom.object)}


def all_pairs(made: world.World, split: str) -> set[tuple[str, str]]:
    automaton, patterns = made.automaton(split), {pattern.id: pattern for pattern in made.patterns}
    return {pair for start in automaton.starts for word, noun in patterns[start.label].pairs
            for pair in said_together(automaton, start.state, word, noun)}


def test_held_out_facts_are_never_stated_in_training(made):
    stated = all_facts(made, "train")
    assert len(stated) > 0.5 * len(made.facts.triples)
    assert made.held.facts and not stated & made.held.facts
    assert all_facts(made, "facts") & made.held.facts
    assert all(made.held.split_of(triple) == "train" for triple in stated)


def test_held_out_entities_are_never_named_in_training(made):
    values = {arc.label.value for state in made.automaton("train").arcs for arc in state}
    assert made.held.entities and not values & made.held.entities
    names = {value for state in made.automaton("entities").arcs for arc in state for value in [arc.label.value]}
    assert names & made.held.entities


def test_every_word_of_a_held_out_name_is_known_from_training(made):
    known = set(made.automaton("train").vocabulary)
    for key in made.held.entities:
        assert set(made.facts[key].words) <= known


def test_held_out_combinations_are_never_said_in_training(made):
    said = all_pairs(made, "train")
    assert said and made.held.combinations and not said & made.held.combinations
    assert all_pairs(made, "combinations") & made.held.combinations


def test_no_adjective_stands_before_a_noun_it_is_held_out_from(made):
    """The same on the surface: no arc with the noun follows an arc with the adjective."""
    automaton = made.automaton("train")
    follows = {(arc.label.value, after.label.value) for state in automaton.arcs for arc in state
               for after in automaton.arcs[arc.target] if arc.label.tag == "ADJ"}
    assert follows and not follows & made.held.combinations


@pytest.mark.parametrize("split", ["facts", "entities", "combinations"])
def test_every_sentence_of_a_held_out_split_is_outside_training(made, split: str):
    for sentence in islice(made.sentences(split, seed=2), 300):
        assert made.logprob(sentence.words) == -math.inf, sentence.text
        assert not math.isinf(made.logprob(sentence.words, split))
        if split == "facts":
            assert made.held.facts & set(sentence.facts)
        if split == "entities":
            assert made.held.entities & {mention.entity for mention in sentence.mentions}


def test_the_plain_test_and_training_share_no_sentence_of_an_open_pattern(made):
    train, test = ({s.text for s in islice(made.sentences(split, seed=1), n) if s.pattern in made.open_patterns}
                   for split, n in (("train", 3000), ("test", 300)))
    assert train and test and not train & test
    assert all(is_test(text.split()) for text in test) and not any(is_test(text.split()) for text in train)


def test_open_patterns_state_no_fact(made):
    facts = {pattern.id: pattern.facts for pattern in made.patterns}
    assert made.open_patterns and not any(facts[name] for name in made.open_patterns)


def test_the_plain_test_is_the_same_distribution(full):
    """The two parts' exact figures are next to each other: a floor reached on one is the floor of the other."""
    train, test = full.entropy("train"), full.entropy("test")
    assert test.token == pytest.approx(train.token, rel=0.002)
    assert test.tokens == pytest.approx(train.tokens, rel=0.002)


def test_codes_are_spread_and_fixed(full):
    assert word_code("the") == word_code("the") and 0 <= word_code("the") < MODULUS
    codes = [word_code(word) for word in full.vocabulary]
    assert set(codes) == set(range(MODULUS))


def test_no_sentence_has_two_derivations_in_any_split(made):
    for split in ("train", "facts", "entities", "combinations"):
        assert made.prove_unambiguous(split) > 0


def test_an_unknown_split(small):
    with pytest.raises(SplitError, match="the splits are train, test, facts, entities, combinations"):
        next(small.text("dev"))
