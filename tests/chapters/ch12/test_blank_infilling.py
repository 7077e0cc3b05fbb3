"""The arms that fill blanks, trained: what they read, as much of it, and what is recorded and kept."""


import pytest

from plmlab.chapters.ch12 import blank_arms
from plmlab.chapters.ch12.blank_arms import ARMS, PAPER
from plmlab.example import IGNORE, Example
from plmlab.models.bert import BERTPretraining
from plmlab.recipes import Parts
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from studies.ch12 import blank_infilling

VOCAB, MASK = small_world_tokenizer().vocab, 4
GLMS = [name for name, arm in ARMS.items() if arm.network is blank_arms.glm]


def test_what_the_arms_read() -> None:
    shares = dict.fromkeys(GLMS, 0)
    for name in GLMS:
        for example in blank_infilling.texts(name, 0).examples(0):
            assert isinstance(example, Example)
            tokens = example.tokens.tolist()
            second = VOCAB.sentinels[-1] in tokens
            shares[name] += second
            assert not (second and MASK in tokens)
            said = [place for place, inside in zip(*example.position_ids.tolist(), strict=True) if inside]
            if ARMS[name].ordered:
                assert said == sorted(said)
    assert ARMS["consecutive positions"].make is ARMS["left-to-right order"].make, "its second positions tell no order"
    assert 5 < shares.pop("with document blanks") < 27 and 5 < shares.pop("with sentence blanks") < 27
    assert set(shares.values()) == {0}
    spans = [one for one in blank_infilling.texts("BERT, whole spans", 0).examples(0) if isinstance(one, Example)]
    for example in spans:
        hidden = example.targets != IGNORE
        assert bool((example.tokens[hidden] == MASK).all()) and int((example.tokens == MASK).sum()) == int(hidden.sum())
        begins = [position for position in hidden.nonzero().flatten().tolist() if not hidden[position - 1]]
        assert len(begins) <= 4


def test_all_arms_read_as_many_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blank_infilling, "JUDGED", 2)
    blank_infilling.tokens.cache_clear()
    batches = blank_infilling.texts("BERT", blank_infilling.OTHERS)
    pad = VOCAB.need("pad")
    read = [int((batches(step).tokens != pad).sum()) for step in range(2)]  # type: ignore[union-attr]
    assert blank_infilling.tokens("BERT") == sum(read) / 2
    blank_infilling.tokens.cache_clear()
    monkeypatch.setattr(blank_infilling, "tokens", lambda name: 300.0 if name == PAPER else 200.0)
    assert blank_infilling.steps("BERT", 100) == 150 and blank_infilling.steps(PAPER, 100) == 100


@pytest.mark.usefixtures("toy_blanks")
def test_arms_are_trained_and_kept_with_a_rate_for_each_budget(parts: Parts) -> None:
    told = blank_infilling.prepared(parts, (PAPER, "BERT"))
    assert set(told) == {PAPER, "BERT"} and [told[PAPER][budget]["lr"] for budget in ("1", "2")] == [1e-2, 3e-3]
    one = told["BERT"]["2"]
    assert list(told["BERT"]) == ["2"] and one["updates"] == blank_infilling.steps("BERT", 2)
    assert dict(one["rates"])[1e-2] == pytest.approx(7e-3)
    kept = blank_infilling.trained(str(parts.folder), "BERT", 2, 1)
    assert isinstance(kept, BERTPretraining)
    assert one["loss"]["values"][1] == pytest.approx(blank_infilling.loss("BERT", kept))
