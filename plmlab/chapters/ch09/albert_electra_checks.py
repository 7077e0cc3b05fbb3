"""Checks that the notebook's ALBERT and its loss of ELECTRA equal plmlab's; wrong versions fail at least one."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.checks import Checks
from plmlab.example import IGNORE, Batch
from plmlab.models.albert import ALBERT, ALBERTConfig, UnsharedALBERT
from plmlab.models.electra import ELECTRAPretraining, ELECTRAPretrainingConfig, replace_tokens, rtd_input, sample
from plmlab.objectives import masked
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.visibility import AttentionMask

VOCAB = Vocabulary(30)


def albert(mini: Callable[..., Any]) -> Checks:
    """Compare ``mini(vocab, E, H, heads, inner, layers)``, the notebook's ALBERT, with plmlab's, without the pooler."""
    torch.manual_seed(0)
    size = ALBERTConfig(30, 512, 3, 16, 2, 32, dropout=0.0, attention_dropout=0.0, embedding=6)
    theirs: Any = ALBERT(size).eval()
    unshared: Any = UnsharedALBERT(size).eval()
    ours = mini(30, 6, 16, 2, 32, 3).eval()
    for weight in theirs.parameters():
        nn.init.normal_(weight, std=0.5)
    sources = [*theirs.embeddings.parameters(), *_layer_weights(theirs.layers[0])]
    targets = [weight for part in (ours.token, ours.position, ours.segment, ours.norm, ours.project, ours.layer)
               for weight in part.parameters()]
    checks = {"weights have the same shapes": [w.shape for w in targets] == [w.shape for w in sources],
              "one layer of parameters": sum(w.numel() for w in ours.parameters()) == sum(w.numel() for w in sources)}
    if not checks["weights have the same shapes"]:
        return checks
    for target, source in zip(targets, sources, strict=True):
        target.data = source.detach().clone()
    batch = Batch.of([masked(range(7, 7 + n), pair=[20, 21], vocab=VOCAB, rng=Random(0)) for n in (9, 4)], pad=0)
    real = batch.padding_mask

    def equal() -> bool:
        with torch.no_grad():
            return torch.allclose(ours(batch.tokens, batch.segments, ~real)[real], theirs(batch)[real], atol=1e-4)

    checks["outputs equal, with padding"] = equal()
    unshared.load_state_dict(theirs.state_dict())
    for model in (theirs, unshared):
        model(batch)[real].square().sum().backward()
    shared, separate = ([layer.feed_forward.up.weight.grad for layer in model.layers] for model in (theirs, unshared))
    checks["shared gradient = sum over the 3 layers"] = torch.allclose(
        shared[0], torch.stack(separate).sum(0), rtol=1e-3, atol=1e-3)
    with torch.no_grad():
        theirs.layers[0].feed_forward.up.bias.add_(0.3)
        ours.layer.linear1.bias.add_(0.3)
    return checks | {"outputs equal after one weight has changed": equal()}


def _layer_weights(layer: Any) -> list[Tensor]:
    """The weights of a layer in the order of ``nn.TransformerEncoderLayer``."""
    attention, feed_forward = layer.attention, layer.feed_forward
    joined = [torch.cat([getattr(getattr(attention, name), kind) for name in "qkv"]) for kind in ("weight", "bias")]
    parts = (attention.out, feed_forward.up, feed_forward.down, layer.attention_residual.norm,
             layer.feed_forward_residual.norm)
    return [*joined, *(weight for part in parts for weight in part.parameters())]


def electra(loss: Callable[..., Tensor]) -> Checks:
    """Compare ``loss(generator, discriminator, batch)``, the notebook's, with that of plmlab's ELECTRA, and check the
    toy of section 3: the samples 20 and 11 for the tokens 10 and 11."""
    model, batch, seen = small_electra(), texts(), list[list[list[int]]]()

    def discriminator(toy: Batch) -> Tensor:
        seen.append(toy.tokens.tolist())
        return torch.tensor([[1.0, -1.0, -2.0]])

    toy = Batch(torch.tensor([[4, 4, 12]]), torch.arange(3)[None, None], torch.zeros(1, 3, dtype=torch.long),
                AttentionMask(), torch.tensor([[10, 11, IGNORE]]))
    logits = torch.full((1, 3, 30), -1e4)
    logits[0, 0, 20] = logits[0, 1, 11] = 0
    toy_loss = loss(lambda _: logits, discriminator, toy) - F.cross_entropy(logits[0, :2], toy.targets[0, :2])
    (ours, gradients), (theirs, expected) = (_differentiated(model, compute) for compute in (
        lambda: loss(model.generator, model.discriminator, batch), lambda: model.loss(batch)))
    embeddings = [part.encoder.embeddings for part in (model.generator, model.discriminator)]
    return {
        "loss equal, with padding": torch.allclose(ours, theirs, rtol=1e-4),
        "all gradients equal": all((one is other) if one is None or other is None else torch.allclose(
            one, other, rtol=1e-3, atol=1e-3) for one, other in zip(gradients, expected, strict=True)),
        "toy input is x b c": seen == [[[20, 11, 12]]],
        "toy loss is 50 · 0.25": abs(float(toy_loss) / 50 - (0.3133 + 0.3133 + 0.1269) / 3) < 0.001,
        "embeddings shared, not copied": all(getattr(embeddings[0], part) is getattr(embeddings[1], part)
                                             for part in ("token", "position", "segment", "norm")),
        "same samples after a resume": _losses(2, 4) == _losses(4),
    }


def small_electra() -> ELECTRAPretraining:
    """A small ELECTRA with large random weights, whose generator prefers the tokens 7 and 8."""
    torch.manual_seed(0)
    model = ELECTRAPretraining(ELECTRAPretrainingConfig(30, 24, 1, 16, 2, 32, dropout=0.0, attention_dropout=0.0))
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.3)
    model.generator.bias.data[7:9] += 8
    return model


def texts() -> Batch:
    """Two texts of different length of the tokens 7 and 8, so that many samples are correct; half are selected."""
    rows = [[7 + t % 2 for t in range(n)] for n in (16, 5)]
    return Batch.of([rtd_input(row, vocab=VOCAB, rng=Random(len(row)), rate=0.5) for row in rows], pad=0)


def reached_weights() -> dict[str, tuple[int, int]]:
    """Weight tensors of the generator alone, of both networks and of the discriminator alone: how many there are, and
    how many have a gradient of the discriminator's loss."""
    model, batch = small_electra(), texts()
    logits = model.generator(batch)[batch.targets != IGNORE]
    model.discriminator.replaced_token_loss(*replace_tokens(batch, sample(logits))).backward()
    one, other = ({id(weight) for weight in part.parameters()} for part in (model.generator, model.discriminator))
    reached = {id(weight) for weight in model.parameters() if weight.grad is not None and weight.grad.any()}
    return {name: (len(ids), len(ids & reached)) for name, ids in {
        "the generator's own weights": one - other, "shared embeddings": one & other,
        "the discriminator's other weights": other - one}.items()}


def _differentiated(model: nn.Module, compute: Callable[[], Tensor]) -> tuple[Tensor, list[Tensor | None]]:
    """A loss and the gradients of all weights; the samples are drawn with the same seed each time."""
    torch.manual_seed(7)
    model.zero_grad()
    loss = compute()
    loss.backward()
    return loss.detach(), [weight.grad for weight in model.parameters()]


def _losses(*stops: int) -> list[float]:
    """Training losses of a run that is stopped after each number of steps and resumed with another random state."""
    batch = texts()
    with TemporaryDirectory() as folder:
        for place, steps in enumerate(stops):
            model = small_electra()
            torch.manual_seed(place)
            history = fit(model, lambda _: batch, steps=steps, lr=1e-3, decay="none", show=False,
                          save_to=Path(folder) / "run", resume="longer")
    return history.losses
