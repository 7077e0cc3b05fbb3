"""What the experiments of chapter 04 share: what is read, and how a translation is judged."""

from random import Random
from statistics import fmean

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch04 import translation
from plmlab.chapters.ch04.gold import gold, names
from plmlab.chapters.ch04.translation import (
    Variant,
    evaluate_translations,
    example,
    loss,
    new,
    pairs,
    split_sentences,
    tokenizer,
    training_batches,
)
from plmlab.chapters.ch04.translation import (
    test_set as evaluation_set,
)
from plmlab.interpret.alignments import cross_attention_weights
from plmlab.world.datasets.passages import Passage

pytestmark = pytest.mark.usefixtures("one_thread")


def words(ids: torch.Tensor) -> list[str]:
    return list(tokenizer().tokens(ids.tolist()))


def passage(english: str, chinese: str = "", partners: tuple[tuple[int, int], ...] = ()) -> Passage:
    told = tuple(english.split())
    return Passage((told,), told, tuple(chinese.split()), partners)


def test_what_an_arm_reads_and_writes() -> None:
    one = passage("the key is new .", "那 把 钥匙 很 新 。")
    made = example(one, Variant("fixed", order="backwards", delay=2))
    assert words(made.source.tokens) == [*[".", "new", "is", "key", "the"], "[SEP]", "[SEP]", "[END]"]
    assert words(made.target.tokens) == ["[START]", *one.chinese]
    assert words(example(one).source.tokens) == [*one.english, "[END]"]
    two = Passage((("a", "b"), ("c",)), ("a", "b", "c"), (), ())
    assert Variant("fixed", order="last sentence first").reads(two).english == ("c", "a", "b")


def test_only_the_end_is_in_sight() -> None:
    model, some = new(Variant("end only", 16), 0), [*evaluation_set(10, 0, 2), *evaluation_set(20, 0, 2)]
    for rows, one in zip(cross_attention_weights(model, pairs(some)), some, strict=True):
        assert torch.equal(rows[:len(one.chinese) + 1, len(one.english)], torch.ones(len(one.chinese) + 1))
    attentive = new(Variant("general", 16), 0)
    assert {name: weight.shape for name, weight in model.named_parameters()} == {
        name: weight.shape for name, weight in attentive.named_parameters()}


def test_a_lesson_has_passages_of_one_length_and_some_thousand_words() -> None:
    for step in range(6):
        lengths = [len(made.source.tokens) - 1 for made in training_batches(3).examples(step)]
        assert max(lengths) <= 60
        assert 600 <= sum(lengths) <= 1100
        assert max(lengths) - min(lengths) <= 13


def test_no_exam_is_a_lesson() -> None:
    """Held-out combinations stand in no lesson, neither does a sentence that only the test has."""
    taught = {sentence for step in range(30) for sentence in
              (one for told in [translation.passages(world.small(), "train", Random(step))] for _ in range(20)
               for one in next(told).sentences)}
    asked = {sentence for one in evaluation_set(30, 0, 30, "combinations") for sentence in one.sentences}
    assert asked and not asked & taught


def test_pieces() -> None:
    assert split_sentences([*"你好？好。再见"]) == [("你", "好", "？"), ("好", "。"), ("再", "见")]
    assert split_sentences([]) == []


def test_a_translation_is_judged_by_hand() -> None:
    some = [passage("a", "一 。 二 。"), passage("b", "三 四 五 六 。")]
    told = evaluate_translations([("一", "。", "三", "。"), ("三", "四", "五", "六", "。")], some)
    assert told["exact"] == 0.5
    assert told["sentences"] == pytest.approx((0.5 + 1) / 2)
    assert evaluate_translations([one.chinese for one in some], some) == {
        "exact": 1.0, "sentences": 1.0, "bleu": pytest.approx(100), "length": 1.0}
    assert told["length"] == 1.0 and evaluate_translations([("一", "。"), ()], some)["length"] == 2 / 9
    assert evaluate_translations([("一", "。", "二", "。", "二", "。"), ()],
                                 some)["sentences"] == pytest.approx((2 / 3 + 0) / 2)


def test_the_loss_is_that_of_each_word_alone() -> None:
    model, some = new(Variant("general", 16), 0).eval().requires_grad_(False), evaluation_set(20, 0, 7)
    lost = []
    for one in some:
        batch = pairs([one])
        logprobs = model(batch).log_softmax(-1)[0]
        lost += [-float(logprobs[position, target]) for position, target in enumerate(batch.targets[0].tolist())]
    assert loss(model, some) == pytest.approx(fmean(lost), rel=1e-5)


@pytest.mark.parametrize("arm", [Variant("fixed", 8), Variant("additive", 8, order="backwards"),
                                 Variant("transformer", 8)])
def test_translations_are_words_without_end(arm: Variant) -> None:
    some = evaluation_set(10, 0, 3)
    found = translation.translations(new(arm, 0).eval(), some, arm)
    assert len(found) == 3
    assert not any("[END]" in text for text in found)


def test_names_are_linked_where_it_is_sure() -> None:
    one = passage("Helen Quinn knows Henry Quinn .", "海伦 · 奎因 认识 亨利 · 奎因 。")
    assert names(one) == ((0, 0), (4, 3))
    two = Passage((("Helen", "Quinn"), ("Henry", "Quinn", "1958")), ("Helen", "Quinn", "Henry", "Quinn", "1958"),
                  ("海伦", "·", "奎因", "亨利", "·", "奎因", "1958", "年"), ((0, 0),))
    assert gold(two) == ((0, 0), (2, 1), (3, 2), (5, 3), (6, 4))


def test_the_last_sentence_first_keeps_its_links() -> None:
    one = Passage((("a", "b"), ("c", "d", "e")), ("a", "b", "c", "d", "e"), ("x", "y", "z"), ((0, 1), (1, 2), (2, 4)))
    turned = one.last_sentence_first()
    assert turned.english == ("c", "d", "e", "a", "b")
    assert [turned.english[other] for _, other in turned.partners] == ["b", "c", "e"]
    assert turned.last_sentence_first() == one
