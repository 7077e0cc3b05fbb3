"""RoBERTa and ALBERT: the papers' sizes, what is shared, what is masked when, and the variants of an ablation."""

from dataclasses import replace
from random import Random

import pytest
import torch
from parity.alike import same, shaken
from standin import SENTENCES
from torch import nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.listing import Unfilled
from plmlab.models.albert import (
    ALBERT,
    ALBERTConfig,
    ALBERTPretraining,
    SharedAttentionALBERT,
    SharedFeedForwardALBERT,
    UnsharedALBERT,
)
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.electra import ELECTRA, ELECTRAConfig, ELECTRADiscriminator
from plmlab.models.registry import model_type
from plmlab.models.roberta import RoBERTa, RoBERTaConfig
from plmlab.objectives import masked
from plmlab.text import Tokenizer
from plmlab.text.streams import examples
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)
SMALL = ALBERTConfig(90, time=24, layers=3, model=12, heads=3, inner=20, dropout=0.0, attention_dropout=0.0,
                     embedding=5)
EVERYTHING, NOTHING = ("attention", "attention_residual", "feed_forward", "feed_forward_residual"), ()
SHARES = {ALBERT: EVERYTHING, SharedAttentionALBERT: EVERYTHING[:2], SharedFeedForwardALBERT: EVERYTHING[2:],
          UnsharedALBERT: NOTHING}


def count(model: type[nn.Module], config: object) -> int:
    """Number of weights, without memory for them."""
    with torch.device("meta"), Unfilled():
        return sum(weight.numel() for weight in model(config).parameters())


def by_hand(vocab: int, embedding: int, model: int, inner: int, *, layers: int = 12, attention: int = 12,
            feed_forward: int = 12, segments: int = 2, time: int = 512) -> int:
    """Number of weights of an encoder with a pooler, of which so many attention and feed-forward sublayers have weights
    of their own."""
    embedded = (vocab + time + segments + 2) * embedding + (embedding != model) * (embedding + 1) * model
    heads, network = 4 * model * (model + 1) + 2 * model, 2 * model * inner + inner + 3 * model
    return embedded + min(layers, attention) * heads + min(layers, feed_forward) * network + model * (model + 1)


@pytest.mark.parametrize(("model", "config", "millions", "printed", "counted"), [
    (BERT, BERTConfig.base(), 109.5, 110, by_hand(30_522, 768, 768, 3072)),
    (BERT, BERTConfig.large(), 335.1, 340, by_hand(30_522, 1024, 1024, 4096, layers=24, attention=24, feed_forward=24)),
    (RoBERTa, RoBERTaConfig.base(), 124.6, 125, by_hand(50_265, 768, 768, 3072, segments=1)),
    (RoBERTa, RoBERTaConfig.large(), 355.4, 355,
     by_hand(50_265, 1024, 1024, 4096, layers=24, attention=24, feed_forward=24, segments=1)),
    (ALBERT, ALBERTConfig.base(), 11.7, 12, by_hand(30_000, 128, 768, 3072, attention=1, feed_forward=1)),
    (ALBERT, ALBERTConfig.large(), 17.7, 18, by_hand(30_000, 128, 1024, 4096, attention=1, feed_forward=1)),
    (ALBERT, ALBERTConfig.xxlarge(), 222.6, 235, by_hand(30_000, 128, 4096, 16_384, attention=1, feed_forward=1)),
    (ELECTRA, ELECTRAConfig.small(), 13.5, 14, by_hand(30_522, 128, 256, 1024)),
    (ELECTRA, ELECTRAConfig.base(), 109.5, 110, by_hand(30_522, 768, 768, 3072)),
])
def test_the_papers_sizes(model: type, config: BERTConfig, millions: float, printed: int, counted: int) -> None:
    """Beside the papers' figures, of which two differ by more than rounding: those of BERT-large and ALBERT-xxlarge."""
    found = count(model, config)
    assert found == counted and round(found / 1e6, 1) == millions
    assert (abs(found / 1e6 - printed) < 1) == (printed not in (340, 235))


def test_electra_s_count_is_of_the_discriminator() -> None:
    """Without the pooler, which is not pretrained, the base model has 109.5 million with its head, too."""
    pooler = 768 * 769
    assert round((count(ELECTRADiscriminator, ELECTRAConfig.base()) - pooler) / 1e6, 1) == 109.5


@pytest.mark.parametrize(("embedding", "model", "printed", "pooler"), [
    (64, ALBERT, 10, True), (128, ALBERT, 12, True), (256, ALBERT, 16, True), (768, ALBERT, 31, True),
    (128, SharedAttentionALBERT, 64, True), (768, SharedAttentionALBERT, 83, True),
    (128, SharedFeedForwardALBERT, 38, True), (768, SharedFeedForwardALBERT, 57, True),
    (64, UnsharedALBERT, 87, False), (128, UnsharedALBERT, 89, False), (256, UnsharedALBERT, 93, False),
    (768, UnsharedALBERT, 108, False),
])
def test_albert_s_tables_3_and_4(embedding: int, model: type, printed: int, pooler: bool) -> None:
    """The parameters, in millions, of ALBERT-base with embeddings of another width, and with less sharing. The paper's
    figures are those with the pooler where something is shared, and without it where nothing is."""
    found = count(model, replace(ALBERTConfig.base(), embedding=embedding))
    assert round((found - (not pooler) * 768 * 769) / 1e6) == printed


@pytest.mark.parametrize("kind", SHARES)
def test_what_is_shared(kind: type) -> None:
    """And nothing else: each pass through a layer that is not shared has weights of its own."""
    model = kind(SMALL)
    assert len(model.layers) == 3
    for part in EVERYTHING:
        parts = {id(getattr(layer, part)) for layer in model.layers}
        assert len(parts) == (1 if part in SHARES[kind] else 3), part
    own = (1 if "attention" in SHARES[kind] else 3, 1 if "feed_forward" in SHARES[kind] else 3)
    assert count(kind, SMALL) == by_hand(90, 5, 12, 20, layers=3, attention=own[0], feed_forward=own[1], time=24)


@pytest.mark.parametrize("kind", SHARES)
def test_shared_weights_add_up_their_gradients(kind: type) -> None:
    """A model that shares is the unshared one with equal weights: the same outputs, and the sum of the gradients."""
    model, apart = shaken(kind(SMALL)), UnsharedALBERT(SMALL).double().eval()
    apart.load_state_dict(model.state_dict())
    batch = Batch.of([masked(range(40, 40 + n), vocab=VOCAB, rng=Random(n)) for n in (9, 4)], pad=0)
    weighting = torch.linspace(-1, 1, 11 * 12, dtype=torch.float64).view(11, 12)
    for encoder in (model, apart):
        ((encoder(batch) * weighting)[batch.padding_mask]).sum().backward()
    same(model(batch), apart(batch))
    summed: dict[int, torch.Tensor] = {}
    named = dict(model.named_parameters(remove_duplicate=False))
    for name, weight in apart.named_parameters():
        if weight.grad is not None:
            summed[id(named[name])] = summed.get(id(named[name]), 0) + weight.grad
    for weight in model.parameters():
        assert weight.grad is None or torch.allclose(weight.grad, summed.pop(id(weight)), rtol=0, atol=1e-10)
    assert not summed


def test_embeddings_as_wide_as_the_model_are_not_projected() -> None:
    wide, narrow = (ALBERT(replace(SMALL, embedding=width)).embeddings for width in (12, 5))
    assert not [*wide.project.parameters()] and narrow.project.weight.shape == (12, 5)
    batch = Batch.of([masked([50, 51], vocab=VOCAB, rng=Random(0))], pad=0)
    summed = wide.token(batch.tokens) + wide.position(batch.position_ids[:, 0]) + wide.segment(batch.segments)
    torch.testing.assert_close(wide(batch), wide.norm(summed))


def test_the_order_of_sentences_is_asked_only_where_there_is_one() -> None:
    """A label of IGNORE counts for nothing; without any label only tokens are predicted."""
    model = shaken(ALBERTPretraining(SMALL))
    batch = Batch.of([masked(range(40, 49), pair=range(60, 60 + n), vocab=VOCAB, rng=Random(n)) for n in (3, 5, 4)],
                     pad=0)
    tokens = model.loss(batch)
    logits = model.sentence_order_logits(model.encoder(batch))
    for labels, texts in (([0, IGNORE, 1], [0, 2]), ([1, 1, 0], [0, 1, 2])):
        batch.labels["sentence_order"] = torch.tensor(labels)
        expected = F.cross_entropy(logits[texts], torch.tensor(labels)[texts])
        same(model.loss(batch), tokens + expected)
    batch.labels["sentence_order"] = torch.full((3,), IGNORE)
    same(model.loss(batch), tokens)
    batch.labels["next_sentence"] = batch.labels.pop("sentence_order")
    same(model.loss(batch), tokens)


def test_roberta_takes_no_notice_of_segments() -> None:
    model = shaken(RoBERTa(RoBERTaConfig(90, time=24, layers=2, model=12, heads=3, inner=20)))
    one = Batch.of([masked([50, 51, 52], pair=[60, 61], vocab=VOCAB, rng=Random(0))], pad=0)
    assert one.segments.any() and model.embeddings.segment.num_embeddings == 1
    same(model(one), model(replace(one, segments=torch.zeros_like(one.segments))))


@pytest.mark.parametrize("name", ["bert-pretraining", "roberta-pretraining"])
def test_masks_are_drawn_anew_each_time_a_text_is_read(name: str) -> None:
    """Dynamic masking: of one text, in forty updates, nearly every choice of positions is another one. The batch of an
    update is always the same."""
    tokenizer = Tokenizer.words([SENTENCES[12]], 100)
    objective = model_type(name).pretraining.objective
    batches = examples([SENTENCES[12]], tokenizer, objective, 1, 0, 30)
    chosen = [tuple((batches(step).targets[0] != IGNORE).nonzero()[:, 0].tolist()) for step in range(40)]
    assert len(set(chosen)) > 8
    assert torch.equal(batches(7).tokens, batches(7).tokens)
