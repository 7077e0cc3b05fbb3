"""Two streams: each computed by itself, what they can know by their gradients, and all that other models can do."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch
from torch import Tensor, nn

from plmlab import world
from plmlab.checkpoints import load, save
from plmlab.example import IGNORE, Batch, Example
from plmlab.interpret import watch
from plmlab.interpret.attention_maps import attention_maps
from plmlab.interpret.readable import readable
from plmlab.labs import AttentionLab, ClozeLab
from plmlab.labs.cloze.readers import MaskedSentence, believed
from plmlab.layers.relative import XLNetAttention
from plmlab.models.mpnet import MPNetConfig, MPNetPretraining
from plmlab.models.registry import pretrainable
from plmlab.models.two_streams import TwoStreamPretraining
from plmlab.models.xlnet import XLNet, XLNetConfig, XLNetPretraining
from plmlab.objectives import always_mask, masked_and_permuted, permuted, permuted_targets
from plmlab.objectives.layouts import mlm_input
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.visibility import AttentionMask
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import build_world_tokenizer

VOCAB = Vocabulary(60)
TEXT = [40, 41, 42, 43, 44, 45, 46]


def made(name: str) -> TwoStreamPretraining:
    """In float64, every weight large enough to matter."""
    torch.manual_seed(3)
    size = {"layers": 3, "model": 12, "heads": 3, "inner": 20, "dropout": 0.0}
    model: TwoStreamPretraining = (
        XLNetPretraining(XLNetConfig(60, memory=9, **size)) if name == "xlnet" else
        MPNetPretraining(MPNetConfig(60, time=30, attention_dropout=0.0, **size)))
    for place, weight in model.double().eval().named_parameters():
        nn.init.normal_(weight, mean=float(place.endswith("norm.weight")), std=0.3)
    return model


def example(name: str, length: int, seed: int) -> Example:
    if name == "mpnet":
        return masked_and_permuted(TEXT[:length], vocab=VOCAB, rng=Random(seed), rate=0.4)
    return (permuted if seed % 2 else permuted_targets)(TEXT[:length], vocab=VOCAB, rng=Random(seed), k=2.0)


def same(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def by_itself(model: TwoStreamPretraining, one: Example) -> Tensor:
    """The logits at the positions that are asked, two streams apart, each with its own mask, position after
    position."""
    encoder, batch = model.encoder, Batch.of([one], pad=0)
    positions = (one.targets != IGNORE).nonzero().flatten()
    place = torch.arange(len(one.tokens))
    h = encoder.embeddings(batch)
    g = h[:, positions] if isinstance(model, MPNetPretraining) else encoder.query.expand(1, len(positions), -1)
    for layer in encoder.layers:
        def look(x: Tensor, seen: Tensor, at: Tensor, layer=layer, h=h) -> Tensor:
            told = []
            for i, position in enumerate(at.tolist()):
                asked = torch.tensor([[position]])
                told.append(layer.attention(x[:, i:i + 1], AttentionMask(pairs=seen[None, i:i + 1]), h,
                                            bias=encoder.added(batch, asked),
                                            relative=encoder.relative(batch, asked, 0)))
            x = layer.attention_residual(x, lambda _: torch.cat(told, 1))
            return layer.feed_forward_residual(x, layer.feed_forward)
        h, g = (look(h, one.visible.dense(), place), look(g, one.query_stream_mask.dense()[positions], positions))
    return model.token_logits(g)[0]


@pytest.mark.parametrize("name", ["xlnet", "mpnet"])
@pytest.mark.parametrize("seed", range(4))
def test_both_streams_are_those_that_are_computed_apart(name: str, seed: int) -> None:
    model, one = made(name), example(name, 7, seed)
    got = model(Batch.of([one], pad=0))[0][one.targets != IGNORE]
    same(got, by_itself(model, one))


@pytest.mark.parametrize("name", ["xlnet", "mpnet"])
def test_padding_and_company_change_nothing(name: str) -> None:
    model = made(name)
    rows = [example(name, length, seed) for seed, length in enumerate((7, 1, 4, 5))]
    together = Batch.of(rows, pad=0)
    logits, losses = model(together), []
    for row, one in zip(logits, rows, strict=True):
        alone = Batch.of([one], pad=0)
        same(row[:len(one.tokens)], model(alone)[0])
        losses.append((model.loss(alone), int((one.targets != IGNORE).sum())))
    same(model.loss(together), sum(loss * n for loss, n in losses) / sum(n for _, n in losses))


@pytest.mark.parametrize("name", ["xlnet", "mpnet"])
def test_a_guess_hangs_on_what_came_before_it_in_the_order_and_on_nothing_else(name: str) -> None:
    """By gradients: in any order the t-th word knows the contents of the first t − 1, and not its own."""
    model = made(name)
    for seed in range(5):
        order = Random(seed).sample(range(7), 7)
        if name == "xlnet":
            one = permuted(TEXT, vocab=VOCAB, rng=Random(0), order=[7, 8, *order], predict=range(7))
            asks, shift = {position: position for position in order}, 0
        else:
            one = masked_and_permuted(TEXT, vocab=VOCAB, rng=Random(0), predict=[1 + position for position in order],
                                      corrupt=always_mask)
            asks, shift = {position: 9 + place for place, position in enumerate(order)}, 1
        with watch(model.encoder, "embedded") as seen:
            logits = model(Batch.of([one], pad=0))
        for place, position in enumerate(order):
            [known] = torch.autograd.grad(logits[0, asks[position]].square().sum(), seen["embedded"], retain_graph=True)
            reached = known[0].abs().sum(-1) > 0
            assert {other for other in range(7) if reached[other + shift]} == set(order[:place]), (seed, position)


def test_the_answer_leaks_where_the_query_stream_sees_its_own_word() -> None:
    """z≤t in place of z<t, as study notes have it: the gradient of a guess reaches its own word."""
    model = made("xlnet")
    one = permuted(TEXT, vocab=VOCAB, rng=Random(0), order=[7, 8, *range(7)], predict=range(7))
    leaky = replace(one, query_stream_mask=one.visible)
    for given, leaks in ((one, False), (leaky, True)):
        with watch(model.encoder, "embedded") as seen:
            logits = model(Batch.of([given], pad=0))
        [known] = torch.autograd.grad(logits[0, 3].square().sum(), seen["embedded"])
        assert (known[0, 3].abs().sum() > 0) == leaks


def test_a_memory_is_what_came_before() -> None:
    """Two segments, the second behind the memory of the first, are the two in one pass under the mask that this comes
    to; behind a memory of its own length alone, no more is remembered."""
    encoder = made("xlnet").encoder
    first, second = (Batch.of([permuted_targets(text, vocab=VOCAB, rng=Random(0), predict=())], pad=0)
                     for text in (TEXT[:4], TEXT[4:]))
    plain = {"segments": torch.zeros_like(first.tokens)}
    memories = encoder.start()
    a = encoder(replace(first, **plain), memories)
    b = encoder(second, memories)
    assert [memory.time for memory in memories] == [9] * 3, "six positions and five, of which nine are kept"
    looks = torch.zeros(11, 11, dtype=torch.bool)
    looks[:6, :6], looks[6:, 6:] = first.visible.dense(6, 6)[0, 0], second.visible.dense(5, 5)[0, 0]
    looks[6:, :6] = True
    whole = Batch(torch.cat([first.tokens, second.tokens], 1), torch.arange(11)[None, None],
                  torch.cat([plain["segments"], second.segments], 1), AttentionMask(pairs=looks[None]),
                  torch.full((1, 11), IGNORE))
    same(torch.cat([a, b], 1), encoder(whole))


def test_only_whether_two_positions_share_a_segment_is_told() -> None:
    """Segments 0, 1, 2 or 5, 3, 7: all the same; one segment for all: not the same. s± is no position."""
    encoder = made("xlnet").encoder
    one = permuted_targets(TEXT[:3], pair=TEXT[3:], vocab=VOCAB, rng=Random(0), predict=())
    batch = Batch.of([one], pad=0)
    renamed = replace(batch, segments=torch.tensor([5, 3, 7])[batch.segments])
    same(encoder(batch), encoder(renamed))
    assert (encoder(batch) - encoder(replace(batch, segments=torch.zeros_like(batch.segments)))).abs().max() > 0.01


def test_the_five_terms_add_up() -> None:
    encoder = made("xlnet").encoder
    batch = Batch.of([example("xlnet", 7, 0)], pad=0)
    terms = ("content", "content_position", "global_content", "global_position", "by_segment", "scores")
    with torch.no_grad(), watch(encoder, *(f"layers.1.attention.{term}" for term in terms)) as seen:
        encoder(batch)
    *parts, scores = (seen[f"layers.1.attention.{term}"] for term in terms)
    same(sum(parts), scores)
    assert isinstance(encoder.layers[1].attention, XLNetAttention)


@pytest.mark.parametrize("name", ["xlnet", "mpnet"])
def test_it_learns_and_is_saved_and_watched_and_drawn(name: str, tmp_path: Path) -> None:
    small = world.small()
    tokenizer = build_world_tokenizer(small)
    torch.manual_seed(0)
    model: TwoStreamPretraining = (
        XLNetPretraining(XLNetConfig(len(tokenizer), 2, 16, 2, 32, 0.0)) if name == "xlnet" else
        MPNetPretraining(MPNetConfig(len(tokenizer), 32, 2, 16, 2, 32, dropout=0.0, attention_dropout=0.0)))
    objective = permuted_targets if name == "xlnet" else masked_and_permuted
    history = fit(model, sentence_batches(small, "train", tokenizer, objective, 8, 0), steps=25, lr=0.02, warmup=5,
                  show=False)
    assert history.smoothed(10)[-1] < 0.85 * history.losses[0]
    save(tmp_path / "model", model, tokenizer, command="x", figures={})
    again, words = load(tmp_path / "model", expect=f"{name}-pretraining")
    words_of = " ".join(next(small.text("test", seed=1)))
    one = readable(model.encoder).example(words, words_of)
    batch = Batch.of([one], pad=0)
    with torch.no_grad():
        assert torch.equal(model(batch), again(batch))
    [drawn] = attention_maps(model, tokenizer, words_of)
    assert len(drawn.weights) == 2 and drawn.visible.dense().all()
    assert AttentionLab(model, tokenizer, words_of, layer=1, head=1).message == ""


def test_as_many_positions_as_are_asked_are_guessed() -> None:
    """The query stream is as long as the longest row asks, and no longer: it is what it costs."""
    model = made("xlnet")
    batch = Batch.of([example("xlnet", 7, 0), example("xlnet", 2, 1)], pad=0)
    with watch(model.encoder, "layers.*.hidden") as seen:
        model(batch)
    most = int((batch.targets != IGNORE).sum(1).max())
    assert [hidden.shape[1] for hidden in seen.hidden()] == [batch.size[1] + most] * 3 and most == 4


def test_no_text_is_too_long() -> None:
    encoder = XLNet(XLNetConfig(60, 1, 8, 2, 8, 0.0))
    long = Batch.of([permuted_targets([7] * 700, vocab=VOCAB, rng=Random(0), predict=())], pad=0)
    assert encoder(long).shape == (1, 702, 8)


def test_a_distance_counts_from_either_side() -> None:
    """A text behind two other positions is read as it is alone, where nobody sees those two: only distances are
    told."""
    encoder = made("xlnet").encoder
    short = Batch.of([permuted_targets(TEXT, vocab=VOCAB, rng=Random(0), predict=())], pad=0)
    looks = torch.zeros(11, 11, dtype=torch.bool)
    looks[2:, 2:] = short.visible.dense(9, 9)[0, 0]
    moved = Batch(torch.cat([torch.tensor([[9, 9]]), short.tokens], 1), torch.arange(11)[None, None],
                  torch.cat([torch.tensor([[0, 0]]), short.segments], 1), AttentionMask(pairs=looks[None]),
                  torch.full((1, 11), IGNORE))
    same(encoder(moved)[:, 2:], encoder(short))


def test_masks_take_no_place_of_their_own() -> None:
    """A text that fills the table of positions has room for its masks; a longer one has none."""
    model = MPNetPretraining(MPNetConfig(60, time=9, layers=1, model=8, heads=2, inner=8))
    batch = Batch.of([masked_and_permuted(TEXT, vocab=VOCAB, rng=Random(0), rate=0.4)], pad=0)
    assert batch.size == (1, 13) and model(batch).shape == (1, 13, 60)
    with pytest.raises(ValueError, match="a text of 10 tokens is too long: the model has learned 9 positions"):
        model(Batch.of([masked_and_permuted([*TEXT, 47], vocab=VOCAB, rng=Random(0))], pad=0))


@pytest.mark.parametrize("name", ["xlnet", "mpnet"])
def test_pairs_are_read_and_nobody_asks_whether_b_follows(name: str) -> None:
    how = pretrainable()[name].pretraining
    one = how.pairs(TEXT[:3], TEXT[3:], True, vocab=VOCAB, rng=Random(0))
    other = how.pairs(TEXT[:3], TEXT[3:], False, vocab=VOCAB, rng=Random(0))
    assert not one.labels and torch.equal(one.tokens, other.tokens) and torch.equal(one.targets, other.targets)
    held = [token for token in one.tokens.tolist() if token in TEXT]
    assert sorted(set(held)) == TEXT and one.segments.unique().tolist() == ([0, 1, 2] if name == "xlnet" else [0, 1])


def test_gaps_are_asked_apart_and_nothing_hidden_is_seen() -> None:
    """XLNet in the Cloze Lab: each hidden word from all that is in sight, by the query stream. Changed, the hidden
    words change nothing; a word in sight does. With one gap it is what the last word of an order is asked."""
    model = made("xlnet")
    tokenizer = Tokenizer.words(["the cat saw a dog near the old red door"], 60)
    text = tokenizer.encode("the cat saw a dog")

    def said(ids: list[int], hidden: list[int]) -> list[Tensor]:
        sentence = MaskedSentence.of(ids, tokenizer.vocab).hiding(hidden)
        [found] = believed(model, [sentence])
        return [found[position] for position in hidden]

    other = tokenizer.encode("the old saw a red")
    for one, two in zip(said(text, [2, 5]), said(other, [2, 5]), strict=True):
        same(one, two)
    assert (said(text, [2])[0] - said(other, [2])[0]).abs().max() > 1e-3
    alone = permuted_targets(text, vocab=tokenizer.vocab, rng=Random(0), order=[5, 6, 0, 2, 3, 4, 1], predict=[1])
    same(said(text, [2])[0], model(Batch.of([alone], pad=0))[0, 1].softmax(-1))
    lab = ClozeLab(model.float(), tokenizer, "the cat saw a dog", hide=["cat", "dog"])
    assert lab.message == "" and [gap["position"] for gap in lab.state["gaps"]] == [2, 5]


def test_mpnet_s_mask_in_place_is_the_query_of_the_word_that_is_said_first() -> None:
    """In one stream [MASK] sees all other words and masks, as the first query does: so it may be asked that way."""
    model = made("mpnet")
    two = masked_and_permuted(TEXT, vocab=VOCAB, rng=Random(0), predict=[3, 5], corrupt=always_mask)
    one, positions = mlm_input(TEXT, (), VOCAB, [3, 5])
    assert positions == [3, 5]
    same(model(Batch.of([one], pad=0))[0, 3], model(Batch.of([two], pad=0))[0, 9])
