"""ELECTRA: what the discriminator is told, what the generator learns from, and what the two networks share."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch
from parity.alike import same, shaken
from standin import SENTENCES
from torch import Tensor
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.labs import ClozeLab
from plmlab.models import electra
from plmlab.models.electra import ELECTRA, ELECTRAPretraining, ELECTRAPretrainingConfig, replace_tokens, sample
from plmlab.models.registry import model_type
from plmlab.models.task_heads import SentenceClassifier, SpanClassifier, TokenClassifier
from plmlab.objectives import electra_85_15, masked, sequence_classification
from plmlab.pretraining.plan import Plan
from plmlab.text import Tokenizer
from plmlab.text.streams import examples
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.weights import weights

VOCAB = Vocabulary(90)
MASK = VOCAB.need("mask")
TEXT = list(range(40, 60))
SMALL = ELECTRAPretrainingConfig(90, time=24, layers=2, model=16, heads=2, inner=32, dropout=0.0, attention_dropout=0.0)

pytestmark = pytest.mark.usefixtures("one_thread")


def pair(**settings: object) -> ELECTRAPretraining:
    return shaken(ELECTRAPretraining(replace(SMALL, **settings)))


def read(rate: float = 0.4) -> Batch:
    """Two texts of different length."""
    return Batch.of([masked(TEXT[:n], vocab=VOCAB, rng=Random(n), rate=rate, corrupt=electra_85_15) for n in (14, 9)],
                    pad=VOCAB.need("pad"))


def grads(model: ELECTRAPretraining) -> dict[str, Tensor | None]:
    found = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad()
    return found


def test_a_sample_that_is_right_is_original() -> None:
    """The golden example: five tokens are selected; two samples are what was there, one of which was never hidden."""
    example = masked([40, 41, 42, 43, 44], vocab=VOCAB, rng=Random(0), select=[1, 2, 3, 5],
                     corrupt=lambda token, vocab, rng: token if token == 44 else MASK)
    batch = Batch.of([example], pad=0)
    cls, sep = VOCAB.need("cls"), VOCAB.need("sep")
    assert batch.tokens.tolist() == [[cls, MASK, MASK, MASK, 43, 44, sep]]
    corrupted, replaced = replace_tokens(batch, torch.tensor([40, 77, 88, 44]))
    assert corrupted.tokens.tolist() == [[cls, 40, 77, 88, 43, 44, sep]]
    assert replaced.tolist() == [[False, False, True, True, False, False, False]]
    _, other = replace_tokens(batch, torch.tensor([41, 41, 42, 45]))
    assert other.tolist() == [[False, True, False, False, False, True, False]]


def test_the_loss_is_that_of_all_real_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = pair(), read()
    is_target, real = batch.targets != IGNORE, batch.padding_mask
    samples = (batch.targets[is_target] + torch.arange(int(is_target.sum())) % 2).clamp(max=89)
    monkeypatch.setattr(electra, "sample", lambda logits: samples)
    corrupted, replaced = replace_tokens(batch, samples)
    signs = torch.where(replaced, -1.0, 1.0)
    by_hand = F.softplus(signs * model(corrupted))[real]
    assert len(by_hand) == 16 + 11 and replaced.sum() == len(samples) // 2
    mlm = model.generator.loss(batch)
    same(model.loss(batch), mlm + 50 * by_hand.mean())
    same(pair(weight=1.0).loss(batch), mlm + by_hand.mean())


def test_no_gradient_flows_through_a_sample() -> None:
    """The generator's own weights learn from its own loss alone; the discriminator's from the other. What they share
    learns from both."""
    model, batch = pair(), read()
    torch.manual_seed(5)
    model.loss(batch).backward()
    both = grads(model)
    model.generator.loss(batch).backward()
    generated = grads(model)
    with torch.no_grad():
        torch.manual_seed(5)
        logits = model.generator(batch)[batch.targets != IGNORE]
        corrupted, replaced = replace_tokens(batch, sample(logits))
    (50 * model.discriminator.replaced_token_loss(corrupted, replaced)).backward()
    judged = grads(model)
    shared = 0
    for name, grad in both.items():
        if ".pooler." in name:
            assert grad is None
        elif name.startswith("generator"):
            same(grad, generated[name])
            assert judged[name] is None
        elif ".embeddings." in name:
            shared += 1
            same(grad, generated[name] + judged[name])
            assert generated[name].any() and judged[name].any()
        else:
            same(grad, judged[name])
            assert generated[name] is None
    assert shared == 5  # token, position, segment, and the LayerNorm's two


def test_a_sample_is_drawn_from_the_whole_distribution() -> None:
    """With torch's own random state; the most likely token is not always it."""
    logits = torch.tensor([2.0, 1.0, 0.0, -torch.inf]).log_softmax(-1).expand(20_000, -1)
    torch.manual_seed(0)
    drawn = sample(logits)
    torch.testing.assert_close(drawn.bincount(minlength=4) / len(drawn), logits[0].exp(), atol=0.015, rtol=0)
    torch.manual_seed(0)
    assert torch.equal(sample(logits), drawn) and not torch.equal(sample(logits), drawn)
    assert not sample(logits.clone().requires_grad_()).requires_grad


@pytest.mark.parametrize(("embedding", "projected"), [(None, False), (16, False), (8, True), (40, True)])
def test_the_two_share_their_embeddings(embedding: int | None, projected: bool) -> None:
    """Each has its own projection to its own width, the discriminator only if it needs one."""
    model = ELECTRAPretraining(replace(SMALL, embedding=embedding))
    one, other = model.encoder.embeddings, model.generator.encoder.embeddings
    for part in ("token", "position", "segment", "norm"):
        assert getattr(one, part) is getattr(other, part)
    assert one.token.embedding_dim == (embedding or 16) and bool([*one.project.parameters()]) == projected
    assert other.project.weight.shape == (4, embedding or 16)
    assert not any("generator.encoder.embeddings.token" in name for name in weights(model))
    layers = model.generator.encoder.layers
    assert len(layers) == 2 and layers[0].feed_forward.up.out_features == 16


def test_the_generator_s_size_is_a_fraction_of_the_discriminator_s() -> None:
    """As in the authors' code: heads of 64, feed-forward networks of four times the width, as many layers."""
    base, small = ELECTRAPretrainingConfig.base().generator, ELECTRAPretrainingConfig.small()
    assert (base.model, base.heads, base.inner, base.layers, base.embedding) == (256, 4, 1024, 12, 768)
    assert (small.generator.model, small.generator.heads, small.generator.embedding) == (64, 1, 128)
    assert small.discriminator == electra.ELECTRAConfig.small() and type(small.discriminator) is electra.ELECTRAConfig


def test_of_the_selected_85_percent_are_hidden() -> None:
    rng, kept = Random(0), 0
    for token in range(40, 90):
        for _ in range(200):
            shown = electra_85_15(token, VOCAB, rng)
            assert shown in (token, MASK)
            kept += shown == token
    assert kept / 10_000 == pytest.approx(0.15, abs=0.015)
    how = model_type("electra-pretraining").pretraining
    example = how.objective(TEXT * 40, vocab=VOCAB, rng=Random(1), rate=0.5)
    selected = example.targets != IGNORE
    shown = example.tokens[selected]
    assert ((shown == MASK) | (shown == example.targets[selected])).all()
    assert (shown == MASK).double().mean().item() == pytest.approx(0.85, abs=0.06)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.words([SENTENCES[12], SENTENCES[30]], 100)


def trained(tokenizer: Tokenizer, steps: int = 4, **options: object) -> tuple[ELECTRAPretraining, list[float]]:
    torch.manual_seed(0)
    model = ELECTRAPretraining(replace(SMALL, vocab=len(tokenizer), time=40))
    objective = model_type("electra-pretraining").pretraining.objective
    batches = examples([SENTENCES[12], SENTENCES[30]], tokenizer, objective, 4, 0, 30)
    return model, fit(model, batches, steps=steps, lr=1e-3, decay="none", show=False, **options).losses


@pytest.mark.parametrize("way", ["evaluated", "stopped"])
def test_samples_are_the_same_after_a_stop_and_beside_an_evaluation(way: str, tokenizer: Tokenizer, tmp_path: Path,
                                                                    ) -> None:
    """Their random state is saved with the run, and an evaluation, which samples too, leaves it as it was."""
    model, losses = trained(tokenizer)
    if way == "evaluated":
        batches = examples([SENTENCES[12]], tokenizer, masked, 2, 7, 30)
        other, again = trained(tokenizer, evaluate=[batches(0)], evaluate_every=1)
    else:
        trained(tokenizer, 2, save_to=tmp_path / "run")
        torch.manual_seed(99)
        other, again = trained(tokenizer, save_to=tmp_path / "run", resume="longer")
    assert again == losses
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)


@pytest.mark.parametrize("head", [SentenceClassifier, TokenClassifier, SpanClassifier])
def test_the_discriminator_alone_is_fine_tuned(head: type, tokenizer: Tokenizer) -> None:
    model, _ = trained(tokenizer)
    tuned = head.from_pretrained(model.encoder)
    assert type(tuned.encoder) is ELECTRA and not any("generator" in name for name, _ in tuned.named_parameters())
    if head is SentenceClassifier:
        batch = Batch.of([sequence_classification(tokenizer.encode(text), kind, vocab=tokenizer.vocab)
                          for kind, text in enumerate((SENTENCES[12], SENTENCES[30]))], pad=0)
        before = {name: weight.clone() for name, weight in weights(model).items()}
        losses = fit(tuned, lambda _: batch, steps=60, lr=3e-3, warmup=6, show=False).losses
        assert losses[-1] < 0.5 * losses[0]
        assert all(torch.equal(weight, before[name]) for name, weight in weights(model).items())


def test_the_generator_fills_gaps_the_discriminator_names_no_words(tokenizer: Tokenizer) -> None:
    model, _ = trained(tokenizer)
    assert ClozeLab(model.generator, tokenizer, SENTENCES[12], hide=["fox"]).state["gaps"]
    with pytest.raises(ValueError, match="a ELECTRAPretraining has no masked-language-model head"):
        ClozeLab(model, tokenizer, SENTENCES[12])


def test_the_rate_of_selected_tokens_is_chosen_as_for_bert(tmp_path: Path) -> None:
    """Its objective is a masked language model with a corruption of its own."""
    plan = Plan("electra", "world", str(tmp_path / "made"), choose="rate=0.25")
    assert plan.choices == {"rate": 0.25}
    with pytest.raises(ValueError, match=r"the objective of electra has the parameters rate=0\.05 … 0\.6"):
        Plan("electra", "world", str(tmp_path / "made"), choose="span=3")
