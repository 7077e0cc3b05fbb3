"""A text read from both ends in the Mask Lab: against the Example itself, and against torch's RNNs."""

import random

import pytest
import torch
from standin import SENTENCES, words
from torch import Tensor, nn

from plmlab.example import BidirectionalExample, PairExample
from plmlab.labs import MaskLab
from plmlab.labs.mask.kinds import KINDS, drawn
from plmlab.objectives import OBJECTIVES, bidirectional_lm, causal

TEXT = "the cat sat"
CAUSAL = torch.ones(4, 4).tril().bool()


@pytest.fixture
def lab() -> MaskLab:
    return MaskLab(words(), TEXT, "bidirectional_lm")


def looks(lab: MaskLab) -> Tensor:
    count = len(lab.state["tokens"])
    return (torch.tensor(lab.state["masks"][0]["rule_ids"]) > 0).view(count, count)


def sentence(lab: MaskLab, query: str, key: str) -> str:
    """Why the positions of these names may look, or may not."""
    names, mask = lab.state["names"], lab.state["masks"][0]
    cause = mask["rule_ids"][names.index(query) * len(names) + names.index(key)]
    steps = str(abs(names.index(query) - names.index(key)))
    return mask["sentences"][str(cause)].replace("{query}", query).replace("{key}", key).replace("{steps}", steps)


def test_every_kind_of_example_can_be_drawn() -> None:
    ids, vocab = words().text(f"{SENTENCES[12]} {SENTENCES[6]}"), words().vocab
    assert {type(drawn(objective.make(*[ids] * objective.texts, vocab=vocab, rng=random.Random(0))))
            for objective in OBJECTIVES.values()} == set(KINDS.values())


def test_two_causal_squares_and_nothing_between(lab: MaskLab) -> None:
    state = lab.state
    assert torch.equal(looks(lab), torch.block_diag(CAUSAL, CAUSAL).bool())
    assert state["tokens"] == ["[START]", "the", "cat", "sat", "[END]", "sat", "cat", "the"]
    assert state["targets"] == ["the", "cat", "sat", "[END]", "sat", "cat", "the", "[START]"]
    assert state["position_ids"] == [[0, 1, 2, 3, 4, 3, 2, 1]]
    assert state["names"] == ["[START]", "the (forward)", "cat (forward)", "sat (forward)",
                              "[END]", "sat (backward)", "cat (backward)", "the (backward)"]
    assert (state["split"], state["headings"]) == (4, ["forward (left to right)", "backward (right to left)"])
    assert state["marks"] == ["special", "word", "word", "word"] * 2 and state["by_hand"] and lab.message == ""
    assert (state["question"], state["answer"]) == (OBJECTIVES["bidirectional_lm"].question,
                                                    OBJECTIVES["bidirectional_lm"].answer)
    assert repr(lab).endswith("[START] the cat sat [END] sat cat the>")


def test_what_is_closed_says_why(lab: MaskLab) -> None:
    left, right = "cat (forward)", "cat (backward)"
    for query, key in ((left, right), (right, left), ("[START]", "[END]"), ("[END]", "[START]")):
        assert sentence(lab, query, key) == "the two directions share no state, so neither depends on what the " \
                                            "other has read."
    assert sentence(lab, right, "the (backward)").endswith(
        "is to the left of cat (backward): attending to it would leak a target.")
    assert sentence(lab, right, "sat (backward)").startswith("sat (backward) is not to the left of")


def test_a_word_that_stands_there_twice_is_told_by_its_side_and_position() -> None:
    assert MaskLab(words(), "the cat the", "bidirectional_lm").state["names"] == [
        "[START]", "the (forward, position 1)", "cat (forward)", "the (forward, position 3)",
        "[END]", "the (backward, position 1)", "cat (backward)", "the (backward, position 3)"]


def test_edits_reach_the_direction_they_belong_to(lab: MaskLab) -> None:
    lab.edits = [[0, 0, 2, True], [0, 7, 4, False], [0, 4, 7, True]]
    example = lab.example
    assert isinstance(example, BidirectionalExample)
    forwards, backwards = CAUSAL.clone(), CAUSAL.clone()
    forwards[0, 2], backwards[3, 0], backwards[0, 3] = True, False, True
    assert torch.equal(example.forwards.visible.dense(), forwards)
    assert torch.equal(example.backwards.visible.dense(), backwards)
    assert "by hand" in example.backwards.visible.reason(3, 0)


@pytest.mark.parametrize("cell", [(0, 4), (4, 0), (7, 3), (3, 7)])
def test_no_edit_lets_one_direction_see_the_other(lab: MaskLab, cell: tuple[int, int]) -> None:
    lab.edits = [[0, *cell, True]]
    with pytest.raises(ValueError, match="cannot be allowed: the two directions share no state"):
        _ = lab.example
    assert lab.state["never"] == [[0, 1], [1, 0]]


@pytest.mark.parametrize("edit", [[0, 0, 8, True], [0, -1, 0, True], [1, 0, 0, False]])
def test_a_cell_that_is_not_there_is_refused(lab: MaskLab, edit: list[int]) -> None:
    lab.edits = [edit]
    with pytest.raises(ValueError, match="this example has one mask, 0, of 8 queries × 8 keys"):
        _ = lab.example


@pytest.mark.parametrize("count, kept", [(31, 31), (32, 31), (100, 31)])
def test_of_a_long_text_as_much_is_drawn_as_fits_twice(count: int, kept: int) -> None:
    lab = MaskLab(words(), " ".join((SENTENCES[64].split() * 3)[:count]), "bidirectional_lm")
    assert len(lab.state["tokens"]) == 2 * (kept + 1) and ("left out" in lab.message) == (count > kept)
    lab.max_tokens = 4
    assert len(lab.state["tokens"]) == 4 and lab.state["split"] == 2
    lab.max_tokens = 3
    assert "max_tokens is 3, too few to draw an example" in lab.message


def gru(layers: int, both: bool) -> nn.GRU:
    torch.manual_seed(0)
    return nn.GRU(4, 5, layers, batch_first=True, bidirectional=both).double()


def reached(run, time: int) -> Tensor:
    """Which of ``time`` inputs changes which output: where the Jacobian is not zero."""
    x = torch.randn(1, time, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    jacobian = torch.autograd.functional.jacobian(lambda given: run(given)[0].sum(-1), x)
    return jacobian[:, 0].abs().sum(-1) > 0


@pytest.mark.parametrize("network", ["recurrent", "attention"])
def test_who_influences_whom_is_the_jacobian_of_two_rnns_of_torch_s(network: str) -> None:
    left, right = gru(2, both=False), gru(2, both=False)
    lab = MaskLab(words(), TEXT, "bidirectional_lm", network=network)
    assert torch.equal(looks(lab), reached(lambda x: torch.cat([left(x[:, :4])[0], right(x[:, 4:])[0]], 1), 8))
    assert "share no state" in sentence(lab, "cat (forward)", "the (backward)")
    assert sentence(lab, "the (backward)", "[END]").endswith("to the (backward); state updates in between: 3.")
    assert not lab.state["by_hand"] and lab.state["verbs"][0] == "can be influenced by"
    assert lab.state["question"] == OBJECTIVES["bidirectional_lm"].question
    assert ("only through the recurrent state" in lab.message) == (network == "attention")


def test_joined_below_the_top_every_position_has_something_of_every_word() -> None:
    """torch's bidirectional network of two layers reads [START] the cat sat [END]; each direction's top is taken
    apart, and each input stands for the word of a position, on whichever side it is drawn."""
    lab = MaskLab(words(), TEXT, "bidirectional_lm", network="bidirectional")
    network, word = gru(2, both=True), [0, 1, 2, 3, 4, 3, 2, 1]

    def run(x: Tensor) -> Tensor:
        left, right = network(x)[0].chunk(2, -1)
        return torch.cat([left[:, :4], right.flip(1)[:, :4]], 1)

    by_word = reached(run, 5)
    assert torch.equal(looks(lab), by_word[:, word]) and bool(by_word.all())
    said = sentence(lab, "cat (forward)", "sat (forward)")
    assert said == "the states of both directions are concatenated below the top layer, and one of them has read " \
                   "sat (forward), so cat (forward) depends on it."
    assert sentence(lab, "sat (forward)", "the (forward)").endswith("to sat (forward); state updates in between: 2.")


def test_where_the_two_are_joined_the_leak_is_told() -> None:
    lab = MaskLab(words(), TEXT, "bidirectional_lm", network="bidirectional")
    assert "each position has access to its target" in lab.message and "only learns to copy" in lab.message
    assert "Which direction has already read that word" in lab.state["question"]
    lab.network = "recurrent"
    assert lab.message == ""
    lab.network, lab.objective = "bidirectional", "sequence_to_sequence"
    assert lab.message == "" and isinstance(lab.example, PairExample), "a decoder is read from the left alone"


def test_the_example_is_the_objective_s() -> None:
    ids, vocab = words().encode(TEXT), words().vocab
    shown = MaskLab(words(), TEXT, "bidirectional_lm", network="bidirectional").example
    made = bidirectional_lm(ids, vocab=vocab, rng=random.Random(0))
    assert isinstance(shown, BidirectionalExample)
    assert torch.equal(shown.backwards.tokens, made.backwards.tokens)
    assert torch.equal(shown.forwards.tokens, causal(ids, vocab=vocab, rng=random.Random(0)).tokens)
    assert shown.forwards.visible.pattern == shown.backwards.visible.pattern == "causal"
