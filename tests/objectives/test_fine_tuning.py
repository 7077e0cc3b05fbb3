"""What a model reads of a task: figure 4 of BERT's paper, figure 1 of GPT's, and the next-sentence pair."""

import re
from importlib import import_module
from random import Random

import pytest
import torch

from plmlab.example import IGNORE, Batch, Example
from plmlab.objectives import (
    causal,
    cls_first,
    cls_last,
    gpt_classification,
    masked,
    next_sentence,
    sequence_classification,
    span_qa,
    token_classification,
)
from plmlab.objectives.fine_tuning import label_of
from plmlab.paths import ROOT
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(200)
PAD, UNK, CLS, SEP, MASK, START, END = range(7)
A, B = [101, 102, 103], [111, 112]


def nothing_asked(example: Example) -> bool:
    return bool((example.targets == IGNORE).all()) and bool(example.visible.dense().all())


def test_one_sentence_and_a_pair() -> None:
    """Fig. 4 (b) and (a)."""
    one, two = sequence_classification(A, 1, vocab=VOCAB), sequence_classification(A, 0, pair=B, vocab=VOCAB)
    assert one.tokens.tolist() == [CLS, *A, SEP] and one.segments.tolist() == [0] * 5
    assert two.tokens.tolist() == [CLS, *A, SEP, *B, SEP] and two.segments.tolist() == [0] * 5 + [1] * 3
    assert (one.labels["class"].item(), two.labels["class"].item()) == (1, 0)
    assert nothing_asked(one) and nothing_asked(two)
    batch = Batch.of([one, two], pad=PAD)
    assert batch.labels["class"].tolist() == [1, 0] and batch.position_ids[1, 0].tolist() == list(range(8))


def test_tags_stand_over_their_tokens() -> None:
    """Fig. 4 (d): the tag of a token at its own position, none over [CLS], [SEP], padding and later pieces of a
    word."""
    batch = Batch.of([token_classification(A, [5, IGNORE, 0], vocab=VOCAB),
                      token_classification(B[:1], [2], vocab=VOCAB)], pad=PAD)
    assert batch.labels["tags"].tolist() == [[IGNORE, 5, IGNORE, 0, IGNORE], [IGNORE, 2, IGNORE, IGNORE, IGNORE]]
    assert batch.tokens.tolist() == [[CLS, *A, SEP], [CLS, B[0], SEP, PAD, PAD]]
    with pytest.raises(ValueError, match="got 3 tokens and 2 tags"):
        token_classification(A, [1, 2], vocab=VOCAB)


@pytest.mark.parametrize(("start", "end"), [(0, 1), (1, 4), (3, 4), (0, 4)])
def test_the_answer_is_where_it_stands_in_the_whole(start: int, end: int) -> None:
    """Fig. 4 (c): the question is sentence A, the text sentence B; both labels are positions, the end the last
    token's."""
    text = [121, 122, 123, 124]
    example = span_qa(A, text, start, end, vocab=VOCAB)
    assert example.tokens.tolist() == [CLS, *A, SEP, *text, SEP]
    first, last = example.labels["start"].item(), example.labels["end"].item()
    assert example.tokens[first:last + 1].tolist() == text[start:end]
    assert example.segments[first:last + 1].all() and nothing_asked(example)


def test_a_text_that_does_not_answer() -> None:
    labels = span_qa(A, B, None, vocab=VOCAB).labels
    assert (labels["start"].item(), labels["end"].item()) == (IGNORE, IGNORE)


@pytest.mark.parametrize(("start", "end"), [(0, 3), (1, 1), (-1, 1), (2, 2), (0, None)])
def test_an_answer_outside_the_text(start: int, end: int | None) -> None:
    with pytest.raises(ValueError, match=r"the answer is text\[.*\], but the text has 2 tokens"):
        span_qa(A, B, start, end, vocab=VOCAB)


def test_xlnet_reads_cls_behind_all_as_a_segment_of_its_own() -> None:
    one = sequence_classification(A, 1, vocab=VOCAB, layout=cls_last)
    two = sequence_classification(A, 0, pair=B, vocab=VOCAB, layout=cls_last)
    assert one.tokens.tolist() == [*A, SEP, CLS] and one.segments.tolist() == [0] * 4 + [2]
    assert two.tokens.tolist() == [*A, SEP, *B, SEP, CLS] and two.segments.tolist() == [0] * 4 + [1] * 3 + [2]
    assert (one.labels["class"].item(), two.labels["class"].item()) == (1, 0)
    for example in (one, two):
        assert nothing_asked(example) and example.query_stream_mask is None
        assert example.position_ids[0].tolist() == list(range(len(example.tokens)))
    batch = Batch.of([token_classification(A, [5, IGNORE, 0], vocab=VOCAB, layout=cls_last),
                      token_classification(B[:1], [2], vocab=VOCAB, layout=cls_last)], pad=PAD)
    assert batch.labels["tags"].tolist() == [[5, IGNORE, 0, IGNORE, IGNORE], [2, *[IGNORE] * 4]]


@pytest.mark.parametrize("layout", [cls_first, cls_last])
@pytest.mark.parametrize("question", [[], A[:1], A])
def test_labels_stand_at_their_words_in_every_layout(question: list[int], layout) -> None:
    text = [121, 122, 123, 124]
    for start, end in ((0, 1), (1, 4), (0, 4)):
        example = span_qa(question, text, start, end, vocab=VOCAB, layout=layout)
        first, last = example.labels["start"].item(), example.labels["end"].item()
        assert example.tokens[first:last + 1].tolist() == text[start:end]
    example = token_classification(text, [0, IGNORE, 3, 1], vocab=VOCAB, layout=layout)
    asked_ = example.labels["tags"] != IGNORE
    assert example.tokens[asked_].tolist() == [121, 123, 124] and example.labels["tags"][asked_].tolist() == [0, 3, 1]


def test_gpt_reads_start_text_extract() -> None:
    """Fig. 1: Start, text, (delimiter, text,) extract; and it goes on predicting the next token."""
    one, two = gpt_classification(A, 1, vocab=VOCAB), gpt_classification(A, 0, pair=B, vocab=VOCAB)
    assert one.tokens.tolist() == [START, *A, END] and one.targets.tolist() == [*A, END, IGNORE]
    assert two.tokens.tolist() == [START, *A, SEP, *B, END] and two.targets.tolist() == [*A, SEP, *B, END, IGNORE]
    assert (one.labels["class"].item(), two.labels["class"].item()) == (1, 0)
    assert not two.segments.any() and two.visible.pattern == "causal"
    assert one.targets[:-1].tolist() == causal(A, vocab=VOCAB, rng=Random(0)).targets.tolist()


def test_next_sentence_is_masked_with_a_label() -> None:
    follows = next_sentence(A, B, True, vocab=VOCAB, rng=Random(4))
    stranger = next_sentence(A, B, False, vocab=VOCAB, rng=Random(4))
    plain = masked(A, pair=B, vocab=VOCAB, rng=Random(4))
    for part in ("tokens", "targets", "segments", "position_ids"):
        assert torch.equal(getattr(follows, part), getattr(plain, part))
        assert torch.equal(getattr(stranger, part), getattr(plain, part))
    assert (follows.labels["next_sentence"].item(), stranger.labels["next_sentence"].item()) == (0, 1)
    chosen = next_sentence(A, B, True, vocab=VOCAB, rng=Random(0), select=[1, 6],
                           corrupt=lambda token, *_: {A[0]: MASK, B[1]: 150}[token])
    assert chosen.tokens.tolist() == [CLS, MASK, *A[1:], SEP, B[0], 150, SEP]
    assert chosen.targets.tolist() == [IGNORE, A[0], *[IGNORE] * 4, B[1], IGNORE]
    many = next_sentence(A * 10, B * 10, True, vocab=VOCAB, rng=Random(0), rate=0.5)
    assert (many.targets != IGNORE).sum() == round(0.5 * 53)
    with pytest.raises(ValueError, match="B is empty"):
        next_sentence(A, [], True, vocab=VOCAB, rng=Random(0))


def test_a_label_that_is_not_there() -> None:
    batch = Batch.of([token_classification(A, [0, 1, 2], vocab=VOCAB)], pad=PAD)
    assert label_of(batch, "tags", "objectives.token_classification") is batch.labels["tags"]
    with pytest.raises(ValueError, match=r"no label 'class'; its labels: tags\. plmlab\.objectives\.span_qa makes "
                                         "Examples with the label 'class'$"):
        label_of(batch, "class", "objectives.span_qa")


def test_each_label_is_made_by_the_function_that_the_error_names() -> None:
    """The function exists, and its docstring names the label."""
    files = [text for path in (ROOT / "plmlab").rglob("*.py") if "label_of(" in (text := path.read_text("utf-8"))]
    makers = {maker for text in files for maker in re.findall(r'"((?:objectives|chapters|models)\.[\w.]+)"', text)}
    docs = {maker: getattr(import_module(f"plmlab.{maker}".rpartition(".")[0]), maker.rpartition(".")[2]).__doc__
            for maker in makers}
    asked = [pair for text in files for pair in re.findall(r'label_of\([\w.]+, "(\w+)",\s+"([\w.]+)"\)', text)]
    asked += [(name, "objectives.single_pass_qa.with_support") for name in ("start", "end", "supporting")]
    assert {maker for _, maker in asked} == makers and len(makers) == 11
    for name, maker in asked:
        assert f"``{name}``" in docs[maker], maker
