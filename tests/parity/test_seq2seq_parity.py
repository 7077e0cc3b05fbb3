"""Sequence to sequence: against torch's LSTMs, and with attention against loops over one position at a time."""

from dataclasses import replace
from itertools import groupby, product

import pytest
import torch
from alike import same, shaken
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from plmlab.decode import ConditionedDecoder, beam_search, exact_search
from plmlab.example import IGNORE, Batch, PairBatch, PairExample
from plmlab.models.seq2seq import (
    AdditiveSeq2Seq,
    BidirectionalSeq2Seq,
    DotSeq2Seq,
    GeneralSeq2Seq,
    Seq2Seq,
    Seq2SeqConfig,
)
from plmlab.objectives import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(46)
WIDTH = 6
LENGTHS = [(4, 3), (0, 5), (7, 1), (1, 0)]
ALL = [Seq2Seq, DotSeq2Seq, GeneralSeq2Seq, BidirectionalSeq2Seq, AdditiveSeq2Seq]
BOTH_WAYS = (BidirectionalSeq2Seq, AdditiveSeq2Seq)
every_model = pytest.mark.parametrize("kind", ALL)
one_or_two = pytest.mark.parametrize("layers", [1, 2])


def made(kind: type[Seq2Seq], layers: int = 1) -> Seq2Seq:
    return shaken(kind(Seq2SeqConfig(46, layers=layers, model=WIDTH)))  # type: ignore[return-value]


def pairs(*lengths: tuple[int, int]) -> list[PairExample]:
    """Pairs of so many source and target words; the source has [END] too, the target [START]."""
    draw = torch.Generator().manual_seed(3)
    return [sequence_to_sequence(*(torch.randint(39, 46, (n,), generator=draw).tolist() for n in both), vocab=VOCAB)
            for both in lengths]


def batch() -> PairBatch:
    return PairBatch.of(pairs(*LENGTHS), pad=0)


class Theirs(nn.Module):
    """The same of torch's parts; attention one source position at a time."""

    def __init__(self, ours: Seq2Seq) -> None:
        super().__init__()
        layers, kind = ours.config.layers, type(ours)
        self.additive = kind is AdditiveSeq2Seq
        self.token = nn.Embedding(46, WIDTH)
        self.ways = 1 + (kind in BOTH_WAYS)
        self.encoder = nn.LSTM(WIDTH, WIDTH // self.ways, layers, batch_first=True, bidirectional=self.ways == 2)
        self.decoder = nn.LSTM(WIDTH * (1 + self.additive), WIDTH, layers, batch_first=True)
        self.output = nn.Linear(WIDTH, 46)
        self.extra = nn.ParameterDict()
        state = {}
        for name, weight in ours.state_dict().items():
            state[self.name_of(name)] = weight.clone()
            if self.name_of(name).startswith("extra."):
                self.extra[self.name_of(name).removeprefix("extra.")] = nn.Parameter(weight.clone())
        self.double().load_state_dict(state)

    @staticmethod
    def name_of(name: str) -> str:
        """What a weight of ours is called here."""
        parts = name.split(".")
        if parts[0] in ("encoder", "decoder"):
            return f"{parts[0]}.{parts[-1]}_l{parts[2]}" + "_reverse" * (parts[4] == "1")
        return name if parts[0] in ("token", "output") else f"extra.{name.replace('.', '_')}"

    def score(self, s: Tensor, h: Tensor) -> Tensor:
        """How well a state matches a position, number by number."""
        each = range(WIDTH)
        if self.additive:
            w, u, v = (self.extra[f"cross_attention_{name}_weight"] for name in ("state", "source", "vote"))
            return sum(v[0, k] * (sum(w[k, i] * s[i] for i in each) + sum(u[k, j] * h[j] for j in each)).tanh()
                       for k in each)
        if "cross_attention_source_weight" in self.extra:
            between = self.extra["cross_attention_source_weight"]
            return sum(s[i] * between[i, j] * h[j] for i in each for j in each)
        return sum(s[i] * h[i] for i in each)

    def look(self, s: Tensor, shown: Tensor) -> Tensor:
        """The weighted mean of the source's positions."""
        parts = [self.score(s, h).exp() for h in shown]
        return sum(part / sum(parts) * h for part, h in zip(parts, shown, strict=True))

    def write(self, source: Tensor, target: Tensor) -> Tensor:
        """The logits of one text alone, position by position."""
        shown, last = self.encoder(self.token(source)[None])
        carried = tuple(torch.stack([torch.cat(list(layer), -1) for layer in vectors.split(self.ways)])
                        for vectors in last)
        logits = []
        for word in self.token(target):
            if self.additive:
                context = self.look(carried[0][-1, 0], shown[0])
                out, carried = self.decoder(torch.cat([word, context])[None, None], carried)
            else:
                out, carried = self.decoder(word[None, None], carried)
                context = self.look(out[0, 0], shown[0])
            said = (self.extra["combine_weight"] @ torch.cat([context, out[0, 0]])).tanh()
            logits.append(self.output.weight @ said + self.output.bias)
        return torch.stack(logits)


def same_gradients(ours: Seq2Seq, theirs: Theirs) -> None:
    found = dict(theirs.named_parameters())
    assert len(found) == len(list(ours.parameters()))
    for name, weight in ours.named_parameters():
        assert weight.grad is not None and weight.grad.abs().max() > 0, name
        same(weight.grad, found[theirs.name_of(name)].grad)


@one_or_two
def test_the_fixed_vector_is_two_lstms_of_torch(layers: int) -> None:
    ours, read = made(Seq2Seq, layers), batch()
    theirs = Theirs(ours)
    lengths = torch.tensor([source + 1 for source, _ in LENGTHS])
    packed = pack_padded_sequence(theirs.token(read.source.tokens), lengths, batch_first=True, enforce_sorted=False)
    shown, last = theirs.encoder(packed)
    logits = theirs.output(theirs.decoder(theirs.token(read.target.tokens), last)[0])
    mine = ours(read)
    same(mine, logits)
    same(ours.read(read.source)[0], pad_packed_sequence(shown, batch_first=True)[0])
    loss = F.cross_entropy(logits[read.targets != IGNORE], read.targets[read.targets != IGNORE])
    same(ours.loss(read), loss)
    ours.loss(read).backward()
    loss.backward()
    same_gradients(ours, theirs)


@one_or_two
@pytest.mark.parametrize("kind", ALL[1:])
def test_attention_is_loops_over_one_position_at_a_time(kind: type[Seq2Seq], layers: int) -> None:
    ours, read = made(kind, layers), batch()
    theirs = Theirs(ours)
    mine, losses = ours(read), []
    for row, (source, target) in enumerate(LENGTHS):
        alone = theirs.write(read.source.tokens[row, :source + 1], read.target.tokens[row, :target + 1])
        same(mine[row, :target + 1], alone)
        losses.append(F.cross_entropy(alone, read.targets[row, :target + 1], reduction="sum"))
    loss = sum(losses) / sum(target + 1 for _, target in LENGTHS)
    same(ours.loss(read), loss)
    ours.loss(read).backward()
    loss.backward()
    same_gradients(ours, theirs)


def test_all_say_different_things() -> None:
    """What the tests above hold against loops is not one model under several names."""
    said = [made(kind)(batch()) for kind in ALL]
    for i, one in enumerate(said):
        assert all((one - other).abs().max() > 1e-3 for other in said[:i])


@one_or_two
@every_model
def test_writing_step_by_step_is_the_whole_target_at_once(kind: type[Seq2Seq], layers: int) -> None:
    model = made(kind, layers)
    read = PairBatch.of(pairs((4, 6), (0, 6), (7, 6)), pad=0)
    whole, tokens, state = model(read), read.target.tokens, model.start(read.source)
    same(model.step(tokens[:, :3], state), whole[:, 2])
    same(model.step(tokens[:, 3:4], state), whole[:, 3])
    rows = torch.tensor([2, 0, 2, 1])
    state.select(rows)
    same(model.step(tokens[rows, 4:5], state), whole[rows, 4])
    state.select(torch.tensor([3, 0]))
    same(model.step(tokens[[1, 2], 5:], state), whole[[1, 2], 6])


@every_model
def test_what_stands_in_padding_changes_nothing(kind: type[Seq2Seq]) -> None:
    model, read = made(kind, 2), batch()
    whole = model(read)
    for row, (both, (_, target)) in enumerate(zip(pairs(*LENGTHS), LENGTHS, strict=True)):
        same(whole[row, :target + 1], model(PairBatch.of([both], pad=0))[0])
    noise = torch.where(read.source.padding_mask, read.source.tokens, 41)
    assert not torch.equal(noise, read.source.tokens)
    same(model(replace(read, source=replace(read.source, tokens=noise))), whole)


@every_model
def test_padding_is_not_looked_at_behind_a_mask_set_by_hand(kind: type[Seq2Seq]) -> None:
    """A mask that was edited is no longer known to be full: the batch then keeps it pair by pair."""
    model, (one, other) = made(kind), pairs((2, 3), (6, 3))
    edited = replace(one, source=replace(one.source, visible=one.source.visible.edited(0, 1, False)))
    read = PairBatch.of([edited, other], pad=0)
    assert read.source.visible.keys is None
    same(model(read)[0], model(PairBatch.of([one], pad=0))[0])


TINY = Vocabulary(6, pad=0, unk=None, cls=None, sep=None, mask=None, start=1, end=2, sentinels=())
LENGTH = 4


def ranking(model: Seq2Seq, source: list[int]) -> list[tuple[float, tuple[int, ...]]]:
    """Every text of the words 3, 4 and 5 with its log-probability, by reading it whole, beside those of its length; the
    likeliest first."""
    words = (3, 4, 5)
    texts = [(*text, 2) for n in range(LENGTH) for text in product(words, repeat=n)] + [*product(words, repeat=LENGTH)]
    assert len(texts) == 1 + 3 + 9 + 27 + 81
    chances = []
    for _, same_length in groupby(texts, len):
        ids = torch.tensor([*same_length])
        written = [text[:-1] if text[-1] == 2 else text for text in ids.tolist()]
        read = PairBatch.of([sequence_to_sequence(source, text, vocab=TINY) for text in written], pad=0)
        said = model(read)[:, :ids.shape[1]].softmax(-1)
        chances += said.gather(-1, ids[..., None]).prod(1)[:, 0].tolist()
    return sorted(zip(chances, texts, strict=True), reverse=True)


@every_model
@pytest.mark.parametrize("source", [[4, 3, 5], [5]])
def test_searches_find_the_head_of_all_texts_written_out(kind: type[Seq2Seq], source: list[int]) -> None:
    model = shaken(kind(Seq2SeqConfig(6, model=WIDTH)), seed=2)
    with torch.no_grad():
        ranked = ranking(model, source)
    given = ConditionedDecoder(model, Batch.of([sequence_to_sequence(source, [], vocab=TINY).source], pad=0))
    prompt = torch.tensor([[1]])
    exact = exact_search(given, prompt, TINY, length=LENGTH, count=7).best
    wide = beam_search(given, prompt, TINY, length=LENGTH, beam=121)[0]
    for found in (exact, wide[:7]):
        assert [text.tokens for text in found] == [text for _, text in ranked[:7]]
        same(torch.tensor([text.logprob for text in found], dtype=torch.float64).exp(),
             torch.tensor([chance for chance, _ in ranked[:7]], dtype=torch.float64))
