"""Sequence to sequence as one of the models: its list, sizes, checkpoints, what it learns, and what it refuses."""

from dataclasses import replace
from math import log
from pathlib import Path

import pytest
import torch
from torch import nn

from plmlab.checkpoints import CheckpointError, load, save
from plmlab.example import PairBatch
from plmlab.interpret.attention_maps import attention_maps
from plmlab.interpret.readable import readable
from plmlab.interpret.watching import watch
from plmlab.models.registry import architecture_of, model_type, type_of
from plmlab.models.seq2seq import (
    AdditiveSeq2Seq,
    BidirectionalSeq2Seq,
    DotSeq2Seq,
    GeneralSeq2Seq,
    Seq2Seq,
    Seq2SeqConfig,
)
from plmlab.objectives import sequence_to_sequence
from plmlab.text.tokenizers import Tokenizer
from plmlab.visibility import AttentionMask

KINDS = {"seq2seq": Seq2Seq, "dot-seq2seq": DotSeq2Seq, "general-seq2seq": GeneralSeq2Seq,
         "two-way-seq2seq": BidirectionalSeq2Seq, "additive-seq2seq": AdditiveSeq2Seq}
every_kind = pytest.mark.parametrize("name", KINDS)
SOURCE, TARGET = "the man saw the river", "he saw it"
WORDS = Tokenizer.words([SOURCE, TARGET], 60)


def made(name: str, **size: int) -> Seq2Seq:
    torch.manual_seed(0)
    return KINDS[name](Seq2SeqConfig(len(WORDS), **{"model": 8, **size}))


def pairs(*texts: tuple[str, str]) -> PairBatch:
    return PairBatch.of([sequence_to_sequence(WORDS.encode(source), WORDS.encode(target), vocab=WORDS.vocab)
                         for source, target in texts], pad=0)


def batch() -> PairBatch:
    return pairs((SOURCE, TARGET), ("", "it saw"), ("the river", ""))


@every_kind
def test_it_is_on_the_list(name: str, listed: dict[str, str]) -> None:
    kind = model_type(name)
    assert kind.model is KINDS[name] and kind.config is Seq2SeqConfig and type_of(made(name)) is kind
    assert architecture_of(made(name)).name == ("recurrent pair" if name == "seq2seq" else "encoder-decoder")
    paper = {"seq2seq": "Sutskever et al. 2014"} | {f"{kind}-seq2seq": "Bahdanau et al. 2015"
                                                    for kind in ("two-way", "additive")}
    assert paper.get(name, "Luong et al. 2015") in listed[name]
    assert len({listed[other].split("–")[-1] for other in KINDS}) == len(KINDS)


@every_kind
@pytest.mark.parametrize("layers", [1, 3])
def test_the_number_of_weights_is_what_the_formula_says(name: str, layers: int) -> None:
    vocab, width, context = len(WORDS), 6, 6 * (name == "additive-seq2seq")

    def lstm(inputs: int, ways: int = 1) -> int:
        return sum(4 * width * ((width if layer else inputs) + width // ways + 2) for layer in range(layers))

    words = vocab * width + vocab * width + vocab
    looking = {"seq2seq": 0, "dot-seq2seq": 0, "general-seq2seq": width**2, "two-way-seq2seq": width**2,
               "additive-seq2seq": 2 * width**2 + width}
    said = 0 if name == "seq2seq" else 2 * width * width
    counted = sum(weight.numel() for weight in made(name, layers=layers, model=width).parameters())
    assert counted == words + lstm(width, 1 + KINDS[name].bidirectional) + lstm(width + context) + looking[name] + said


def test_an_odd_width_has_no_halves() -> None:
    with pytest.raises(ValueError, match="model=7: the width of a bidirectional encoder is split"):
        made("two-way-seq2seq", model=7)


def test_the_base_size_has_the_recurrent_connections_of_the_paper() -> None:
    """384 million parameters, of which 64 are recurrent, 32 an LSTM (Sutskever et al. 2014, §3.4); one vocabulary of
    80,000 instead of 160,000 and 80,000 has 160 million fewer."""
    with torch.device("meta"):
        model = Seq2Seq(Seq2SeqConfig.base())
    encoder, decoder = (sum(weight.numel() for weight in side.parameters()) for side in (model.encoder, model.decoder))
    assert round(encoder / 1e6) == round(decoder / 1e6) == 32
    assert round(sum(weight.numel() for weight in model.parameters()) / 1e6) == 384 - 160


@every_kind
def test_tiny_is_small_and_all_of_it_is_written(name: str) -> None:
    model = KINDS[name](Seq2SeqConfig.tiny(len(WORDS)))
    assert sum(weight.numel() for weight in model.parameters()) < 500_000
    assert model(batch()).shape == (3, 4, len(WORDS)) and model.config.dropout == 0


@every_kind
def test_what_is_saved_is_what_is_loaded(name: str, tmp_path: Path) -> None:
    ours = made(name, layers=2)
    save(tmp_path / "kept", ours, WORDS, command="x", figures={})
    theirs, words = load(tmp_path / "kept", expect=name)
    assert type(theirs) is KINDS[name] and theirs.config == ours.config and not theirs.training
    assert words.encode(SOURCE) == WORDS.encode(SOURCE)
    with torch.no_grad():
        assert torch.equal(theirs(batch()), ours.eval()(batch()))
    with pytest.raises(CheckpointError, match="but a 'transformer' model is needed here"):
        load(tmp_path / "kept", expect="transformer")


@every_kind
@pytest.mark.usefixtures("one_thread")
def test_it_learns_what_the_source_alone_can_tell(name: str) -> None:
    """Three targets of a word and [END]: who does not know the source loses log 3 at every other position, however long
    it learns."""
    model, least = made(name, model=32).train(), log(3) / 2
    read = pairs(("man", "he"), ("river", "it"), ("the", "saw"))
    assert model.loss(read).item() == pytest.approx(log(len(WORDS)), abs=0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(300):
        optimizer.zero_grad()
        loss = model.loss(read)
        loss.backward()
        optimizer.step()
        if loss < 0.6 * least:
            return
    assert loss < 0.6 * least


@every_kind
def test_dropout_is_for_training_alone(name: str) -> None:
    torch.manual_seed(0)
    model, read = KINDS[name](Seq2SeqConfig(len(WORDS), layers=2, model=8, dropout=0.5)), batch()
    assert not torch.equal(model.train()(read), model(read))
    assert torch.equal(model.eval()(read), model(read))


@every_kind
def test_what_it_reads_of_two_texts(name: str) -> None:
    pair = readable(made(name)).example(WORDS, SOURCE, TARGET)
    assert WORDS.tokens(pair.source.tokens.tolist()) == [*SOURCE.split(), "[END]"]
    assert WORDS.tokens(pair.target.tokens.tolist()) == ["[START]", *TARGET.split()]
    with pytest.raises(ValueError, match="takes two texts, but one was given"):
        readable(made(name)).example(WORDS, SOURCE)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "seq2seq"])
def test_a_mask_of_its_own_says_which_position_may_look_where(name: str) -> None:
    model, read = made(name).eval(), batch()
    pairs = torch.zeros(3, read.target.size[1], read.source.size[1], dtype=torch.bool)
    pairs[:, 0, 0] = pairs[:, 1:, :2] = pairs[0, 2, 3] = True
    narrow = replace(read, cross=AttentionMask(pairs=pairs))
    with watch(model) as seen:
        said = model(narrow)
    [weights] = seen.attention("cross_attention") if name != "additive-seq2seq" else [
        torch.cat(seen.calls("cross_attention.weights"), 2)]
    allowed = pairs & read.source.padding_mask[:, None]
    assert not weights[:, 0][~allowed].any() and (weights[:, 0][allowed] > 0).all()
    assert torch.allclose(weights.sum(-1), torch.ones(()))
    assert not torch.allclose(said, model(read))


def test_without_attention_there_is_none_to_draw() -> None:
    with pytest.raises(ValueError, match="a Seq2Seq has no attention to show: its decoder receives only the encoder's "
                       "last state"):
        attention_maps(made("seq2seq"), WORDS, SOURCE, TARGET)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "seq2seq"])
@pytest.mark.parametrize(("text", "second", "said"), [
    (SOURCE, None, "takes two texts, but one was given"), ("", TARGET, "the text is empty"),
    (SOURCE, " \n", "the text is empty"), ("river " * 70, TARGET, "71 tokens long, and a view shows at most 64"),
])
def test_texts_that_cannot_be_drawn(name: str, text: str, second: str | None, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        attention_maps(made(name), WORDS, text, second)


def test_an_attention_of_another_kind_is_one_class_away() -> None:
    """A variant is its difference: a score of its own, and nothing else."""
    from plmlab.layers.alignment import DotAlignment

    class Distance(DotAlignment):
        scale, formula = None, "−|q − k|²"

        def score(self, queries, keys):
            return -torch.cdist(queries, keys) ** 2

    class DistanceSeq2Seq(DotSeq2Seq):
        alignment_class = Distance

    torch.manual_seed(0)
    model = DistanceSeq2Seq(Seq2SeqConfig(len(WORDS), model=8))
    found, = attention_maps(model, WORDS, SOURCE, TARGET)
    assert found.name == "cross" and isinstance(model.cross_attention, nn.Module)
    torch.testing.assert_close(found.weights[0].sum(-1), torch.ones(1, 4))
