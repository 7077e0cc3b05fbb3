"""The solutions of UniLM's exercises against independent ones; other right ways are not refused, slips are named."""

from itertools import combinations, product
from math import exp, log, sqrt
from random import Random

import pytest
import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from plmlab.chapters.ch12 import exercises as right
from plmlab.example import IGNORE, Batch
from plmlab.exercises import check
from plmlab.models.unilm import UniLMConfig, UniLMDecoder, UniLMPretraining, source_batch
from plmlab.objectives import always_mask, both_directions, left_to_right, masked_seq2seq_target, prefix, right_to_left
from plmlab.objectives.prefix import source_and_target
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask

VOCAB = Vocabulary(40)


# The solutions

def test_the_mask_is_that_of_the_papers_figure() -> None:
    """Dong et al. 2019, fig. 1: S1 sees all of S1; S2 sees S1 and its own left."""
    mask = right.source_to_target(3, 2)
    assert mask.int().tolist() == [[1, 1, 1, 0, 0]] * 3 + [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]


@pytest.mark.parametrize(("source", "target"), [(2, 1), (1, 5), (6, 3), (4, 4), (5, 0)])
def test_the_mask_is_the_objectives(source: int, target: int) -> None:
    assert torch.equal(right.source_to_target(source, target), source_and_target(source, target).dense())


def test_the_masks_of_a_batch_are_those_of_the_objectives() -> None:
    """Six texts of all kinds, padded; a row of padding sees nothing, which the objectives leave open."""
    how = {"vocab": VOCAB, "rng": Random(0)}
    examples = [
        both_directions(range(10, 14), pair=range(20, 22), **how),
        prefix(range(10, 12), pair=range(20, 25), **how),
        left_to_right(range(10, 17), **how), right_to_left(range(10, 13), **how),
        both_directions(range(10, 15), **how), right_to_left(range(10, 18), **how)]
    segments = pad_sequence([e.segments for e in examples], batch_first=True, padding_value=-1)
    theirs = Batch.of(examples, pad=0).visible.dense(*[segments.shape[1]] * 2)
    assert theirs is not None
    assert torch.equal(right.four_masks(segments), theirs[:, 0] & (segments >= 0)[:, :, None])


def test_the_masks_of_a_batch_hold_that_of_a_source_and_a_target() -> None:
    for source, target in right.draw_sides(torch.Generator()).values():
        segments = torch.tensor([[4] * source + [5] * target])
        assert torch.equal(right.four_masks(segments)[0], right.source_to_target(source, target))


@pytest.fixture(scope="module")
def model() -> UniLMPretraining:
    torch.manual_seed(3)
    made = UniLMPretraining(UniLMConfig(40, 24, layers=2, model=16, heads=2, inner=32, dropout=0.0,
                                        attention_dropout=0.0)).eval()
    for weights in made.parameters():
        torch.nn.init.normal_(weights, std=0.5)
    return made


TEXTS = [([10], [11]), ([10, 12, 14], [20, 21]), ([30, 31], [12, 12, 13, 9]), ([15, 16], [])]


@torch.no_grad()
@pytest.mark.parametrize(("source", "target"), TEXTS)
def test_the_log_probability_is_that_of_a_real_unilm(model, source: list[int], target: list[int]) -> None:
    """Three ways: the exercise's; the objective with the whole target in place and one position hidden at a time, which
    nobody before it sees; and the writer, which keeps what it has read."""
    def logits(tokens: list[int], segments: list[int]) -> torch.Tensor:
        time = len(tokens)
        target = segments.count(5)
        visible = AttentionMask(pairs=source_and_target(time - target, target).dense()[None])
        return model(Batch(torch.tensor([tokens]), torch.arange(time)[None, None], torch.tensor([segments]), visible,
                           torch.full((1, time), IGNORE)))[0]

    mine = right.log_probability(logits, source, target)
    hidden = [prefix(source, pair=target or [7], vocab=VOCAB, rng=Random(0), select=[position],
                     corrupt=always_mask)
              for position in range(len(source) + 2, len(source) + 3 + len(target))]
    if target:
        assert -sum(float(model.loss(Batch.of([e], pad=0))) for e in hidden) == pytest.approx(mine, abs=1e-3)
    writer = UniLMDecoder(model, source_batch([source], VOCAB), VOCAB)
    state, written = writer.start(), 0.0
    for token, said in zip([VOCAB.need("start"), *target], [*target, VOCAB.need("end")], strict=True):
        written += float(writer.step(torch.tensor([[token]]), state)[0].log_softmax(0)[said])
    assert written == pytest.approx(mine, abs=1e-3)


def test_all_targets_together_have_a_probability_of_one() -> None:
    """Those of up to two words, and those that begin with two words and go on."""
    model, source = right.LittleUniLM(6, 9), [1, 2]
    said = {words: exp(right.log_probability(model, source, list(words)))
            for size in range(3) for words in product((0, 1, 2, 4, 5), repeat=size)}
    on = sum(said[words] * (1 / end_of(model, source, words) - 1) for words in said if len(words) == 2)
    assert sum(said.values()) + on == pytest.approx(1, abs=1e-4)


def end_of(model, source, words) -> float:
    """The chance of the [SEP] behind some words."""
    segments = [4] * (len(source) + 2) + [5] * (len(words) + 1)
    return float(model([2, *source, 3, *words, 4], segments)[-1].softmax(0)[3])


def test_what_the_model_cannot_read_as_one_text_is_told() -> None:
    with pytest.raises(ValueError, match=r"one text: .* \[3\] and \[2\]"):
        right.LittleUniLM(8, 1)([2, 3, 4], [4, 4])


@pytest.mark.parametrize(("positions", "rate", "epochs"), [(4, 0.5, 2), (5, 0.25, 3), (3, 0.1, 4), (6, 0.7, 2)])
def test_what_is_never_asked_is_counted_over_all_draws(positions: int, rate: float, epochs: int) -> None:
    draws = [set(draw) for draw in combinations(range(positions), max(1, round(rate * positions)))]
    left = [positions - len(set().union(*reading)) for reading in product(draws, repeat=epochs)]
    share, never = right.masked_and_never_masked(positions, rate, epochs)
    assert share == pytest.approx(len(draws[0]) / positions) and never == pytest.approx(sum(left) / len(left))


@pytest.mark.parametrize(("words", "rate", "epochs"), [(7, 0.7, 2), (4, 0.15, 3), (10, 0.33, 4)])
def test_what_is_never_asked_is_what_the_objective_leaves(words: int, rate: float, epochs: int) -> None:
    rng, left = Random(5), []
    for _ in range(200):
        asked = torch.stack([masked_seq2seq_target([8, 9], range(10, 10 + words), vocab=VOCAB, rng=rng,
                                                   rate=rate).targets for _ in range(epochs)])[:, 4:] != IGNORE
        left.append(float((~asked.any(0)).sum()))
    share, never = right.masked_and_never_masked(words + 1, rate, epochs)
    assert float(asked[0].float().mean()) == pytest.approx(share)
    mean = sum(left) / len(left)
    error = sqrt(sum((x - mean) ** 2 for x in left) / len(left) / (len(left) - 1))
    assert abs(mean - never) < 4 * error


# Other right ways, and slips, as people write them

def opened(cut=lambda mask: mask.tril(), rows=lambda source: slice(None), columns=lambda source: slice(source)):
    """A triangle, and a block of it that is opened."""
    def answer(source, target):
        mask = cut(torch.ones(source + target, source + target, dtype=torch.bool))
        mask[rows(source), columns(source)] = True
        return mask
    return answer


def blocks(source, target):
    top = torch.cat([torch.ones(source, source), torch.zeros(source, target)], dim=1)
    bottom = torch.cat([torch.ones(target, source), torch.tril(torch.ones(target, target))], dim=1)
    return torch.cat([top, bottom]).bool()


def by_sums(source, target):
    """Of each position, how many target positions there are up to it: a key is seen where there are no more."""
    sums = torch.tensor([0] * source + [1] * target).cumsum(0)
    return sums[None, :] <= sums[:, None]


def from_column_0(source, target):
    mask = torch.zeros(source + target, source + target, dtype=torch.bool)
    mask[:source, :source] = True
    mask[source:] = torch.ones(target, source + target, dtype=torch.bool).tril()
    return mask


def by_text(reverse=torch.triu, real=lambda text: (text != -1) & (text != -1)[:, None], pick=lambda text: text.max()):
    """Text by text, by the kind of its positions."""
    def answer(segments):
        masks = []
        for text in segments:
            ones, kind = torch.ones(len(text), len(text), dtype=torch.bool), int(pick(text))
            mask = (ones.tril() if kind == 2 else reverse(ones) if kind == 3
                    else ones.tril() | (text == 4) if kind in (4, 5) else ones)
            masks.append(mask & real(text))
        return torch.stack(masks)
    return answer


def in_loops(segments):
    texts, time = segments.shape
    out = torch.zeros(texts, time, time, dtype=torch.bool)
    for b, q, k in product(range(texts), range(time), range(time)):
        asks, asked = segments[b, q].item(), segments[b, k].item()
        if asks != -1 and asked != -1:
            out[b, q, k] = (asked in (0, 1, 4) or (asked == 3 and k >= q)
                            or (asked == 2 and k <= q) or (asked == 5 and asks == 5 and k <= q))
    return out


def by_where(segments):
    q, k = segments.unsqueeze(2), segments.unsqueeze(1)
    i = torch.arange(segments.size(1))
    left = (i.unsqueeze(1) >= i).expand(len(segments), -1, -1)
    seen = torch.where((k == 2) | (k == 5), left, torch.where(k == 3, left.mT, torch.tensor(True)))
    return seen.logical_and(q.ne(-1)).logical_and(k.ne(-1))


def said_in_place(logits, source, target):
    """The whole target stands there; what comes behind the [MASK] is not seen."""
    text, first = [2, *source, 3, *target, 3], len(source) + 2
    segments = [4] * first + [5] * (len(text) - first)
    return sum(logits([*text[:t], 4, *text[t + 1:]], segments)[t].log_softmax(-1)[text[t]] for t in
               range(first, len(text)))


def by_cross_entropy(before=lambda row: row):
    def answer(logits, source, target):
        tokens, loss = [2, *source, 3], 0.0
        for word in [*target, 3]:
            asked = [*tokens, 4]
            segments = torch.tensor([4] * (len(source) + 2) + [5] * (len(asked) - len(source) - 2))
            loss += F.cross_entropy(before(logits(torch.tensor(asked), segments)[-1:]), torch.tensor([word])).item()
            tokens = [*tokens, word]
        return -loss
    return answer


def said_by_hand(logits, source, target):
    found = []
    for t in range(len(target) + 1):
        tokens = [2, *source, 3, *target[:t], 4, 3]
        row = logits(tokens, [4 if i < len(source) + 2 else 5 for i in range(len(tokens))])[len(source) + 2 + t]
        row = row - row.max()
        found.append(row[target[t] if t < len(target) else 3] - torch.log(torch.exp(row).sum()))
    return torch.stack(found).sum()


def at_once(logits, source, target):
    tokens = [2, *source, 3, *[4] * (len(target) + 1)]
    table = logits(tokens, [4] * (len(source) + 2) + [5] * (len(target) + 1)).log_softmax(-1)
    return table[len(source) + 2:].gather(1, torch.tensor([*target, 3])[:, None]).sum()


def as_gpt(logits, source, target):
    tokens = [2, *source, 3, *target, 3]
    table = logits(tokens, [4] * (len(source) + 2) + [5] * (len(target) + 1)).log_softmax(-1)
    return table[len(source) + 1:-1].gather(1, torch.tensor([*target, 3])[:, None]).sum()


def never_by_log(positions, rate, epochs):
    asked = round(rate * positions) or 1
    if asked == positions:
        return 1.0, 0.0 if epochs else float(positions)
    return asked / positions, exp(log(positions) + epochs * log(1 - asked / positions))


def never_by_loop(positions, rate, epochs):
    asked = max(int(rate * positions + 0.5), 1)
    left = positions
    for _ in range(epochs):
        left = left - left * asked / positions
    return [asked / positions, left]


def never_by_tensors(positions, rate, epochs):
    asked = torch.tensor(rate * positions).round().clamp(min=1)
    return asked / positions, ((positions - asked) / positions).expand(positions).pow(epochs).sum()


def amounts(count=lambda positions, rate: max(1, round(rate * positions)), left=lambda n, p, k: n * (1 - p) ** k):
    def answer(positions, rate, epochs):
        asked = count(positions, rate)
        return asked / positions, left(positions, asked / positions, epochs)
    return answer


def in_turn(positions, rate, epochs):
    asked = max(1, round(rate * positions))
    left = positions
    for _ in range(epochs):
        left = max(0, left - asked)
    return asked / positions, left


@pytest.mark.parametrize(("number", "answer"), [("12.1", opened()), ("12.1", blocks), ("12.1", by_sums),
    ("12.2", by_text()), ("12.2", in_loops), ("12.2", by_where),
    ("12.3", said_in_place), ("12.3", by_cross_entropy()), ("12.3", said_by_hand),
    ("12.4", never_by_log), ("12.4", never_by_loop), ("12.4", never_by_tensors),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("12.1", opened(cut=lambda mask: mask.tril(-1)), "arget position does not attend to itself"),
    ("12.1", opened(rows=slice, columns=lambda source: slice(None)), "source attends to the target, which does not"),
    ("12.1", from_column_0, "starts at column 0, the source's first"),
    ("12.2", by_text(pick=lambda text: text[0]), "first position, which may be padding"),
    ("12.2", by_text(reverse=torch.tril), "egment 3 is left-to-right as well"),
    ("12.2", by_text(real=lambda text: text != -1), "adding attends to the text"),
    ("12.3", at_once, "ll the [MASK]s are in one text"), ("12.3", as_gpt, "as in GPT"),
    ("12.3", by_cross_entropy(lambda row: row.softmax(-1)), "softmax is applied twice"),
    ("12.4", amounts(count=lambda positions, rate: max(1, rate * positions // 1)), "number is truncated, not rounded"),
    ("12.4", amounts(left=lambda n, p, k: (1 - p) ** k), "the probability for one position"),
    ("12.4", in_turn, "assumed to mask new positions"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and feedback.mistake and words in repr(feedback), feedback


def cell(mask, place, value=True):
    mask = mask.clone()
    mask[place] = value
    return mask


def sides_other_than(change):
    return lambda source, target: change(right.source_to_target(source, target), source, target)


def segments_in_place(segments):
    masks = right.four_masks(segments)
    segments[segments < 0] = 0
    return masks


def kinds_other_than(change):
    return lambda segments: change(right.four_masks(segments), segments)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("12.1", sides_other_than(lambda mask, *_: cell(mask, (0, 0), False)), "position cannot attend to itself"),
    ("12.1", sides_other_than(lambda mask, *_: cell(mask, (0, 1), False)), "cannot attend to the whole source"),
    ("12.1", sides_other_than(lambda mask, *_: cell(mask, (0, -1))), "can attend to the target"),
    ("12.1", sides_other_than(lambda mask, *_: cell(mask, (-1, 0), False)),
     "arget position cannot attend to the whole sou"),
    ("12.1", sides_other_than(lambda mask, source, target: cell(mask, (source, -1)) if target else mask),
     "can attend to a later one"), ("12.2", segments_in_place, "`segments` is changed in place"),
    ("12.2", kinds_other_than(lambda masks, segments: cell(masks, segments < 0)), "visible, or attends to"),
    ("12.2", kinds_other_than(lambda masks, segments: cell(masks, (0, 0, 0), False)), "padding cannot attend to"),
    ("12.2", kinds_other_than(lambda masks, segments: cell(masks, (0, 0, 3)) if segments[0, 0] == 2 else masks),
     "At [0, 0, 3]: yours is True, expected False"),
    ("12.2", kinds_other_than(lambda masks, segments: cell(masks, (-1, 0, -1), bool(segments[-1, -1] in (5, 0)))),
     "source attends to its target"), ("12.3", lambda *args: right.log_probability(*args) + 0.1, "ours is"),
    ("12.4", lambda *args: right.masked_and_never_masked(*args)[1], "2 values were expected"),
    ("12.4", lambda *args: (0.5, right.masked_and_never_masked(*args)[1]), "art 1 of the output, yours is 0.5"),
])
def test_what_is_wrong_is_said(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback
