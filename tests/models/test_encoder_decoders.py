"""MASS, BART, T5, T5 v1.1, PEGASUS and PALM: sizes, what distinguishes each, and that all shared code takes them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from parity.alike import same, shaken
from torch import Tensor, nn

from plmlab import cli
from plmlab.checkpoints import load, save
from plmlab.decode import ConditionedDecoder, beam_search, greedy
from plmlab.example import IGNORE, PairBatch
from plmlab.interpret import intervene
from plmlab.interpret.forward_pass import forward_pass
from plmlab.labs import AttentionLab, BeamLab, MaskLab
from plmlab.layers.relative import RelativePositionBias
from plmlab.layers.transformer import GatedFeedForward
from plmlab.models.bart import BART, BARTConfig
from plmlab.models.mass import MASS, MASSConfig
from plmlab.models.palm import PALM, PALMConfig
from plmlab.models.pegasus import PEGASUS, PEGASUSConfig, PEGASUSWithMLM, gap_sentences_and_masking
from plmlab.models.registry import architecture_of, type_of
from plmlab.models.t5 import T5, T5Config, T5v11, T5v11Config
from plmlab.models.transformer import Transformer
from plmlab.objectives import always_mask, masked_span, sequence_to_sequence
from plmlab.text import Text, Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.visibility import AttentionMask, Visibility

VOCAB = Vocabulary(90)
TEXT = Text(range(40, 60), sentences=[(0, 6), (6, 10), (10, 13), (13, 20)])
SIZE: dict[str, Any] = {"vocab": 90, "layers": 2, "model": 12, "heads": 3, "inner": 20, "dropout": 0.0}
MADE: dict[str, Callable[[], nn.Module]] = {
    "mass": lambda: MASS(MASSConfig(**SIZE, time=30, attention_dropout=0.0)),
    "bart": lambda: BART(BARTConfig(**SIZE, time=30)),
    "t5": lambda: T5(T5Config(**SIZE, width=5, buckets=8)),
    "t5-v1_1": lambda: T5v11(T5v11Config(**SIZE, width=5, buckets=8)),
    "pegasus": lambda: PEGASUS(PEGASUSConfig(**SIZE)),
    "palm": lambda: PALM(PALMConfig(**SIZE, time=30, attention_dropout=0.0)),
}
every_model = pytest.mark.parametrize("name", MADE)

pytestmark = pytest.mark.usefixtures("one_thread")


def count(kind: type[nn.Module], config: object) -> int:
    """Parameters of a model that takes no memory."""
    with torch.device("meta"):
        return sum(weight.numel() for weight in kind(config).parameters())


@pytest.mark.parametrize(("kind", "config", "expected", "published"), [
    (T5, T5Config.base(), 222_903_552, 220e6), (T5v11, T5v11Config.base(), 247_577_856, 250e6),
    (BART, BARTConfig.base(), 139_467_609, 140e6), (BART, BARTConfig.large(), 406_337_625, 400e6),
    (MASS, MASSConfig.base(), 238_910_048, None),
    (PEGASUS, PEGASUSConfig.base(), 223_054_848, 223e6), (PEGASUS, PEGASUSConfig.large(), 568_699_904, 568e6)])
def test_base_sizes(kind: type[nn.Module], config: Any, expected: int, published: float | None) -> None:
    """Beside the figures of the T5 paper, the authors' list of checkpoints, BART's README and PEGASUS's paper (§6);
    MASS's paper has none."""
    assert count(kind, config) == expected
    assert published is None or abs(expected / published - 1) < (0.002 if kind is PEGASUS else 0.02)


def by_hand(config: Any, norm: int, bias: bool, feed_forward: int) -> int:
    """Parameters of all layers, counted on paper: ``norm`` parameters per norm, ``feed_forward`` matrices."""
    d, inner = config.model, config.inner
    attention = 4 * d * d + 4 * d * bias
    network = feed_forward * d * inner + (inner + d) * bias
    return config.layers * (attention + network + 2 * norm + 2 * attention + network + 3 * norm)


def test_sizes_by_hand() -> None:
    t5, v11, bart = T5Config.base(), T5v11Config.base(), BARTConfig.base()
    assert count(T5, t5) == by_hand(t5, 768, False, 2) + 32_128 * 768 + 2 * 768 + 2 * 32 * 12
    assert count(T5v11, v11) == by_hand(v11, 768, False, 3) + 2 * 32_128 * 768 + 2 * 768 + 2 * 32 * 12
    assert count(BART, bart) == by_hand(bart, 2 * 768, True, 2) + 50_265 * 769 + 2 * (1024 * 768 + 2 * 768)
    for pegasus in (PEGASUSConfig.base(), PEGASUSConfig.large()):
        d = pegasus.model
        assert count(PEGASUS, pegasus) == by_hand(pegasus, 2 * d, True, 2) + pegasus.vocab * d + 2 * 2 * d
    large_vocabulary = replace(PEGASUSConfig.base(), vocab=96_103)
    assert abs(count(PEGASUS, large_vocabulary) / 272e6 - 1) < 0.002, "not the 223 million of the paper"


def test_an_encoder_decoder_has_about_twice_the_parameters_of_its_encoder() -> None:
    """T5, §3.1.1: "roughly twice the number of parameters of BERT_BASE", here without the embeddings."""
    with torch.device("meta"):
        model = T5(T5Config.base())
    encoder = sum(weight.numel() for name, weight in model.encoder.named_parameters() if "token" not in name)
    assert 2.2 < (count(T5, T5Config.base()) - 32_128 * 768) / encoder < 2.4


def pairs(name: str, count: int = 3, seed: int = 0) -> PairBatch:
    """A batch of the model's own objective, with texts of different lengths."""
    how = type_of(MADE[name]()).pretraining
    assert how is not None
    choices = {"permutation": 0.0} if name == "bart" else {}
    return PairBatch.of([how.objective(TEXT[:20 - 3 * i], vocab=VOCAB, rng=Random(seed + i), **choices)
                         for i in range(count)], pad=0)


@every_model
def test_padding_changes_nothing(name: str) -> None:
    model, batch = shaken(MADE[name]()), pairs(name)
    logits, real = model(batch), batch.targets != IGNORE
    for row in range(3):
        how = type_of(model).pretraining
        choices = {"permutation": 0.0} if name == "bart" else {}
        alone = PairBatch.of([how.objective(TEXT[:20 - 3 * row], vocab=VOCAB, rng=Random(row), **choices)], pad=0)
        same(model(alone)[0], logits[row][real[row]])


@every_model
def test_no_position_attends_to_a_later_one(name: str) -> None:
    """Another token in the decoder's input changes nothing before it, and everything after it, at some position."""
    model, batch = shaken(MADE[name]()), pairs(name, count=1)
    logits = model(batch)
    for at in range(batch.target.size[1]):
        tokens = batch.target.tokens.clone()
        tokens[0, at] = 88
        changed = (model(replace(batch, target=replace(batch.target, tokens=tokens))) != logits).any(-1)[0]
        assert not changed[:at].any() and changed[at]


@every_model
def test_generation_with_caches_is_the_forward_pass(name: str) -> None:
    model = shaken(MADE[name]())
    example = architecture_of(model).example(TEXT[:9], TEXT[4:13], VOCAB)
    batch = PairBatch.of([example], pad=0)
    logits = model(batch)[:, -10:]  # from [START] on
    state = model.start(batch.source)
    target = batch.target.tokens[:, -10:]
    for begin, end in ((0, 1), (1, 4), (4, 5), (5, 10)):
        same(model.step(target[:, begin:end], state), logits[:, end - 1])


@every_model
def test_a_beam_finds_what_exhaustive_search_finds(name: str) -> None:
    """Of all targets of two tokens from a vocabulary of 12."""
    config = replace(MADE[name]().config, vocab=12)
    model = shaken(type(MADE[name]())(config))
    vocab = Vocabulary(12, sentinels=())
    source = architecture_of(model).source([[7, 9, 8]], vocab)
    found = beam_search(ConditionedDecoder(model, source), torch.tensor([[5]]), vocab, length=2, beam=200, banned=())[0]
    chances = {}
    for first in range(12):
        state = model.start(source)
        before = model.step(torch.tensor([[5]]), state).log_softmax(-1)[0, first]
        after = model.step(torch.tensor([[first]]), state).log_softmax(-1)[0]
        chances |= {(first,): before} if first == 6 else {(first, second): before + after[second]
                                                          for second in range(12)}
    ranked = sorted(chances, key=lambda text: -chances[text])
    assert [text.tokens for text in found[:5]] == ranked[:5]
    for text in found[:5]:
        assert abs(text.logprob - float(chances[text.tokens])) < 1e-4


def test_bart_reads_end_before_start() -> None:
    model = shaken(MADE["bart"]())
    source = architecture_of(model).source([TEXT[:5]], VOCAB)
    state = model.start(source)
    assert state.caches[0][0].time == 1
    logits = model.step(torch.tensor([[5]]), state)
    plain = Transformer.start(model, source)
    assert not torch.allclose(model.step(torch.tensor([[5]]), plain), logits)
    plain = Transformer.start(model, source)
    same(model.step(torch.tensor([[6, 5]]), plain), logits)


def test_the_first_target_of_bart_is_start() -> None:
    """After [END], it learns to predict [START]; ours count it among the targets, as the authors do."""
    assert pairs("bart").targets[:, 0].tolist() == [5, 5, 5]


def test_pegasus_reads_the_prompt_start_as_padding() -> None:
    """Its first token only, and only in generation; the embedding of [PAD] is zero and takes no gradient as an
    input."""
    model, batch = MADE["pegasus"]().double().eval(), pairs("pegasus", count=1)
    assert batch.target.tokens[0, 0] == 0 and not model.token.weight[0].any()
    logits = model(batch)
    for first in (0, 5, 50):
        state, target = model.start(batch.source), batch.target.tokens.clone()
        target[0, 0] = first
        same(model.step(target[:, :2], state), logits[:, 1])
        same(model.step(target[:, 2:3], state), logits[:, 2])
    state = model.start(batch.source)
    model.step(torch.tensor([[0]]), state)
    start = model.step(torch.tensor([[5]]), state)
    assert not torch.allclose(start, logits[:, 1])
    state = model.start(batch.source)
    same(model.step(torch.tensor([[5, 5]]), state), start)
    first = model.decoder.embeddings(batch.target)[0, 0]
    same(first, torch.tensor([0.0] * 6 + [1.0] * 6).double())  # position 0: sines, then cosines
    first.sum().backward()
    assert not model.token.weight.grad.any()


def test_pegasus_is_pre_norm_with_a_final_norm() -> None:
    """The layers, written out: nothing is normalized on the residual path, and the output once more."""
    model, batch = shaken(MADE["pegasus"]()), pairs("pegasus", count=1)
    x = model.token(batch.source.tokens) * 12**0.5 + model.encoder.embeddings.position(batch.source.position_ids[:, 0])
    for layer in model.encoder.layers:
        x = x + layer.attention(layer.attention_residual.norm(x), batch.source.visible)
        inner = torch.relu(layer.feed_forward.up(layer.feed_forward_residual.norm(x)))
        x = x + layer.feed_forward.down(inner)
    same(model.encoder(batch.source), model.encoder.final_norm(x))


def test_masked_words_are_predicted_by_the_encoder_of_the_ablation() -> None:
    """Its loss is that of the decoder plus that of the encoder at its targets; without any, that of the decoder."""
    model = shaken(PEGASUSWithMLM(PEGASUSConfig(**SIZE)))
    batch = PairBatch.of([gap_sentences_and_masking(TEXT[:20 - 7 * i], vocab=VOCAB, rng=Random(i)) for i in range(2)],
                         pad=0)
    places = (batch.source.targets != IGNORE).nonzero().tolist()
    assert len(places) == round(0.15 * 13) + round(0.15 * 10) == 4
    hidden = model.encoder(batch.source)
    losses = [-(model.token.weight @ hidden[row, at]).log_softmax(0)[batch.source.targets[row, at]]
              for row, at in places]
    same(model.loss(batch), PEGASUS.loss(model, batch) + sum(losses) / 4)
    plain = pairs("pegasus")
    same(model.loss(plain), PEGASUS.loss(model, plain))


def test_t5_differs_from_v11_only_in_two_parts() -> None:
    """With the same weights everywhere else, a tied output and no gate, they compute the same."""
    one, other = shaken(MADE["t5"]()), shaken(MADE["t5-v1_1"]())
    state, names = other.state_dict(), {name for name, _ in one.named_parameters()}
    extra = {name for name, _ in other.named_parameters()} - names
    assert extra == {"output.weight", *(f"{side}.layers.{i}.feed_forward.gate.weight"
                                        for side in ("encoder", "decoder") for i in range(2))}
    assert sum(isinstance(part, GatedFeedForward) for part in other.modules()) == 4
    state.update(one.state_dict())
    other.load_state_dict(state | {"output.weight": one.token.weight * 12**-0.5})
    batch = pairs("t5")
    assert not torch.allclose(one(batch), other(batch))
    for part in one.modules():
        if hasattr(part, "activation"):
            part.activation = torch.relu
    for part in list(other.modules()):
        if isinstance(part, GatedFeedForward):
            part.forward = lambda x, part=part: part.down(torch.relu(part.up(x)))
    same(one(batch), other(batch))


def test_the_bias_is_one_table_for_all_layers_of_a_side() -> None:
    """It is not a table per layer; cross-attention has none; scores are not scaled."""
    model = MADE["t5"]()
    assert [name for name, part in model.named_modules() if isinstance(part, RelativePositionBias)] == [
        "encoder.distance", "decoder.distance"]
    assert {part.scale for part in model.modules() if hasattr(part, "scale")} == {1.0}
    assert not any(name.endswith("bias") for name, _ in model.named_parameters())


def test_t5_knows_distances_not_positions() -> None:
    """Shifted position ids change nothing; the order of the words does."""
    model, batch = shaken(MADE["t5"]()), pairs("t5", count=1)
    moved = replace(batch, source=replace(batch.source, position_ids=batch.source.position_ids + 7))
    same(model(batch), model(moved))
    turned = replace(batch, source=replace(batch.source, tokens=batch.source.tokens.flip(1)))
    assert not torch.allclose(model(batch), model(turned))


def test_the_attention_lab_knows_that_t5_does_not_scale() -> None:
    """A score is q·k, and in self-attention the position bias is added; BART divides by √d_k."""
    words = Tokenizer.words(["the cat sees the sun"], 90)
    for name, scale in (("t5", 1.0), ("bart", 4**-0.5)):
        model = MADE[name]()
        for kind, biased in (("encoder", name == "t5"), ("decoder", name == "t5"), ("cross", False)):
            head = forward_pass(model, words, "the cat sees", "the sun").head(kind, 1, 2)
            assert (head.scale, head.formula) == (scale, "q·k")
            added = head.scores - head.scale * head.q @ head.k.T
            assert (float(added.abs().max()) > 1e-4) == biased


def test_mass_reads_positions_of_the_text() -> None:
    """The decoder's input has the position ids of its tokens in the text: others give another loss."""
    model, batch = shaken(MADE["mass"]()), pairs("mass", count=1)
    start = batch.target.position_ids[0, 0, 0]
    assert batch.target.tokens[0, 0] == [5, *TEXT][start]
    moved = replace(batch, target=replace(batch.target, position_ids=batch.target.position_ids - start))
    assert start > 0 and not torch.allclose(model.loss(batch), model.loss(moved))


def test_mass_s_decoder_does_not_see_what_is_masked() -> None:
    """By default: a change of the encoder's output at a [MASK] changes nothing; elsewhere it does."""
    model = shaken(MADE["mass"]())
    batch = PairBatch.of([masked_span(TEXT[:8], vocab=VOCAB, rng=Random(0), span=(3, 7), corrupt=always_mask)], pad=0)
    plain = model(batch)

    def at(places: slice) -> Tensor:
        def change(hidden: Tensor) -> Tensor:
            hidden = hidden.clone()
            hidden[:, places] += 1
            return hidden
        with intervene(model, {"encoder.layers.1.hidden": change}):
            return model(batch)
    same(at(slice(3, 7)), plain)
    assert not torch.allclose(at(slice(2, 3)), plain)
    full = replace(batch, cross=AttentionMask.of([Visibility.full(4, 10)]))
    assert not torch.allclose(model(full), plain)


def test_mass_generates_its_span_under_its_own_mask() -> None:
    """From the token before the span, at its position in the text, in two texts of different lengths."""
    model, batch = shaken(MADE["mass"]()), pairs("mass", count=2)
    positions, (_, count) = batch.target.position_ids[:, 0], batch.size
    assert batch.cross.pairs is not None and positions[0, 0] != positions[1, 0]
    state, logits, real = model.start(batch.source, batch.cross, positions[:, 0]), model(batch), batch.targets != IGNORE
    for at in range(count):
        rows = torch.tensor([1, 0] if at % 2 == 0 else [0, 1])
        state.select(torch.tensor([1, 0]))
        same(model.step(batch.target.tokens[rows, at:at + 1], state)[real[rows, at]], logits[rows, at][real[rows, at]])
    with pytest.raises(ValueError, match=f"mask has {count} queries, but there are {count + 1} positions"):
        model.step(batch.target.tokens[:, :1], state)
    options = {"cross": batch.cross, "first": positions[:, 0]}
    found = greedy(ConditionedDecoder(model, batch.source, options), batch.target.tokens[:, :1], VOCAB, length=2)
    shorter = greedy(ConditionedDecoder(model, batch.source), batch.target.tokens[:, :1], VOCAB, length=2)
    known = [word for word in range(VOCAB.size) if word not in VOCAB.special or word == VOCAB.end]
    for row, (text, other) in enumerate(zip(found, shorter, strict=True)):
        assert text.tokens[0] == known[int(logits[row, 0, known].argmax())]
        assert text.logprob != pytest.approx(other.logprob, abs=1e-6)


@pytest.mark.parametrize("kind", [T5, T5v11])
def test_t5_begins_with_scores_of_moderate_size(kind: type[T5]) -> None:
    """Its unscaled scores begin with a variance near 1, thanks to the smaller queries; with those of the keys they
    would be d_k times as large."""
    torch.manual_seed(0)
    config = {T5: T5Config, T5v11: T5v11Config}[kind](vocab=90, layers=1, model=256, heads=4, inner=256)
    model = kind(config).eval()
    attention = model.encoder.layers[0].attention
    x = torch.randn(1, 200, 256)
    q, k = (part(x).detach().view(1, 200, 4, 64).transpose(1, 2) for part in (attention.q, attention.k))
    assert 0.8 < float((q @ k.mT).var()) < 1.25
    assert abs(float(model.token.weight.std()) - 1) < 0.05
    assert abs(float(model.encoder.distance.weight.std()) - 256**-0.5) < 0.02


@pytest.mark.parametrize(("width", "std"), [(768, 0.02), (1024, 0.02), (48, 0.08)])
def test_bart_begins_with_small_weights_which_are_larger_in_narrow_networks(width: int, std: float) -> None:
    torch.manual_seed(0)
    model = BART(BARTConfig(vocab=200, layers=1, model=width, heads=4, inner=128, time=50))
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            assert float(weight.std()) == pytest.approx(std, rel=0.1), name
        elif name.endswith("bias"):
            assert not weight.any(), name


@every_model
def test_it_learns_to_restore_a_text(name: str) -> None:
    torch.manual_seed(0)
    model, batch = MADE[name](), pairs(name)
    history = fit(model, lambda _: batch, steps=60, lr=5e-3, warmup=6, show=False)
    assert history.losses[-1] < 0.5 * history.losses[0]


@pytest.mark.parametrize("name", ["mass", "bart", "t5", "pegasus", "palm"])
def test_it_is_pretrained_saved_fine_tuned_and_opened_in_the_labs(name: str, tmp_path: Path) -> None:
    corpus, out = tmp_path / "text.txt", tmp_path / "made"
    corpus.write_text("\n\n".join(f"the {a} sees the {b}. it runs." for a in ("cat", "dog", "fox")
                                  for b in ("sun", "moon")))
    assert cli.main(["pretrain", name, "--corpus", str(corpus), "--out", str(out), "--steps", "3", "--batch", "2",
                     "--time", "24", "--vocab", "330", "--width", "16", "--heads", "2", "--layers", "2"]) == 0
    model, words = load(out)
    assert type_of(model).name == name and "perplexity" not in (out / "README.md").read_text()
    texts = [words.encode(f"the {animal} sees the moon", plain=True) for animal in ("cat", "dog")]
    example = architecture_of(model).example
    batch = PairBatch.of([example(text, text[1:2], words.vocab) for text in texts], pad=0)
    history = fit(model, lambda _: batch, steps=40, lr=4e-3, warmup=4, show=False)
    assert history.losses[-1] < 0.6 * history.losses[0]
    save(tmp_path / "tuned", model, words, command="x", figures={})
    again, _ = load(tmp_path / "tuned")
    with torch.no_grad():
        assert torch.equal(again(batch), model.eval()(batch))
    lab = AttentionLab(again, words, "the cat sees the sun", "the dog", layer=1, head=0)
    assert lab.message == "" and lab.state["size"][0] == 2
    source = architecture_of(again).source(texts[:1], words.vocab)
    beams = BeamLab(ConditionedDecoder(again, source), words, "", width=2, length=4)
    best = greedy(ConditionedDecoder(again, source), torch.tensor([[5]]), words.vocab, length=4, banned=())[0]
    assert beams.message == "" and beams.state["greedy"]["text"].split() == words.decode(
        [id for id in best.tokens if id != 6]).split()
    made = MaskLab(words, "the cat sees the sun. it runs.", type_of(model).pretraining.registered.__name__)
    assert made.message == "" and made.state["split"] > 0


def test_the_floor_is_not_asked_for() -> None:
    """None of the four objectives has one yet; all are cross-entropies all the same."""
    for name in MADE:
        model, batch = shaken(MADE[name]()), pairs(name)
        asked = batch.targets != IGNORE
        expected = -model(batch).log_softmax(-1)[asked].gather(-1, batch.targets[asked][:, None]).mean()
        same(model.loss(batch), expected)
        assert not type_of(model).pretraining.likelihood


def test_longer_texts_than_were_learned() -> None:
    """T5 and PEGASUS take any length; BART, MASS and PALM have as many positions as they learned."""
    source = PairBatch.of([sequence_to_sequence(TEXT * 2, [], vocab=VOCAB)], pad=0).source
    for name in ("t5", "pegasus"):
        assert MADE[name]().start(source).memory.shape == (1, 41, 12)
    for name in ("bart", "mass", "palm"):
        with pytest.raises(ValueError, match="the model has learned 30 positions"):
            MADE[name]().start(source)
