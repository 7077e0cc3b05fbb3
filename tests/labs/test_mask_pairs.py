"""The Mask Lab's encoder-decoder pairs and recurrent networks: against the Example itself, and against torch's RNNs."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
import torch
from standin import SENTENCES, words
from torch import Tensor, nn

from plmlab.example import PairExample
from plmlab.labs import MaskLab
from plmlab.labs.mask.kinds import drawn
from plmlab.labs.mask.networks import NETWORKS
from plmlab.objectives import (
    OBJECTIVES,
    always_mask,
    denoising,
    masked,
    masked_span,
    sequence_to_sequence,
    span_corruption,
)
from plmlab.objectives.denoising import sentence_permutation, text_infilling
from plmlab.objectives.masked_span import all_positions, masked_elsewhere
from plmlab.objectives.registry import Objective
from plmlab.text import Tokenizer
from plmlab.visibility import Visibility

SOURCE, TARGET = "the old baker told the ferryman", "the baker told a story"


@pytest.fixture
def lab() -> MaskLab:
    return MaskLab(words(), SOURCE, "sequence_to_sequence", second=TARGET)


def looks(lab: MaskLab) -> Tensor:
    count = len(lab.state["tokens"])
    return (torch.tensor(lab.state["masks"][0]["rule_ids"]) > 0).view(count, count)


def test_the_square_is_encoder_cross_decoder_and_never(lab: MaskLab) -> None:
    pair = lab.example
    assert isinstance(pair, PairExample)
    source, square = lab.state["split"], looks(lab)
    assert source == len(SOURCE.split()) + 1 and len(square) == source + len(TARGET.split()) + 1
    assert torch.equal(square[:source, :source], pair.source.visible.dense())
    assert torch.equal(square[source:, :source], pair.cross.dense())
    assert torch.equal(square[source:, source:], pair.target.visible.dense())
    assert not square[:source, source:].any()
    assert lab.state["tokens"] == [*SOURCE.split(), "[END]", "[START]", *TARGET.split()]
    assert lab.state["targets"] == [None] * source + [*TARGET.split(), "[END]"]
    assert lab.state["position_ids"] == [[*range(source), *range(len(TARGET.split()) + 1)]]
    assert len(set(lab.state["names"])) == len(square) and "told (target)" in lab.state["names"]
    assert lab.state["names"][4] == "the (source position 4)" and repr(lab).count("[START]") == 1


def test_each_cell_says_why_as_its_own_block_does(lab: MaskLab) -> None:
    pair, split, names = lab.example, lab.state["split"], lab.state["names"]
    whole = drawn(pair).row()
    for visible, query, key in ((pair.source.visible, 0, 0), (pair.cross, split, 0),
                                (pair.target.visible, split, split)):
        for q, row in enumerate(visible.rule_ids().tolist()):
            for k, cause in enumerate(row):
                said = visible.sentence(cause).replace("{query}", names[query + q]).replace("{key}", names[key + k])
                assert whole.visible.reason(query + q, key + k, names).endswith(f": {said}")
    assert "encoded before" in whole.visible.reason(0, split, names)
    assert "attends to all of the source" in whole.visible.reason(split, 0, names)


def test_what_no_rule_of_a_block_covers_keeps_its_own_sentence() -> None:
    pair = sequence_to_sequence([10, 11], [12, 13], vocab=words().vocab)
    holes = Visibility.causal(3)
    first = torch.tensor([True, False, False])
    holes = Visibility((replace(holes.rules[0], queries=first),), otherwise="{query} is on its own.")
    made = drawn(replace(pair, target=replace(pair.target, visible=holes))).row()
    assert torch.equal(made.visible.dense()[3:, 3:], holes.dense())
    assert made.visible.reason(4, 3, list("abcdef")).endswith("e is on its own.")


def test_edits_reach_the_half_they_belong_to(lab: MaskLab) -> None:
    split = lab.state["split"]
    lab.edits = [[0, 0, 1, False], [0, split + 1, 2, False], [0, split, split + 2, True]]
    pair = lab.example
    assert isinstance(pair, PairExample)
    assert not pair.source.visible.dense()[0, 1] and pair.source.visible.dense().sum() == split ** 2 - 1
    assert not pair.cross.dense()[1, 2] and pair.target.visible.dense()[0, 2]
    lab.edits = [[0, 0, split, True]]
    with pytest.raises(ValueError, match="no position of the encoder attends to the decoder"):
        _ = lab.example
    assert lab.state["never"] == [[0, 1]]
    lab.edits = [[0, 0, 13, True]]
    with pytest.raises(ValueError, match=r"no cell \(0, 13\) in mask 0: this example has one mask, 0, of 13 queries"):
        _ = lab.example


def test_without_a_second_text_the_decoder_writes_the_same_one() -> None:
    lab = MaskLab(words(), SOURCE, "sequence_to_sequence")
    assert lab.state["targets"][lab.state["split"]:] == [*SOURCE.split(), "[END]"]
    lab.second = TARGET
    assert lab.state["targets"][lab.state["split"]:] == [*TARGET.split(), "[END]"]
    lab.second = "   "
    assert lab.stale and "empty" in lab.message and "story" in lab.state["tokens"]


@pytest.mark.parametrize("source, target", [(40, 40), (90, 3), (3, 90), (31, 31), (32, 31)])
def test_a_long_pair_is_cut_where_it_is_longest(source: int, target: int) -> None:
    texts = [" ".join((SENTENCES[64].split() * 3)[:count]) for count in (source, target)]
    lab = MaskLab(words(), texts[0], "sequence_to_sequence", second=texts[1])
    kept, positions = lab.state["split"] - 1, len(lab.state["tokens"])
    assert positions == min(64, source + target + 2)
    assert (kept, positions - kept - 2) == {(40, 40): (31, 31), (90, 3): (59, 3), (3, 90): (3, 59),
                                            (31, 31): (31, 31), (32, 31): (31, 31)}[source, target]
    assert ("left out" in lab.message) == (source + target > 62)


def test_one_text_made_into_a_pair_has_a_mark_at_each_position(monkeypatch: pytest.MonkeyPatch) -> None:
    def backwards(tokens, *, vocab, rng):
        return sequence_to_sequence(tokens, tokens[::-1], vocab=vocab)
    monkeypatch.setitem(OBJECTIVES, "backwards", Objective("backwards", "backwards", "倒写", "a test", backwards))
    lab = MaskLab(words(), SOURCE, "backwards")
    assert lab.state["texts"] == 1 and lab.state["split"] == len(SOURCE.split()) + 1
    assert len(lab.state["marks"]) == len(lab.state["tokens"]) == 2 * lab.state["split"]


def reached(network: Callable[[Tensor], Tensor], time: int) -> Tensor:
    """Which input changes which output: where the Jacobian of a network with random weights is not zero."""
    x = torch.randn(1, time, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    jacobian = torch.autograd.functional.jacobian(lambda given: network(given)[0].sum(-1), x)
    return jacobian[:, 0].abs().sum(-1) > 0


def rnn(both: bool = False) -> Callable[[Tensor], Tensor]:
    torch.manual_seed(0)
    made = nn.GRU(4, 5, batch_first=True, bidirectional=both).double()
    return lambda x: made(x)[0]


def seq2seq(both: bool) -> Callable[[Tensor], Tensor]:
    """torch's own: an encoder of six positions whose last state begins the decoder, source and target as one input."""
    torch.manual_seed(0)
    encoder = nn.GRU(4, 5, batch_first=True, bidirectional=both).double()
    decoder = nn.GRU(4, 5, batch_first=True).double()

    def run(x: Tensor) -> Tensor:
        read, last = encoder(x[:, :6])
        return torch.cat([read.sum(-1, keepdim=True), decoder(x[:, 6:], last.sum(0, keepdim=True))[0].sum(
            -1, keepdim=True)], dim=1)
    return run


def by_attention(x: Tensor) -> Tensor:
    """torch's own encoder and decoder, between which nothing is but a look at the encoder's states."""
    torch.manual_seed(0)
    encoder, decoder = (nn.GRU(4, 5, batch_first=True).double() for _ in range(2))
    read, written = encoder(x[:, :6])[0], decoder(x[:, 6:])[0]
    looked = written + torch.nn.functional.scaled_dot_product_attention(written, read, read)
    return torch.cat([read, looked], dim=1).sum(-1, keepdim=True)


@pytest.mark.parametrize("name, network", [("recurrent", rnn()), ("bidirectional", rnn(both=True)),
                                           ("attention", rnn())])
def test_who_influences_whom_is_the_jacobian_of_torch_s_own(name: str, network: Callable[[Tensor], Tensor]) -> None:
    lab = MaskLab(words(), SENTENCES[12], "masked", network=name)
    assert torch.equal(looks(lab), reached(network, len(lab.state["tokens"])))
    assert lab.state["verbs"][0] == "can be influenced by"


@pytest.mark.parametrize("name, both", [("recurrent", False), ("bidirectional", True)])
def test_a_pair_meets_in_one_vector_as_torch_s_own_does(name: str, both: bool) -> None:
    lab = MaskLab(words(), "the old baker told the", "sequence_to_sequence", network=name)
    assert lab.state["split"] == 6
    assert torch.equal(looks(lab), reached(seq2seq(both), len(lab.state["tokens"])))
    assert any("one vector" in said for said in lab.state["masks"][0]["sentences"].values())


def test_a_pair_meets_in_one_look_as_torch_s_own_does() -> None:
    lab = MaskLab(words(), "the old baker told the", "sequence_to_sequence", network="attention")
    split, count = lab.state["split"], len(lab.state["tokens"])
    assert split == 6 and torch.equal(looks(lab), reached(by_attention, count))
    rule_ids, sentences = lab.state["masks"][0]["rule_ids"], lab.state["masks"][0]["sentences"]
    for query in range(count):
        for key in range(count):
            said = sentences[str(rule_ids[query * count + key])]
            assert ("one attention step" in said) == (query >= split > key)
            assert ("{steps}" in said) == (key <= query and (query < split or key >= split))


def test_what_attention_changes_is_asked_where_there_are_two_texts() -> None:
    lab = MaskLab(words(), SOURCE, "sequence_to_sequence", second=TARGET, network="attention")
    assert "source's first word" in lab.state["question"] and "one attention step" in lab.state["answer"]
    assert lab.message == "" and not lab.state["by_hand"] and lab.state["verbs"][0] == "can be influenced by"
    assert {"name": "attention", "title": "a recurrent network with attention"} in lab.menu["networks"]
    for network in ("recurrent", "bidirectional"):
        lab.network = network
        assert "state updates" in lab.state["question"]
    lab.network = "transformer"
    assert lab.state["question"] == OBJECTIVES["sequence_to_sequence"].question


def test_of_one_text_there_is_nothing_to_look_at_across() -> None:
    lab = MaskLab(words(), SENTENCES[12], "causal", network="attention")
    assert "Here there is only one text, so information flows only through the recurrent state." in lab.message
    assert "state updates" in lab.state["question"] and not lab.stale
    shown = lab.state["masks"]
    lab.network = "recurrent"
    assert lab.state["masks"] == shown and lab.message == ""


def test_steps_are_counted() -> None:
    example = masked([10, 11, 12, 13], vocab=words().vocab, rng=random.Random(0))
    (_, left), = NETWORKS["recurrent"].streams(drawn(example))
    (_, both), = NETWORKS["bidirectional"].streams(drawn(example))
    assert left.reason(5, 1, list("abcdef")).endswith("from b to f; state updates in between: 4.")
    assert "the backward state carries information from e" in both.reason(1, 4, list("abcdef"))


def test_influence_is_no_mask_and_leaves_the_example_alone() -> None:
    lab = MaskLab(words(), SENTENCES[12], "causal", network="bidirectional")
    assert bool(looks(lab).all()) and lab.example.visible.pattern == "causal"
    assert not lab.state["by_hand"]
    lab.edits = [[0, 2, 5, True]]
    with pytest.raises(ValueError, match="its cells cannot be set by hand"):
        _ = lab.example
    lab.network = "transformer"
    assert lab.edits == [] and lab.state["by_hand"]


def test_who_reads_its_own_answer_is_told() -> None:
    lab = MaskLab(words(), SENTENCES[12], "causal", network="bidirectional")
    assert "learns to copy" in lab.message
    lab.network = "recurrent"
    assert lab.message == ""
    lab.network, lab.objective = "bidirectional", "masked"
    assert lab.message == ""


def test_a_second_stream_is_attention_s_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def two_streams(tokens, *, vocab, rng):
        made = OBJECTIVES["causal"].make(tokens, vocab=vocab, rng=rng)
        return replace(made, query_stream_mask=Visibility.full(len(made.tokens)))
    monkeypatch.setitem(OBJECTIVES, "two", Objective("two", "two streams", "双流", "a test", two_streams))
    lab = MaskLab(words(), "the cat sat", "two")
    lab.network = "recurrent"
    assert lab.stale and "choose the Transformer" in lab.message and len(lab.state["masks"]) == 2


def test_a_document_is_a_second_text_and_no_second_network() -> None:
    lab = MaskLab(words(), "the baker told a story", "reader_input", second="the ferryman told a story",
                  choices={"longest": 1})
    state = lab.state
    assert state["second"] == "the document" and state["texts"] == 2 and state["headings"] == []
    assert state["tokens"].count("[SEP]") == 2 and state["tokens"].count("[MASK]") == 1
    assert state["segments"] == [0] * 7 + [1] * 6
    told = state["targets"].index(next(filter(None, state["targets"])))
    assert state["marks"][told] == "mask" and 0 < told < 6, "a word of the first text is hidden"


THANKS = "Thank you for inviting me to your party last week ."
EIGHT = "x1 x2 x3 x4 x5 x6 x7 x8"
LETTERS = "A B C . D E ."


def figure(monkeypatch: pytest.MonkeyPatch, text: str, make: Callable) -> MaskLab:
    """The lab with an objective whose random choices are those of a paper's figure."""
    name = make.func.__name__
    monkeypatch.setitem(OBJECTIVES, name, replace(OBJECTIVES[name], make=make, choices=()))
    return MaskLab(Tokenizer.words([text], 200), text, name)


def halves(lab: MaskLab) -> tuple[str, str, list[str | None]]:
    """What the encoder reads, what the decoder reads, and what the decoder predicts."""
    tokens, split = lab.state["tokens"], lab.state["split"]
    assert lab.message == "" and not any(lab.state["targets"][:split])
    return " ".join(tokens[:split]), " ".join(tokens[split:]), lab.state["targets"][split:]


def test_the_example_of_t5_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = figure(monkeypatch, THANKS, partial(span_corruption, spans=[(2, 4), (8, 9)]))
    source, target, predicted = halves(lab)
    assert source == "Thank you [X0] me to your party [X1] week . [END]"
    assert target == "[START] [X0] for inviting [X1] last [X2]"
    assert predicted == ["[X0]", "for", "inviting", "[X1]", "last", "[X2]", "[END]"]
    marks, split = lab.state["marks"], lab.state["split"]
    assert [i for i, mark in enumerate(marks) if mark == "mask"] == [2, 7, split + 1, split + 4, split + 6]
    assert lab.state["names"][2] == "[X0] (source)" and lab.state["names"][split + 1] == "[X0] (target)"
    reason = drawn(lab.example).row().visible.reason(split, 2, lab.state["names"])
    assert reason.endswith("[X0] (source) is in the source: every decoder position attends to all of the source.")


def test_the_figure_of_mass_is_drawn_in_both_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    make = partial(masked_span, span=(3, 7), corrupt=always_mask)
    lab = figure(monkeypatch, EIGHT, make)
    source, target, predicted = halves(lab)
    assert source == "[START] x1 x2 [MASK] [MASK] [MASK] [MASK] x7 x8 [END]"
    assert target == "x2 x3 x4 x5" and predicted == ["x3", "x4", "x5", "x6"]
    assert lab.state["position_ids"] == [[*range(10), 2, 3, 4, 5]]
    square, split = looks(lab), lab.state["split"]
    assert square[split:, :split].tolist() == [[not 3 <= key < 7 for key in range(10)]] * 4
    whole, names = drawn(lab.example).row().visible, lab.state["names"]
    assert "masked positions of the encoder" in whole.reason(split, 3, names)
    assert whole.reason(split + 1, 2, names).endswith("x2 (source) is in the source and is not [MASK].")
    assert square[:split, :split].all() and not square[split, split + 1]
    paper = figure(monkeypatch, EIGHT, partial(make, decoder=masked_elsewhere, memory=all_positions))
    source, target, predicted = halves(paper)
    assert target == "[MASK] [MASK] [MASK] x3 x4 x5 [MASK] [MASK]"
    assert predicted == [None, None, "x3", "x4", "x5", "x6", None, None]
    assert paper.state["position_ids"] == [[*range(10), *range(1, 9)]]
    assert looks(paper)[10:, :10].all()


def test_the_figure_of_bart_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    noises = [partial(text_infilling, spans=[(1, 3), (5, 5)])]
    source, target, predicted = halves(figure(monkeypatch, LETTERS, partial(denoising, noises=noises)))
    assert source == "[START] A [MASK] . D [MASK] E . [END]"
    assert target == f"[END] [START] {LETTERS}" and predicted == ["[START]", *LETTERS.split(), "[END]"]
    permuted = figure(monkeypatch, LETTERS, partial(denoising, noises=[partial(sentence_permutation, order=[1, 0])]))
    assert halves(permuted)[0] == "[START] D E . A B C . [END]"
    assert set(permuted.state["marks"]) == {"special", "word"}


@pytest.mark.parametrize("name", ["span_corruption", "masked_span", "denoising", "continuation"])
def test_a_pair_from_one_text_follows_its_choices_and_is_cut_to_fit(name: str) -> None:
    lab = MaskLab(words(), f"{SENTENCES[64]} " * 4, name)
    assert lab.state["texts"] == 1 and "left out" in lab.message and len(lab.state["tokens"]) <= 64
    assert [choice["name"] for choice in lab.state["choices"]] == [
        choice.name for choice in OBJECTIVES[name].choices]
    first, share = lab.state, next(iter(OBJECTIVES[name].choices)).name
    lab.choices = {share: 0.05 if name != "denoising" else 0.0}
    assert lab.state["tokens"] != first["tokens"] and not lab.stale
    for network in ("recurrent", "attention"):
        lab.network = network
        assert not lab.stale and lab.state["masks"][0]["title"] == "influence"
