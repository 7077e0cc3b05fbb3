"""Who may look at whom, against brute force over pairs, and why, in words."""

import itertools

import pytest
import torch

from plmlab.visibility import EDITED, NO_RULE, AttentionMask, Rule, Visibility


def flags(text: str) -> torch.Tensor:
    return torch.tensor([letter == "1" for letter in text])


def prefix() -> Visibility:
    """UniLM's figure: three tokens that see each other, three that see those and what was written before."""
    first, second, place = flags("111000"), flags("000111"), torch.arange(6)
    return Visibility((
        Rule.between("source", "{key} is source, and {query} too.", first, first),
        Rule.between("across", "{query} reads the source.", second, first),
        Rule("written before", "{key} was written by then.", second, second, place, place,
             unless="{key} is not written yet."),
    ), otherwise="the source does not look at the target.")


def test_a_prefix_mask_is_the_papers_figure() -> None:
    rows = ["".join("01"[look] for look in row) for row in prefix().dense().int().tolist()]
    assert rows == ["111000", "111000", "111000", "111100", "111110", "111111"]


def test_dense_and_causes_against_every_pair() -> None:
    visible = prefix().edited(0, 5, True).edited(3, 0, False).edited(0, 5, False).edited(0, 4, True)
    dense, rule_ids = visible.dense(), visible.rule_ids()
    edits = {(q, k): look for q, k, look in visible.edits}
    for q, k in itertools.product(range(6), range(6)):
        looks, cause = False, NO_RULE
        for i, rule in enumerate(visible.rules):
            if rule.queries[q] and rule.keys[k]:
                if rule.key_rank[k] <= rule.query_rank[q]:
                    looks, cause = True, (i + 1 if cause < 0 else cause)
                elif cause == NO_RULE:
                    cause = -(i + 1)
        if (q, k) in edits:
            looks, cause = edits[q, k], EDITED if edits[q, k] else -EDITED
        assert bool(dense[q, k]) == looks, (q, k)
        assert int(rule_ids[q, k]) == cause, (q, k)
        assert (cause > 0) == looks


def test_reasons_in_words() -> None:
    words = ["A", "B", "C", "x", "y", "z"]
    visible = prefix().edited(1, 0, False).edited(0, 3, True)
    assert visible.reason(4, 3, words) == "y can attend to x: x was written by then."
    assert visible.reason(3, 4, words) == "x cannot attend to y: y is not written yet."
    assert visible.reason(2, 5, words) == "C cannot attend to z: the source does not look at the target."
    assert visible.reason(1, 0, words) == "B cannot attend to A: you blocked this pair by hand."
    assert visible.reason(0, 3) == "position 0 can attend to position 3: you allowed this pair by hand."


def test_a_token_that_looks_like_a_placeholder() -> None:
    reason = Visibility.full(2).reason(0, 1, ["{query}", "{0}"])
    assert reason.startswith("{query} can attend to {0}: ")


def test_full_and_causal() -> None:
    assert Visibility.full(2, 3).dense().all() and Visibility.full(2, 3).shape == (2, 3)
    assert torch.equal(Visibility.causal(5).dense(), torch.ones(5, 5, dtype=torch.bool).tril())
    assert Visibility.causal(3).reason(0, 1, "abc").endswith("b comes later: attending to it would leak a target.")


@pytest.mark.parametrize("cell", [(2, 0), (0, 3), (-1, 0)])
def test_a_cell_that_there_is_not(cell: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="a mask of 2 queries × 3 keys"):
        Visibility.full(2, 3).edited(*cell, True)


FULL, CAUSAL, OTHER = [Visibility.full(n) for n in (2, 5, 3)], [Visibility.causal(n) for n in (4, 1, 3)], [prefix()]
BATCHES = {
    "full": FULL, "one length": [Visibility.full(3)] * 2, "causal": CAUSAL, "mixed": [*FULL, *CAUSAL, *OTHER],
    "edited": [Visibility.causal(4).edited(0, 3, True), Visibility.causal(2)],
    "across": [Visibility.full(3, 2), Visibility.full(1, 6)],
}


@pytest.mark.parametrize("visible", BATCHES.values(), ids=BATCHES)
def test_the_mask_of_a_batch_against_each_example(visible: list[Visibility]) -> None:
    queries, keys = (max(sizes) for sizes in zip(*(v.shape for v in visible), strict=True))
    dense = AttentionMask.of(visible).dense(queries, keys)
    dense = torch.ones(1, 1, 1, 1, dtype=torch.bool) if dense is None else dense
    dense = dense.expand(len(visible), 1, queries, keys)
    for row, v in zip(dense[:, 0], visible, strict=True):
        q, k = v.shape
        assert torch.equal(row[:q, :k], v.dense())
        assert not row[:q, k:].any()          # no real position sees padding


def test_the_cheapest_form_is_kept() -> None:
    assert AttentionMask.of(CAUSAL) == AttentionMask(causal=True)
    assert AttentionMask.of([Visibility.full(3)] * 2) == AttentionMask()
    padded = AttentionMask.of(FULL)
    assert padded.pairs is None and padded.keys.sum(-1).tolist() == [2, 5, 3]
    assert AttentionMask.of(BATCHES["edited"]).pairs.shape == (2, 4, 4)


def test_the_last_queries_of_a_longer_text() -> None:
    dense = AttentionMask(causal=True).dense(2, 5)
    assert dense[0, 0].int().tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]


def test_all_parts_of_a_mask_must_agree() -> None:
    keys, pairs = flags("110")[None], torch.tensor([[[1, 1, 1], [0, 1, 1], [1, 1, 1]]]).bool()
    dense = AttentionMask(True, keys, pairs).dense(3, 3)
    assert dense[0, 0].int().tolist() == [[1, 0, 0], [0, 1, 0], [1, 1, 0]]
    assert AttentionMask().dense(3, 3) is None
    moved = AttentionMask(True, keys, pairs).to("meta")
    assert moved.causal and moved.keys.is_meta and moved.pairs.is_meta
