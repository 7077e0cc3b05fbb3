"""The Permutation Lab without a browser: the chain rule, brute force, masks written by hand, a leak, its proof."""

import math
import subprocess
import sys
from itertools import islice, permutations
from pathlib import Path
from random import Random

import pytest
import torch
from permutation_models import FEW, LONG, MIXED, SMALL, TEXT, WORDS, lab, perfect, random_model

from plmlab.example import Batch
from plmlab.labs import PermutationLab
from plmlab.labs.permutation import orders
from plmlab.labs.permutation.exact import length_chances, surprisal
from plmlab.labs.permutation.quiz import own_chances, some
from plmlab.labs.permutation.reading import example, in_orders, surprisals
from plmlab.labs.permutation.tally import SENTENCES
from plmlab.objectives import permuted
from plmlab.visibility import EDITED

IDS = WORDS.encode(TEXT)


def all_sentences(words: int) -> dict[tuple[str, ...], float]:
    """Every sentence of so many words, with its probability among them, by enumeration."""
    return SMALL.joint(["the"] * words, range(words))


def test_a_perfect_model_pays_the_same_in_every_order() -> None:
    """The chain rule: and what it pays is the exact value, ln 20."""
    made = perfect()
    told = made.state["orders"]
    assert len(told["listed"]) == 120 == len(set(map(tuple, told["listed"]))) and told["complete"]
    p = all_sentences(5)[tuple(TEXT.split())]
    assert p == pytest.approx(1 / 20)
    assert told["model"] == pytest.approx([-math.log(p)] * 120, abs=1e-9)
    assert made.state["exact"] == pytest.approx(math.log(20)) and made.state["why_not"] == ""
    for step in made.state["steps"]:
        assert step["costs"][0] == pytest.approx(step["costs"][1], abs=1e-9)
        assert step["belief"]["kl"] == pytest.approx(0, abs=1e-9)
    assert made.state["steps"][-1]["sums"] == pytest.approx((math.log(20),) * 2)


@pytest.mark.parametrize("text", [TEXT, "the girls sing .", "the woman laughs at the boy .", LONG])
def test_the_exact_value_is_that_of_all_sentences_of_the_length(text: str) -> None:
    words = text.split()
    everything = all_sentences(len(words))
    if tuple(words) not in everything:
        words = list(min(everything))
    assert surprisal(SMALL, "train", words) == pytest.approx(-math.log(everything[tuple(words)]))
    length = math.fsum(math.exp(SMALL.logprob(one)) for one in everything)
    assert length_chances(SMALL.automaton(), len(words))[-1] == pytest.approx(length)
    made = perfect(" ".join(words), draws=3)
    assert made.state["steps"][-1]["sums"] == pytest.approx([-math.log(everything[tuple(words)])] * 2)
    assert not math.isnan(max(made.state["orders"]["model"]))
    assert made.state["orders"]["model"] == pytest.approx([made.state["exact"]] * len(made.state["orders"]["listed"]))


def test_lengths_add_up_to_one() -> None:
    assert math.fsum(length_chances(SMALL.automaton(), 40)) == pytest.approx(1)


def test_a_step_s_exact_belief_is_what_the_sentences_left_say() -> None:
    """By enumeration: of all sentences of the length, those that have the words said so far, at their places."""
    made = lab()
    for t, step in enumerate(made.state["steps"]):
        said = {place: TEXT.split()[place] for place in MIXED[:t]}
        left = {words: p for words, p in all_sentences(5).items() if all(words[i] == w for i, w in said.items())}
        for row in step["belief"]["rows"]:
            here = math.fsum(p for words, p in left.items() if words[step["position"]] == row["word"])
            assert row["best"] == pytest.approx(here / math.fsum(left.values())), (t, row)


def test_a_step_is_what_the_model_says_of_that_example() -> None:
    made, model = lab(), random_model()
    one = permuted(IDS, vocab=WORDS.vocab, rng=Random(0), order=[5, 6, *MIXED], predict=range(5))
    with torch.no_grad():
        chances = model(Batch.of([one], pad=0))[0].softmax(-1)
    paid = 0.0
    for step, place in zip(made.state["steps"], MIXED, strict=True):
        p = chances[place]
        own = float(p[IDS[place]])
        paid -= math.log(own)
        told = step["belief"]
        assert told["own"]["p"] == pytest.approx(own) and told["own"]["rank"] == 1 + int((p > own).sum())
        assert step["sums"][0] == pytest.approx(paid)
        shown = {row["word"]: row["p"] for row in told["rows"]}
        assert shown == pytest.approx({word: float(p[WORDS.id(word)]) for word in shown})
        assert {WORDS.tokens([i])[0] for i in p.topk(2).indices.tolist()} <= set(shown)
    assert repr(made) == f"<PermutationLab: are → . → the → cats → hungry: {paid:.2f} nats, Bayes-optimal predictor " \
                         "3.00>"


def test_words_that_are_not_said_yet_do_not_matter() -> None:
    """Each step's belief is the same whatever stands where nothing has been said; with the leak it is not."""
    for leak in (False, True):
        before, after = lab(leak=leak), lab("the cats are tired .", order=MIXED, leak=leak)
        pairs = zip(before.state["steps"], after.state["steps"], strict=True)
        same = [[row["p"] for row in one["belief"]["rows"] if not row["own"]][:1] ==
                pytest.approx([row["p"] for row in other["belief"]["rows"] if not row["own"]][:1])
                for one, other in pairs]
        assert same[:4] == [True] * 4 and same[4] != leak


def test_many_orders_in_one_batch_are_the_orders_one_by_one() -> None:
    made = lab()
    model = random_model()
    for listed, paid in list(zip(made.state["orders"]["listed"], made.state["orders"]["model"], strict=True))[::17]:
        one = permuted(IDS, vocab=WORDS.vocab, rng=Random(0), order=[5, 6, *listed], predict=range(5))
        with torch.no_grad():
            said = model(Batch.of([one], pad=0))[0].log_softmax(-1)
        assert paid == pytest.approx(-sum(float(said[i, word]) for i, word in enumerate(IDS)))
    here = made.state["orders"]["here"]
    assert made.state["orders"]["listed"][here] == MIXED
    assert made.state["orders"]["model"][here] == pytest.approx(made.state["steps"][-1]["sums"][0])


@pytest.mark.parametrize("leaking", [False, True])
def test_a_batch_of_orders_is_the_batch_of_their_examples(leaking: bool) -> None:
    listed = [[0, 1, 2], [2, 1, 0], [1, 2, 0]]
    one = in_orders(IDS[:3], listed, WORDS.vocab, leak=leaking)
    other = Batch.of([example(IDS[:3], order, WORDS.vocab, leak=leaking) for order in listed], pad=0)
    assert one.visible.pairs is not None and other.visible.pairs is not None
    assert one.query_stream_mask is not None and other.query_stream_mask is not None
    for mine, theirs in ((one.tokens, other.tokens), (one.segments, other.segments), (one.targets, other.targets),
                         (one.visible.pairs, other.visible.pairs),
                         (one.query_stream_mask.pairs, other.query_stream_mask.pairs),
                         (one.position_ids.expand(3, -1, -1), other.position_ids.expand(3, -1, -1))):
        assert torch.equal(mine, theirs)  # type: ignore[arg-type]


BEFORE = """
. . . . . x x
x . x . x x x
. . . . . x x
x x x . x x x
. . x . . x x
. . . . . . .
. . . . . x ."""
"""Who sees whom in the query stream: the cats are hungry . [SEP] [CLS], said are, ., the, cats, hungry."""
BEFORE = BEFORE.replace(". . . . . x x", "X", 1).replace("X", ". . x . x x x", 1)
"""“the” is said third, after “are” and “.”."""


def by_hand(picture: str) -> list[list[bool]]:
    return [[mark == "x" for mark in line.split()] for line in picture.split("\n") if line]


def looks(made: PermutationLab, stream: int) -> list[list[bool]]:
    rule_ids = made.state["masks"][stream]["rule_ids"]
    assert not {abs(cause) for cause in rule_ids} & {EDITED}
    return [[cause > 0 for cause in rule_ids[7 * row:7 * row + 7]] for row in range(7)]


def test_both_masks_are_those_drawn_by_hand() -> None:
    query = by_hand(BEFORE)
    content = [[seen or q == k for k, seen in enumerate(row)] for q, row in enumerate(query)]
    made = lab()
    assert (looks(made, 0), looks(made, 1)) == (content, query)
    made.leak = True
    assert (looks(made, 0), looks(made, 1)) == (content, content), "the diagonal opens, and nothing else"


def test_steps_find_said_what_the_order_says() -> None:
    for order in permutations(range(4)):
        for t, step in enumerate(orders.steps(order)):
            assert step.place == order[t]
            assert set(step.left) | set(step.right) == set(order[:t])
            assert all(other < step.place for other in step.left) and all(other > step.place for other in step.right)


def test_orders_are_all_or_120_different_ones() -> None:
    for count in (1, 2, 5):
        listed, complete = orders.many(count, Random(0))
        assert complete and {*map(tuple, listed)} == {*permutations(range(count))}
    listed, complete = orders.many(6, Random(0))
    assert not complete and len({*map(tuple, listed)}) == 120 and all(sorted(one) == [*range(6)] for one in listed)
    assert listed == orders.many(6, Random(0))[0] != orders.many(6, Random(1))[0]
    for seed in range(30):
        assert orders.drawn(3, Random(seed)) not in ([0, 1, 2], [2, 1, 0])
        assert orders.drawn(2, Random(seed), [1, 0]) == [0, 1] and orders.drawn(1, Random(seed), [0]) == [0]


def test_a_long_sentence_is_said_in_120_orders_and_in_the_reader_s() -> None:
    made = lab(LONG, order=[*range(8)])
    told = made.state["orders"]
    assert not told["complete"] and len(told["listed"]) == 121 and told["here"] == 120
    assert told["model"][120] == pytest.approx(made.state["steps"][-1]["sums"][0])
    made.order = told["listed"][7]
    assert made.state["orders"]["here"] == 7 and len(made.state["orders"]["listed"]) == 120
    made.leak = True
    made.order = [*range(8)]
    told = made.state["orders"]
    assert told["leaking"][120] == pytest.approx(made.state["steps"][-1]["sums"][0])
    assert told["model"][120] != pytest.approx(told["leaking"][120])


def test_a_leak_falls_below_the_floor_and_is_proved() -> None:
    made = perfect(leak=True)
    told = made.state["orders"]
    assert max(told["leaking"]) < 0.001 < made.state["exact"] == pytest.approx(min(told["model"]))
    proof = made.state["proof"]
    assert proof["tried"] <= 20 and proof["leaking"] == pytest.approx(proof["tried"], abs=1e-3)
    assert proof["model"] <= 1 + 1e-9
    made.leak = False
    assert made.state["proof"] is None and made.state["orders"]["leaking"] is None


@pytest.mark.parametrize("seed", range(3))
def test_who_does_not_see_a_word_gives_all_words_together_one(seed: int) -> None:
    """Of any model, by the mask alone; one that sees it may give more, or less."""
    vocab = list(range(len(WORDS)))
    for order in (MIXED, [4, 3, 2, 1, 0]):
        honest = own_chances(random_model(seed), IDS, order, vocab, WORDS.vocab, leaking=False)
        assert sum(honest) == pytest.approx(1)
        leaking = own_chances(random_model(seed), IDS, order, vocab, WORDS.vocab, leaking=True)
        assert sum(leaking) != pytest.approx(1, 0.01)


def test_words_are_tried_from_the_whole_vocabulary() -> None:
    for count in (1, 19, 20, 21, 148, 30_000):
        words = some(range(count))
        assert min(count, 10) <= len(words) <= 20 and words[0] == 0 and words[-1] >= 0.89 * (count - 1)
    for made in (lab(leak=True), lab(leak=True, world=None)):
        assert 10 <= made.state["proof"]["tried"] <= 20


def test_the_tally_is_of_many_sentences_and_a_perfect_model_is_below_in_none() -> None:
    told = perfect().menu["tally"]
    assert told["sentences"] == FEW < SENTENCES == 100
    said = list(islice(SMALL.text("train", seed=1), FEW))
    exact = [-math.log(all_sentences(len(words))[tuple(words)]) for words in said]
    assert told["exact"] == pytest.approx(sum(exact) / FEW)
    assert told["model"] == {"nats": pytest.approx(told["exact"]), "error": pytest.approx(0, abs=1e-9), "below": 0}
    assert told["leaking"]["nats"] < 0.001 and told["leaking"]["below"] == FEW
    assert lab(leaking=None).menu["tally"]["leaking"] is None and lab(world=None).menu["tally"] is None


def test_a_padded_batch_pays_what_its_sentences_pay() -> None:
    rows = [WORDS.encode(text) for text in (TEXT, LONG, "the girls sing .")]
    listed = [orders.drawn(len(row), Random(0)) for row in rows]
    made = [example(row, order, WORDS.vocab) for row, order in zip(rows, listed, strict=True)]
    together = surprisals(random_model(), Batch.of(made, pad=0)).sum(1).tolist()
    alone = [float(surprisals(random_model(), Batch.of([one], pad=0)).sum()) for one in made]
    assert together == pytest.approx(alone)


def test_nothing_changes_in_the_models() -> None:
    model = random_model()
    before = [weight.clone() for weight in model.parameters()]
    model.train()
    made = lab()
    made.leak = True
    made.order = [4, 3, 2, 1, 0]
    after = model.parameters()
    assert model.training and all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
    model.eval()


TIMED = """
import statistics, sys, time, torch
from permutation_models import SMALL, WORDS
from plmlab.labs import PermutationLab
from plmlab.models.xlnet import XLNetConfig, XLNetPretraining
torch.set_num_threads(1)
clock = getattr(time, sys.argv[1])
made = [XLNetPretraining(XLNetConfig.tiny(len(WORDS))).eval() for _ in range(2)]
lab = PermutationLab(made[0], WORDS, world=SMALL, leaking=made[1])
pairs = [f"the {noun} {verb} {how} ." for noun, verb in (("cat", "is"), ("cats", "are"), ("dog", "is"), ("dogs", "are"))
         for how in ("hungry", "tired", "lost", "old")]
long = [f"the {a} near the {b} near the {c} near the river are lost ." for a in ("cups", "keys")
        for b in ("chair", "cup") for c in ("chair", "cup")]
listed = [one for one in lab.state["orders"]["listed"]][::7]
for name, values in (("order", listed), ("text", pairs[1:]), ("leak", pairs), ("long", long)):
    spent, lab.leak = [], False
    for value in values:
        if name == "leak":
            lab.set_state({"leak": False, "text": value})
        begun = clock()
        setattr(*((lab, "leak", True) if name == "leak" else (lab, "order" if name == "order" else "text", value)))
        spent.append(1000 * (clock() - begun))
        assert not lab.stale, lab.message
    print(name, len(lab.state["steps"]), round(statistics.median(spent), 1))
"""


def timed(clock: str) -> list[str]:
    """In a process of its own, where no shapes are checked."""
    told = subprocess.run([sys.executable, "-c", TIMED, clock], cwd=Path(__file__).parent, capture_output=True,
                          text=True, check=True)
    return told.stdout.splitlines()


@pytest.mark.timing
def test_a_change_takes_100_ms_at_most_of_a_tiny_model_and_five_words() -> None:
    told = timed("perf_counter")
    print(told)
    for line in told:
        assert float(line.split()[2]) <= (100 if line.split()[1] == "5" else 250), line


if __name__ == "__main__":
    print(*timed(sys.argv[1]), sep="\n")
