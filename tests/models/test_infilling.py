"""Filling blanks: with a cache as if all were read anew for each word, and as likely as the loss says."""

from collections.abc import Sequence
from functools import partial
from random import Random

import pytest
import torch
from torch import Tensor, nn

from plmlab.decode import UncachedLM, beam_search, greedy
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.glm import GLMConfig, GLMPretraining
from plmlab.models.infilling import BlankInfiller
from plmlab.objectives.blanks import blank_infilling, part_a_and_b
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit

VOCAB = Vocabulary(60)
PAD, UNK, CLS, SEP, MASK, START, END = range(7)
SIZE = GLMConfig(60, time=16, layers=3, model=12, heads=3, inner=20, dropout=0.0, attention_dropout=0.0)
TEXTS = [[40, MASK, 42, 43, MASK, 45], [MASK], [MASK, 46, 47, 48, 49], [50, 51, MASK, MASK], [52, MASK]]
"""Two blanks in the middle; the whole text; at the beginning; two that touch, at the end; at the end."""
ORDERS = [[1, 0], [0], [0], [0, 1], [0]]
FILLINGS = [[[53, 54], [55]], [[56, 57, 40]], [[58]], [[41], [42, 43]], [[44, 45, 46, 47]]]
"""In the order of the text."""


def made() -> GLMPretraining:
    """In float64, every weight large enough to matter; what is said differs from position to position, and [END] is
    likely."""
    torch.manual_seed(5)
    model = GLMPretraining(SIZE).double().eval()
    for place, weight in model.named_parameters():
        spread = 1.0 if "embeddings" in place else 0.1 if place.endswith("bias") else 0.4
        nn.init.normal_(weight, mean=float(place.endswith("norm.weight")), std=spread)
    with torch.no_grad():
        end = model.encoder.embeddings.token.weight[END]
        end *= 3
        model.encoder.final_norm.bias += 0.05 * end
    return model


def same(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def whole_text(text: Sequence[int], fillings: Sequence[Sequence[int]], order: Sequence[int]) -> Example:
    """The objective's Example of the text without blanks, of which just these spans are hidden."""
    whole, spans, left = [], [], list(fillings)
    for token in text:
        if token == MASK:
            words = left.pop(0)
            spans.append((len(whole), len(whole) + len(words)))
            whole += words
        else:
            whole.append(token)
    return blank_infilling(whole, vocab=VOCAB, rng=Random(0), spans=spans, order=order)


def read_anew(model: GLMPretraining, text: Sequence[int], order: Sequence[int], said: list[list[int]]) -> Tensor:
    """Log-probabilities of what comes next; ``said`` are the fillings in the order in which they are filled, the last
    of them still open. All else is hidden, and one word long."""
    fillings = [[59] for _ in order]
    for turn, blank in enumerate(order[:len(said)]):
        fillings[blank] = [*said[turn], 59] if turn == len(said) - 1 else said[turn]
    position = len(text) + sum(len(words) + 1 for words in said) - 1
    return model(Batch.of([whole_text(text, fillings, order)], pad=PAD))[0, position].log_softmax(-1)


def as_decoding_names(logprobs: Tensor, more: bool) -> Tensor:
    """Where blanks are left [END] is said as [START], else [START] by nobody; what [START] had stands behind."""
    named = [*logprobs.tolist(), float(logprobs[START])]
    named[START], named[END] = (float(logprobs[END]), float("-inf")) if more else (float("-inf"), float(logprobs[END]))
    return torch.tensor(named, dtype=torch.float64)


def part_b(fillings: Sequence[Sequence[int]], order: Sequence[int]) -> list[int]:
    """What is read of Part B."""
    return [token for blank in order for token in (START, *fillings[blank])]


def blanks_said(read: Sequence[int]) -> list[list[int]]:
    """The fillings in what is read of Part B."""
    found: list[list[int]] = []
    for token in read:
        if token == START:
            found.append([])
        else:
            found[-1].append(token)
    return found


def expected(model: GLMPretraining, row: int, read: Sequence[int], order: Sequence[int]) -> Tensor:
    said = blanks_said(read)
    return as_decoding_names(read_anew(model, TEXTS[row], order, said), len(said) < len(order))


@torch.no_grad()
@pytest.mark.parametrize("first", [[1, 0], [0, 1]])
def test_each_word_is_as_likely_as_if_all_were_read_anew(first: list[int]) -> None:
    """All texts side by side, each as if it were alone; the first in both orders of its blanks."""
    model, orders = made(), [first, *ORDERS[1:]]
    filler = BlankInfiller(model, TEXTS, VOCAB, orders)
    reads = [part_b(*pair) for pair in zip(FILLINGS, orders, strict=True)]
    state, compared = filler.start(), 0
    for step in range(max(map(len, reads))):
        said = filler.step(torch.tensor([[(*read, *[PAD] * 9)[step]] for read in reads]), state).log_softmax(-1)
        for row, read in enumerate(reads):
            if step < len(read):
                same(said[row], expected(model, row, read[:step + 1], orders[row]))
                compared += 1
    assert compared == sum(len(words) + 1 for text in FILLINGS for words in text)
    assert [cache.time for cache in state.caches] == [6 + max(map(len, reads))] * 3, "nothing is read twice"


@torch.no_grad()
@pytest.mark.parametrize("cuts", [[5], [1, 4], [3, 2], [2, 1, 2], [1, 1, 1, 1, 1]])
def test_what_was_said_may_be_read_at_once(cuts: list[int]) -> None:
    """[START] of the second blank stands within a part, at its beginning, or at its end."""
    model, read = made(), [[START, 41, 44, START, 42], [START, 41, START, 42, 43]]
    filler = BlankInfiller(model, [TEXTS[0], TEXTS[3]], VOCAB, [ORDERS[0], ORDERS[3]])
    state = filler.start()
    for part in torch.tensor(read).split(cuts, 1):
        said = filler.step(part, state)
    for row, text in enumerate((0, 3)):
        same(said[row].log_softmax(-1), expected(model, text, read[row], ORDERS[text]))


@torch.no_grad()
def test_rows_can_be_chosen() -> None:
    """Of texts in different blanks, one of them twice."""
    model, begun = made(), [[START, 53], [START, 56], [START, 58], [START, START], [START, 44]]
    filler = BlankInfiller(model, TEXTS, VOCAB, ORDERS)
    state = filler.start()
    filler.step(torch.tensor(begun), state)
    chosen, read = [3, 0, 3], [41, START, 57]
    state.select(torch.tensor(chosen))
    said = filler.step(torch.tensor(read)[:, None], state).log_softmax(-1)
    same(said[1], expected(model, 0, [START, 53, START], ORDERS[0]))
    for row in (0, 2):
        by_hand = empty_then(model, [50, 51, MASK, MASK], read[row])
        same(said[row], as_decoding_names(by_hand, False))


def empty_then(model: GLMPretraining, text: list[int], word: int) -> Tensor:
    """What comes next where the first of two blanks at the end was filled with nothing, the second with a word."""
    read = len(text)
    example = Example(
        tokens=torch.tensor([*text, START, START, word]),
        position_ids=torch.tensor([[*range(1, read + 1), read - 1, read, read], [*[0] * read, 1, 1, 2]]),
        segments=torch.zeros(read + 3, dtype=torch.long), visible=part_a_and_b(read, [1, 2]),
        targets=torch.tensor([*[IGNORE] * read, END, word, IGNORE]))
    return model(Batch.of([example], pad=PAD))[0, -1].log_softmax(-1)


@pytest.mark.parametrize("search", [greedy, partial(beam_search, beam=3)], ids=["greedy", "beam"])
def test_what_is_filled_in_is_filled_in_without_a_cache_too(search) -> None:
    """All texts at once, and each alone from Examples; and as likely as one pass over all that was filled in says."""
    model = made()
    filler = BlankInfiller(model, TEXTS, VOCAB, ORDERS)
    found = search(filler, filler.prompt, VOCAB, length=9, banned=filler.banned)
    flat, ended = [], 0
    for row, together in enumerate(found):
        def logits(texts: Tensor, row: int = row) -> Tensor:
            return torch.stack([anew(model, row, read) for read in texts.tolist()])
        [alone] = search(UncachedLM(logits), torch.tensor([[START]]), VOCAB, length=9, banned=filler.banned)
        pairs = [(together, alone)] if search is greedy else list(zip(together, alone, strict=True))
        for one, other in pairs:
            assert one.tokens == other.tokens and one.logprob == pytest.approx(other.logprob, abs=1e-9)
            assert not {PAD, UNK, CLS, SEP, MASK} & set(one.tokens)
            said = filler.fillings(row, one.tokens)
            assert list(said) == ORDERS[row][:one.tokens.count(START) + 1]
            if one.tokens[-1] == END:
                ended += 1
                assert len(said) == len(ORDERS[row]), "[END] is written behind the last blank alone"
                likely = BlankInfiller(model, [TEXTS[row]], VOCAB,
                                       [ORDERS[row]]).logprobs([[said[i] for i in sorted(said)]])
                assert one.logprob == pytest.approx(likely.item(), abs=1e-9)
            flat.append(one)
    assert ended >= 2 and any(START in one.tokens for one in flat)


@torch.no_grad()
def anew(model: GLMPretraining, row: int, read: Sequence[int]) -> Tensor:
    """As `expected`; a blank that was filled with nothing before another is no span, and is asked by hand."""
    said = blanks_said(read)
    if [] not in said[:-1]:
        return expected(model, row, read, ORDERS[row])
    text, blanks = TEXTS[row], [place for place, token in enumerate(TEXTS[row], 1) if token == MASK]
    places = [blanks[blank] for blank, words in zip(ORDERS[row], said, strict=False) for _ in (START, *words)]
    inside = [place for words in said for place in range(1, len(words) + 2)]
    count = len(text) + len(read)
    example = Example(torch.tensor([*text, *read]),
                      torch.tensor([[*range(1, len(text) + 1), *places], [*[0] * len(text), *inside]]),
                      torch.zeros(count, dtype=torch.long),
                      part_a_and_b(len(text), [len(words) + 1 for words in said]), torch.full((count,), IGNORE))
    return as_decoding_names(model(Batch.of([example], pad=PAD))[0, -1].log_softmax(-1), len(said) < len(blanks))


@torch.no_grad()
@pytest.mark.parametrize("first", [[1, 0], [0, 1]])
def test_fillings_are_as_likely_as_the_loss_says(first: list[int]) -> None:
    """All texts at once; each by its loss alone, a mean over its words and [END]s; and word by word."""
    model, orders = made(), [first, *ORDERS[1:]]
    filler = BlankInfiller(model, TEXTS, VOCAB, orders)
    together = filler.logprobs(FILLINGS)
    for row, (text, fillings, order) in enumerate(zip(TEXTS, FILLINGS, orders, strict=True)):
        one = whole_text(text, fillings, order)
        same(together[row], -model.loss(Batch.of([one], pad=PAD)) * (one.targets != IGNORE).sum())
        alone, read = BlankInfiller(model, [text], VOCAB, [order]), part_b(fillings, order)
        state, words = alone.start(), [*read[1:], END]
        steps = [alone.step(torch.tensor([[token]]), state).log_softmax(-1)[0, word]
                 for token, word in zip(read, words, strict=True)]
        same(together[row], torch.stack(steps).sum())


@torch.no_grad()
def test_a_blank_may_be_filled_with_nothing() -> None:
    model = made()
    filler = BlankInfiller(model, [[50, 51, MASK, MASK]], VOCAB)
    state, ends = filler.start(), []
    for token, word in ((START, START), (START, 40), (40, END)):
        ends.append(filler.step(torch.tensor([[token]]), state).log_softmax(-1)[0, word])
    same(filler.logprobs([[[], [40]]])[0], torch.stack(ends).sum())
    same(ends[2], empty_then(model, [50, 51, MASK, MASK], 40)[END])
    assert filler.filled(0, [START, 40, END]) == [50, 51, 40]


def test_what_was_written_stands_in_its_blanks() -> None:
    """By hand; where the length was reached a blank stays open, and one that was not begun stays [MASK]."""
    filler = BlankInfiller(made(), TEXTS, VOCAB, ORDERS)
    written = (55, START, 53, 54, END)
    assert filler.fillings(0, written) == {1: [55], 0: [53, 54]}
    assert filler.filled(0, written) == [40, 53, 54, 42, 43, 55, 45]
    assert filler.filled(0, (55, 56)) == [40, MASK, 42, 43, 55, 56, 45]
    assert filler.filled(1, (44, END)) == [44] and filler.filled(2, (END,)) == [46, 47, 48, 49]
    assert filler.banned == {PAD, UNK, CLS, SEP, MASK, *VOCAB.sentinels}


def test_how_far_it_fills() -> None:
    """To the length that is asked, and to the last of the model's 16 positions: 15 words behind [START]."""
    filler = BlankInfiller(made(), TEXTS[:2], VOCAB, ORDERS[:2])
    with torch.no_grad():
        filler.model.encoder.embeddings.token.weight[END] *= 0
    texts = greedy(filler, filler.prompt, VOCAB, length=2, banned=filler.banned)
    assert all(len(text.tokens) == 2 and text.tokens[-1] != END for text in texts)
    assert filler.filled(0, texts[0].tokens).count(MASK) == 1
    longest = BlankInfiller(filler.model, TEXTS[1:2], VOCAB)
    [text] = greedy(longest, longest.prompt, VOCAB, length=16, banned=longest.banned)
    assert len(text.tokens) == 16
    with pytest.raises(ValueError, match=r"a blank, with its \[START\], has 17 tokens, but the model has only 16"):
        greedy(longest, longest.prompt, VOCAB, length=17, banned=longest.banned)
    with pytest.raises(ValueError, match="Part A has 17 tokens, but the model has only 16 positions"):
        BlankInfiller(filler.model, [[MASK] * 17], VOCAB).start()


@pytest.mark.parametrize(("given", "told"), [
    ({"texts": [[40, 41]]}, "text 0 has no blank; put a"),
    ({"texts": [[MASK], []]}, "text 1 has no blank"),
    ({"orders": [[0, 0]]}, r"order=\[0, 0\]: give each of the blanks \[0, 1\]"),
    ({"orders": [[0]]}, r"order=\[0\]: give each of the blanks \[0, 1\] exactly once"),
    ({"orders": [[0, 1], [0]]}, "orders for 2 texts were given, but there are 1"),
    ({"vocab": Vocabulary(60, mask=None)}, r"no \[MASK\] token"),
])
def test_what_cannot_be_filled(given, told) -> None:
    with pytest.raises(ValueError, match=told):
        BlankInfiller(**({"model": made(), "texts": [[MASK, 40, MASK]], "vocab": VOCAB} | given))


def test_bad_input_once_it_is_asked() -> None:
    filler = BlankInfiller(made(), [[MASK, 40]], VOCAB)
    for read in ([[40]], [[START, START]], [[40, START]]):
        with pytest.raises(ValueError, match=r"each blank starts with one \[START\], and a text has one blank per"):
            filler.step(torch.tensor(read), filler.start())
    with pytest.raises(ValueError, match="got fillings for 2 blanks, but the text has 1"):
        filler.logprobs([[[41], [42]]])
    with pytest.raises(ValueError, match="fillings of 0 texts were given, but there are 1"):
        filler.logprobs([])
    for lacking in ("start", "end"):
        bare = BlankInfiller(made(), [[MASK, 40]], Vocabulary(60, **{lacking: None}))
        with pytest.raises(ValueError, match=rf"this tokenizer has no \[{lacking.upper()}\] token"):
            bare.step(torch.tensor([[START]]), bare.start())
    with pytest.raises(ValueError, match=r"call model\.eval"):
        greedy(BlankInfiller(made().train(), [[MASK]], VOCAB), torch.tensor([[START]]), VOCAB, length=2)


def test_it_fills_in_what_it_has_learned() -> None:
    """Two texts by heart; in either order, what stood there comes back, of other lengths at the same [MASK]s."""
    torch.manual_seed(0)
    model = GLMPretraining(GLMConfig(60, 16, 2, 32, 2, 64, dropout=0.0, attention_dropout=0.0))
    texts, fillings = [[40, MASK, 41, MASK], [42, MASK, 41, MASK]], [[[50, 51], [52]], [[53], [54, 55, 56]]]
    orders = ([0, 1], [1, 0])
    learned = Batch.of([whole_text(text, words, order) for text, words in zip(texts, fillings, strict=True)
                        for order in orders], pad=PAD)
    fit(model, lambda _: learned, steps=80, lr=0.01, warmup=5, show=False)
    model.eval()
    for order in orders:
        filler = BlankInfiller(model, texts, VOCAB, [order] * 2)
        found = greedy(filler, filler.prompt, VOCAB, length=10, banned=filler.banned)
        assert [filler.filled(row, text.tokens) for row, text in enumerate(found)] == [
            [40, 50, 51, 41, 52], [42, 53, 41, 54, 55, 56]]
