"""An ELMo with target leakage: what its positions depend on, padding, its accuracy, and its loss beside the floor."""

from dataclasses import replace
from math import log
from random import Random

import pytest
import torch
from torch import Tensor

from plmlab.batches import ExampleBatches
from plmlab.chapters.ch05.leaky import LeakyELMo, accuracy_at, whole
from plmlab.draws import choice
from plmlab.example import BidirectionalBatch, BidirectionalExample
from plmlab.models.elmo import BiLMState, ELMo, ELMoConfig
from plmlab.objectives import bidirectional_lm
from plmlab.train import fit
from plmlab.world.datasets.tokenizer import small_world_tokenizer

pytestmark = pytest.mark.usefixtures("one_thread")

CLOSE = {"rtol": 1e-5, "atol": 1e-5}
TEXTS = ["The cat sleeps .", "The old dogs sing .", "The boy saw the girl with the cat ."]


def asked(*texts: str) -> BidirectionalBatch:
    rows = small_world_tokenizer().encode_all(list(texts), plain=True)
    return BidirectionalBatch.of([bidirectional_lm(row, vocab=small_world_tokenizer().vocab, rng=Random(0))
                                  for row in rows],
                                 pad=small_world_tokenizer().vocab.need("pad"))


def built(kind: type[ELMo], skip: bool = True) -> ELMo:
    torch.manual_seed(0)
    model = kind(replace(ELMoConfig.tiny(len(small_world_tokenizer())), skip=skip, filters=((1, 16), (2, 32), (3, 32))))
    model.set_spelling(small_world_tokenizer())
    return model.eval()


def test_the_whole_text_of_each_row() -> None:
    tokens, real = whole(asked(*TEXTS))
    for row, text in enumerate(TEXTS):
        words = ["[START]", *text.split(), "[END]"]
        assert small_world_tokenizer().tokens(tokens[row][real[row]].tolist()) == words
        assert int(real[row].sum()) == len(words) and real[row, :len(words)].all()


def positions_that_change(model: ELMo) -> tuple[list[int], list[int]]:
    """The positions of both halves whose logits change when word 3 of seven is another."""
    with torch.no_grad():
        one, other = (model(asked(text)) for text in (
            "The boy saw the girl near .", "The boy hit the girl near ."))
    left, right = ((one - other).abs().amax(-1)[0] > 1e-5).chunk(2)
    return left.nonzero()[:, 0].tolist(), right.nonzero()[:, 0].tolist()


def test_only_the_joined_one_sees_the_word_that_it_must_say() -> None:
    """From the left position 2 says word 3; from the right position 5 has read [END] and words 7 to 4 and says word
    3."""
    left, right = positions_that_change(built(ELMo))
    assert left == [3, 4, 5, 6, 7] and right == [5, 6, 7]
    assert positions_that_change(built(LeakyELMo)) == (list(range(8)), list(range(8)))


@pytest.mark.parametrize(("kind", "leaks"), [(ELMo, False), (LeakyELMo, True)])
def test_by_gradients_too(kind: type[ELMo], leaks: bool) -> None:
    model, words = built(kind), list[Tensor]()

    def kept(module: object, inputs: object, vectors: Tensor) -> None:
        vectors.retain_grad()
        words.append(vectors)

    model.bilm.embedded.register_forward_hook(kept)
    batch = asked("The boy saw the girl near .")
    position, target = 2, int(batch.forwards.targets[0, 2])
    model(batch)[0, position, target].backward()
    used = torch.cat([batch.forwards.tokens, batch.backwards.tokens], 1).unique().tolist()
    assert words[0].grad is not None
    assert bool(words[0].grad[0, used.index(target)].any()) is leaks


@torch.no_grad()
@pytest.mark.parametrize("skip", [True, False])
def test_padding_changes_nothing(skip: bool) -> None:
    model = built(LeakyELMo, skip)
    together = model(asked(*TEXTS)).chunk(2, 1)
    for row, text in enumerate(TEXTS):
        positions = len(text.split()) + 1
        for ours, alone in zip(together, model(asked(text)).chunk(2, 1), strict=True):
            torch.testing.assert_close(ours[row, :positions], alone[0], **CLOSE)


@torch.no_grad()
def test_it_is_torch_s_stacked_bidirectional_lstm() -> None:
    model = built(LeakyELMo, skip=False)
    stack = torch.nn.LSTM(32, 64, 2, proj_size=32, bidirectional=True, batch_first=True)
    stack.load_state_dict({
        f"{name}_l{place}{turned}": weight
        for turned, direction in (("", model.bilm.forwards), ("_reverse", model.bilm.backwards))
        for place, layer in enumerate(direction.layers) for name, weight in layer.cells[0].named_parameters()})
    sentence = TEXTS[2].split()
    words, _, top = model.layers([sentence])
    torch.testing.assert_close(top, stack(words[..., :32])[0], **CLOSE)
    left, right = top.chunk(2, -1)
    by_hand = torch.cat([left[:, :-1], right.flip(1)[:, :-1]], 1)
    torch.testing.assert_close(model.hidden_states(asked(TEXTS[2])), by_hand, **CLOSE)


class OneWord(torch.nn.Module):
    """Predicts the same word everywhere, in both directions."""

    def forward(self, batch: BidirectionalBatch) -> Tensor:
        word = small_world_tokenizer().encode("sing", plain=True)[0]
        return torch.nn.functional.one_hot(torch.full_like(batch.targets, word), len(small_world_tokenizer()))


def test_the_accuracy_is_of_the_word_at_its_position_in_both_directions() -> None:
    texts = [text.split() for text in TEXTS]
    assert accuracy_at(OneWord(), texts, [1, 3, 0]) == pytest.approx(1 / 3)
    assert accuracy_at(OneWord(), texts, [2, 2, 7]) == 0


def test_no_state_goes_on() -> None:
    model = built(LeakyELMo)
    with pytest.raises(ValueError, match="a bidirectional stack cannot carry states"):
        model.bilm.read(torch.zeros(1, 2, 32), torch.ones(1, 2, dtype=torch.bool), BiLMState())


def test_its_loss_falls_through_the_floor_and_the_honest_one_s_does_not() -> None:
    """Texts of one word, drawn evenly from four: who does not see it pays log 4 for it, and nothing for the end."""
    words = small_world_tokenizer().encode("cat boys near The", plain=True)

    def drawn(rng: Random) -> list[BidirectionalExample]:
        return [bidirectional_lm([choice(rng, words)], vocab=small_world_tokenizer().vocab, rng=rng) for _ in range(16)]

    text, others = (ExampleBatches(drawn, seed, small_world_tokenizer().vocab.need("pad")) for seed in (0, 1))
    test_set = BidirectionalBatch.of([one for step in range(20) for one in others.examples(step)], pad=0)
    floor, lost = log(len(words)) / 2, {}
    for kind in (ELMo, LeakyELMo):
        model = built(kind)
        with torch.no_grad():
            for weights in model.bilm.parameters():
                weights.mul_(3)  # else words look alike for the first hundred updates
        fit(model, text, steps=80, lr=0.006, warmup=10, show=False)
        with torch.no_grad():
            lost[kind] = float(model.eval().loss(test_set))
    assert lost[LeakyELMo] < 0.8 * floor
    assert 0.97 * floor < lost[ELMo] < 1.1 * floor
