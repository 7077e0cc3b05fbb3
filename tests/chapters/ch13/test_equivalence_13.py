"""The checks of chapter 13 accept plmlab's code and refuse wrong code: the mistakes of the exercises, and others."""

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from random import Random
from typing import Any

import numpy as np
import pytest
import transformers.models.t5.modeling_t5  # noqa: F401 - takes seconds, so before the first test
from torch import Tensor

from plmlab.chapters.ch13 import equivalence, exercises
from plmlab.exercises.edits import Edit
from plmlab.layers.attention import MultiHeadAttention, UnscaledAttention
from plmlab.models.t5 import T5, T5Decoder, T5Encoder, T5v11
from plmlab.models.transformer import Transformer
from plmlab.objectives.denoising import text_infilling
from plmlab.objectives.gap_sentences import SELECTIONS
from plmlab.text.vocabulary import Vocabulary

pytestmark = pytest.mark.usefixtures("one_thread")
EXERCISES = {exercise.number: exercise for exercise in exercises.EXERCISES}
example, bucket = exercises.span_corruption, exercises.relative_bucket


def failed(checks: dict[str, bool]) -> list[int]:
    """The places of the checks that fail."""
    return [place for place, holds in enumerate(checks.values()) if not holds]


def mistakes(number: str) -> list[Any]:
    """The wrong solutions of an exercise."""
    solution, wrong = EXERCISES[number].solution, EXERCISES[number].mistakes
    return [pytest.param(mistake.of(solution) if isinstance(mistake, Edit) else mistake, id=name[:40])
            for name, mistake in wrong.items()]


Decoder = Callable[[list[Any], int, int], tuple[Any, Any, range]]


def decoder_input(of: Decoder = lambda x, u, v: (x[u - 1:v], x[u:v + 1], range(u - 1, v))) -> Callable[..., Any]:
    """MASS's decoder input: its inputs, targets and position ids, as a function ``of`` the text, in which x_0 is the
    start token."""
    return lambda tokens, u, v, start="[START]": tuple(map(list, of([start, *tokens], u, v)))


def in_two(own: Callable[..., Tensor]) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """The function of the exercise as the notebook's two, for decoder and encoder."""
    return (lambda back, buckets: own(back, buckets, 128, False)), (lambda back, buckets: own(back, buckets, 128, True))


@pytest.mark.parametrize("wrong", [
    *mistakes("13.1"),
    lambda tokens, spans, marks: example(tokens, spans, [*marks[:len(spans) + 1][::-1], *marks]),  # in reverse
    lambda *given: example(*given)[::-1],  # source and target exchanged
    lambda tokens, spans, marks: example(tokens, spans, marks) if spans else (list(tokens), []),  # no closing sentinel
])
def test_wrong_sources_and_targets_are_refused(wrong: Callable[..., Any]) -> None:
    assert 0 in failed(equivalence.spans_dropped(wrong))


@pytest.mark.parametrize("wrong", [
    lambda x, u, v: (x[u:v + 1], x[u:v + 1], range(u - 1, v)),        # a leak
    lambda x, u, v: (x[u - 1:v], x[u:v + 1], range(v - u + 1)),       # positions from 0
    lambda x, u, v: (x[u - 1:v], x[u:v + 1], range(u, v + 1)),        # positions of the predicted tokens
    lambda x, u, v: (x[u - 1:v - 1], x[u:v], range(u - 1, v - 1)),    # without the last token
    lambda x, u, v: ([x[0], *x[u:v]], x[u:v + 1], range(u - 1, v)),   # every span begins with the start token
])
def test_wrong_decoder_inputs_are_refused(wrong: Decoder) -> None:
    assert 0 in failed(equivalence.mass_decoder_inputs(decoder_input(wrong)))


@pytest.mark.parametrize("wrong", [
    *mistakes("13.2"),
    lambda back, buckets, most, both: bucket(back, buckets, 2 * most, both),
    lambda back, buckets, most, both: bucket(-back, buckets, most, both),
    lambda back, buckets, most, both: bucket(back, buckets, most, not both),
    lambda back, buckets, most, both: bucket(back, buckets, most, both) + both * buckets // 2 * (back == 0),  # > for >=
    lambda back, buckets, most, both: bucket(back, buckets, most, both).clamp(max=buckets - 2),
])
def test_wrong_buckets_are_refused(wrong: Callable[..., Tensor]) -> None:
    assert failed(equivalence.buckets(*in_two(wrong)))


@pytest.mark.parametrize(("owner", "name", "wrong", "expected"), [
    (T5, "token_logits", Transformer.token_logits, [0]),  # not scaled by d^−½
    (T5v11, "token_logits", T5.token_logits, [1]),        # tied and scaled
    (UnscaledAttention, "scale", None, [0, 1]),
    (T5Encoder, "bias", lambda *given: None, [0, 1]),
    (T5Decoder, "bias", lambda *given: None, [0, 1]),
])
def test_another_t5_is_refused(owner: type, name: str, wrong: Any, expected: list[int],
                               monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner, name, getattr(MultiHeadAttention, name) if wrong is None else wrong)
    assert failed(equivalence.t5_parity()) == expected


def infilling(tokens: Sequence[int], vocab: Vocabulary, rng: Random, *, shortest: int = 0, mean: float = 3,
              cut: bool = True, budget: Callable[[float], int] = ceil, merged: bool = False,
              shuffled: bool = True, lost: bool = False) -> list[int]:
    """Text infilling by numpy's Poisson and permutation, or with a mistake."""
    numbers, lengths = np.random.default_rng(int(rng.random() * 2 ** 31)), list[int]()
    wanted = max(1, budget(0.3 * len(tokens)))
    while sum(lengths) < wanted:
        length = max(shortest, int(numbers.poisson(mean)))
        lengths.append(min(length, (wanted if cut else len(tokens)) - sum(lengths)))
    units = [*lengths, *[-1] * (len(tokens) - sum(lengths))]
    source, rest = list[int](), list(tokens)
    for place in numbers.permutation(len(units)) if shuffled else range(len(units)):
        if units[place] < 0:
            source.append(rest.pop(0))
        else:
            del rest[:units[place]]
            source += [] if merged and source and source[-1] == vocab.mask else [vocab.need("mask")]
    return [token for token in source if token != vocab.mask] if lost else source


WRONG_NOISES: dict[str, dict[str, Any]] = {
    "GLM's lengths": {"shortest": 1}, "adjacent spans merged": {"merged": True}, "budget not cut": {"cut": False},
    "rounded": {"budget": round}, "half of the tokens": {"budget": lambda tokens: ceil(tokens / 2)},
    "mean 4": {"mean": 4}, "mean 2.5": {"mean": 2.5}, "not shuffled": {"shuffled": False}, "no [MASK]": {"lost": True},
}


@pytest.mark.parametrize("name", WRONG_NOISES)
def test_wrong_infilling_is_refused(name: str) -> None:
    assert failed(equivalence.infilling(partial(infilling, **WRONG_NOISES[name])))


def gap_scores(sentences: list[list[Any]], *, distinct: bool = False, itself: bool = False,
               by: Callable[[int, int, int], float] = lambda hits, inside, outside: 2 * hits / (inside + outside),
               ) -> list[float]:
    """ROUGE-1 F1 of each sentence with the others, by crossing words out, or with a mistake."""
    scores = []
    for place, sentence in enumerate(sentences):
        rest = [word for i, other in enumerate(sentences) if itself or i != place for word in other]
        if distinct:
            sentence, rest = sorted(set(sentence)), sorted(set(rest))
        left = list(rest)
        hits = sum(word in left and not left.remove(word) for word in sentence)  # type: ignore[func-returns-value]
        scores.append(by(hits, len(sentence), len(rest)))
    return scores


@pytest.mark.parametrize("wrong", [
    {"distinct": True}, {"itself": True}, {"by": lambda hits, inside, outside: hits / inside},
    {"by": lambda hits, inside, outside: hits / max(1, outside)}, {"by": lambda hits, *_: float(hits)},
])
def test_wrong_gap_scores_are_refused(wrong: dict[str, Any]) -> None:
    assert 0 in failed(equivalence.gap_sentence_scores(partial(gap_scores, **wrong)))


def test_another_selection_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for other in ("Ind-Uniq", "Random", "Lead"):
        with monkeypatch.context() as patched:
            patched.setattr(equivalence, "gap_sentences",
                            partial(equivalence.gap_sentences, selection=SELECTIONS[other]))
            assert failed(equivalence.gap_sentence_scores(gap_scores)) == [1]


def test_right_code_is_accepted() -> None:
    for checks, count in ((equivalence.spans_dropped(example), 3), (equivalence.buckets(*in_two(bucket)), 2),
                          (equivalence.mass_decoder_inputs(decoder_input()), 2),
                          (equivalence.t5_parity(), 2), (equivalence.gap_sentence_scores(gap_scores), 2),
                          (equivalence.infilling(text_infilling), 4), (equivalence.infilling(infilling), 4)):
        assert len(checks) == count and not failed(checks)
