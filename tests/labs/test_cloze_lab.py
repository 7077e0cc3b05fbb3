"""The Cloze Lab without a browser: its beliefs against the model's logits, the world and brute force; and bad input."""

import itertools
import json
import math
from collections import defaultdict

import pytest
import torch
from cloze_models import (
    AGREEMENT,
    CLS,
    MASK,
    SEP,
    SMALL,
    START,
    WORDS,
    agrees,
    believed,
    bert,
    best,
    crossed,
    gpt,
    ids,
    said_by,
)
from transformers import BertConfig, BertForMaskedLM

from plmlab.hf import tokenizer_to_hf
from plmlab.labs import ClozeLab
from plmlab.labs.cloze.pairs import chained_pair, world_pair
from plmlab.labs.cloze.presets import pair_question, presets


@pytest.fixture
def lab() -> ClozeLab:
    return crossed()


def test_beliefs_from_both_sides_are_the_softmax_of_the_model(lab: ClozeLab) -> None:
    read = [CLS, *ids("the"), MASK, *ids("near the chair"), MASK, *ids("lost ."), SEP]
    p = said_by(lab.model, read)
    for gap, position, true in zip(lab.state["gaps"], (2, 6), ("cups", "are"), strict=True):
        assert (gap["position"], gap["word"]) == (position, true)
        agrees(gap["both"], p[position], true)
        assert len(gap["both"]["rows"]) in (8, 9)


def test_without_a_world_the_eight_likeliest_are_shown() -> None:
    lab = ClozeLab(bert(), WORDS, AGREEMENT, hide=["are"])
    p = said_by(lab.model, [CLS, *ids("the cups near the chair"), MASK, *ids("lost ."), SEP])[6]
    reader = lab.state["gaps"][0]["both"]
    assert sorted(believed(reader).values(), reverse=True)[:8] == pytest.approx(p.topk(8).values.tolist(), abs=1e-6)
    assert reader["kl"] is None and set(best(reader).values()) == {None}


def test_the_left_reader_is_the_model_with_the_sentence_cut_after_the_mask(lab: ClozeLab) -> None:
    for gap, before in zip(lab.state["gaps"], ("the", "the cups near the chair"), strict=True):
        p = said_by(lab.model, [CLS, *ids(before), MASK, SEP])
        agrees(gap["left"], p[gap["position"]], gap["word"])
    assert lab.menu["cut"]


def test_a_gpt_reads_what_stands_before_and_no_more() -> None:
    reader = gpt()
    lab = crossed(left_only=reader)
    for gap, before in zip(lab.state["gaps"], ("the", "the cups near the chair"), strict=True):
        agrees(gap["left"], said_by(reader, [START, *ids(before)])[-1], gap["word"])
    assert not lab.menu["cut"]


def test_the_best_readers_are_the_world_s_own(lab: ClozeLab) -> None:
    words = AGREEMENT.split()
    both = SMALL.posterior(words, [1, 5])
    for gap, exact in zip(lab.state["gaps"], both, strict=True):
        left = SMALL.next_words(words[:gap["position"] - 1])
        for reader, known in ((gap["both"], exact), (gap["left"], left)):
            assert best(reader) == pytest.approx({word: known.get(word, 0.0) for word in best(reader)})
            assert reader["own"]["best"] == pytest.approx(known[gap["word"]])
        p = said_by(lab.model,
                    [CLS, *ids("the"), MASK, *ids("near the chair"), MASK, *ids("lost ."), SEP])[gap["position"]]
        kl = sum(q * math.log(q / float(p[WORDS.id(word)])) for word, q in exact.items())
        assert gap["both"]["kl"] == pytest.approx(kl, rel=1e-5) and kl > 0


def test_the_product_is_the_outer_product_of_two_beliefs(lab: ClozeLab) -> None:
    pair = lab.state["pair"]
    p = said_by(lab.model, [CLS, *ids("the"), MASK, *ids("near the chair"), MASK, *ids("lost ."), SEP])
    rows, columns = ([WORDS.id(word) for word in pair[side]] for side in ("rows", "columns"))
    expected = torch.outer(p[2][rows], p[6][columns])
    torch.testing.assert_close(torch.tensor(pair["product"], dtype=torch.float64), expected, rtol=1e-4, atol=1e-9)
    assert {"cups", "cup", "key", "keys"} <= set(pair["rows"]) and {"is", "are"} <= set(pair["columns"])


def test_the_joint_is_that_of_brute_force_over_every_word_of_the_world(lab: ClozeLab) -> None:
    words, pair = AGREEMENT.split(), lab.state["pair"]
    mass = {}
    for one, other in itertools.product(SMALL.vocabulary, repeat=2):
        told = SMALL.logprob([words[0], one, *words[2:5], other, *words[6:]])
        if math.isfinite(told):
            mass[one, other] = math.exp(told)
    joint = {words: p / sum(mass.values()) for words, p in mass.items()}
    assert len(joint) == 4
    for row, one in enumerate(pair["rows"]):
        for column, other in enumerate(pair["columns"]):
            assert pair["together"][row][column] == pytest.approx(joint.get((one, other), 0.0))
    one, other = defaultdict(float), defaultdict(float)
    for (a, b), p in joint.items():
        one[a] += p
        other[b] += p
    information = sum(p * math.log(p / (one[a] * other[b])) for (a, b), p in joint.items())
    assert pair["information"] == pytest.approx(information) and information == pytest.approx(math.log(2))
    possible = sum(one[a] * other[b] for a, b in joint)
    assert pair["unavoidable"] == pytest.approx(1 - possible) == 0.5
    p = said_by(lab.model, [CLS, *ids("the"), MASK, *ids("near the chair"), MASK, *ids("lost ."), SEP])
    product = torch.outer(p[2], p[6])
    for a, b in joint:
        product[WORDS.id(a), WORDS.id(b)] = 0
    assert pair["impossible"] == pytest.approx(float(product.sum()), rel=1e-5)
    assert pair["worst"]["product"] == pytest.approx(float(product.max()), rel=1e-5)
    a, b = (WORDS.id(word) for word in pair["worst"]["words"])
    assert product[a, b] == product.max() and pair["worst"]["together"] == 0


def test_of_three_gaps_two_are_crossed_and_the_third_is_summed_over(lab: ClozeLab) -> None:
    lab.hidden = [2, 5, 6]
    assert lab.state["pair"]["positions"] == lab.pair == [2, 6], "those that were crossed before"
    words = AGREEMENT.split()
    whole = SMALL.joint(words, [1, 4, 5])
    for positions, (i, j) in (([2, 6], (0, 2)), ([5, 6], (1, 2)), ([2, 5], (0, 1))):
        lab.pair = positions
        pair = lab.state["pair"]
        assert pair["positions"] == positions
        expected: dict[tuple[str, str], float] = defaultdict(float)
        for said, p in whole.items():
            expected[said[i], said[j]] += p
        cells = {(a, b): p for a, line in zip(pair["rows"], pair["together"], strict=True)
                 for b, p in zip(pair["columns"], line, strict=True) if p}
        assert cells == pytest.approx({both: expected[both] for both in cells}) and cells
    lab.hidden = [2]
    assert lab.state["pair"] is None and lab.pair == []


def test_without_a_world_the_model_is_asked_one_gap_after_the_other() -> None:
    lab = ClozeLab(bert(), WORDS, AGREEMENT, hide=["cups", "are"])
    pair = lab.state["pair"]
    assert pair["kind"] == "chained" and pair["impossible"] is None
    p = said_by(lab.model, [CLS, *ids("the"), MASK, *ids("near the chair"), MASK, *ids("lost ."), SEP])
    for row, one in zip(pair["rows"], pair["together"], strict=True):
        q = said_by(lab.model, [CLS, *ids(f"the {row} near the chair"), MASK, *ids("lost ."), SEP])[6]
        expected = [float(p[2, WORDS.id(row)] * q[WORDS.id(column)]) for column in pair["columns"]]
        assert one == pytest.approx(expected, rel=1e-4)
    assert sum(pair["together"][0]) > 0.01


def test_two_gaps_that_can_be_filled_apart_are_said_to_be() -> None:
    """Beliefs made by hand: the product is the joint, with the world and without one."""
    one, other = torch.tensor([0.5, 0.5, 0.0]).double(), torch.tensor([0.25, 0.0, 0.75]).double()

    def labels(ids: list[int]) -> list[str]:
        return [str(id) for id in ids]

    joint = {(a, b): float(one[a] * other[b]) for a in (0, 1) for b in (0, 2)}
    apart = world_pair(one, other, joint, labels)
    assert apart["worst"] is None and apart["impossible"] == apart["unavoidable"] == apart["information"] == 0
    alone = chained_pair(one, other, [0, 1], [other, other], labels)
    assert alone["worst"] is None and alone["together"] == alone["product"]
    for pair in (apart, alone):
        assert pair_question(pair)[1].startswith("Hardly ever")
    told = chained_pair(one, other, [0, 1], [other, other.flip(0)], labels)
    assert told["worst"] == {"words": ["1", "2"], "product": 0.375, "together": 0.125}
    assert "“1 … 2”: the product assigns it 38 %" in pair_question(told)[1]


def test_a_model_of_transformers_says_the_same_with_its_own_tokenizer() -> None:
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=16, max_position_embeddings=32, initializer_range=0.5)
    theirs = BertForMaskedLM(config).train()
    lab = ClozeLab(theirs, tokenizer_to_hf(WORDS), AGREEMENT, SMALL, hide=["are"])
    assert theirs.training, "the model is in the mode it was in"
    theirs.eval()
    p = said_by(theirs, [CLS, *ids("the cups near the chair"), MASK, *ids("lost ."), SEP])
    agrees(lab.state["gaps"][0]["both"], p[6], "are")
    short = said_by(theirs, [CLS, *ids("the cups near the chair"), MASK, SEP])
    agrees(lab.state["gaps"][0]["left"], short[6], "are")


def test_the_question_names_the_word_whose_hiding_costs_most() -> None:
    lab = ClozeLab(bert(), WORDS, AGREEMENT, SMALL, hide=["are"])
    read = [CLS, *ids(AGREEMENT), SEP]
    read[6] = MASK
    left = {}
    for position in (1, 2, 3, 4, 5, 7, 8):
        changed = [MASK if place == position else id for place, id in enumerate(read)]
        left[position] = float(said_by(lab.model, changed)[6, WORDS.id("are")])
    least = min(left, key=left.__getitem__)
    assert "“are” becomes as hard to predict" in lab.state["question"]
    assert left[least] < float(said_by(lab.model, read)[6, WORDS.id("are")])
    assert lab.state["answer"].startswith(f"“{WORDS.tokens([read[least]])[0]}” (position {least}).")


def test_the_presets_show_what_their_titles_say() -> None:
    right, verb, two = presets(SMALL)
    words, (position,) = right["text"].split(), right["hidden"]
    truth = words[position - 1]
    assert any(SMALL.parse(words).senses[:position - 1]), "an ambiguous word stands before the gap"
    assert SMALL.next_words(words[:position - 1])[truth] < 0.7 and SMALL.posterior(words,
                                                                                   [position - 1])[0][truth] > 0.95
    link, = SMALL.parse(verb["text"].split()).agreement
    assert verb["hidden"] == [link.verb + 1] and link.attractors > 0
    lab = ClozeLab(bert(), WORDS, two["text"], SMALL)
    lab.hidden = two["hidden"]
    assert lab.state["pair"]["information"] > 0.5 and lab.state["pair"]["unavoidable"] > 0.3


def test_a_world_begins_with_its_first_preset_and_is_told_by_it() -> None:
    lab, again = ClozeLab(bert(), WORDS, world=SMALL), ClozeLab(bert(), WORDS, world=SMALL)
    assert lab.text == lab.menu["presets"][0]["text"] and lab.hidden == lab.menu["presets"][0]["hidden"]
    assert (lab.message, lab.stale) == ("", False) and repr(lab) == repr(again)
    assert "[CLS] the bat [MASK] from the ceiling" in repr(lab)
    json.dumps(lab.state, allow_nan=False)
