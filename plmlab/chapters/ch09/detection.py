"""Evaluation of ELECTRA's two networks: the generator's loss, and the discriminator beside the majority class."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.models.electra import ELECTRAPretraining, replace_tokens, sample


@dataclass(frozen=True)
class Detection:
    """Predictions of both networks on one batch; ``probability`` is the discriminator's p(replaced), the losses are in
    nats per token."""

    corrupted: Int[Tensor, "batch time"]
    selected: Bool[Tensor, "batch time"]
    replaced: Bool[Tensor, "batch time"]
    real: Bool[Tensor, "batch time"]
    probability: Float[Tensor, "batch time"]
    generator_loss: float
    loss: float

    @property
    def replaced_share(self) -> float:
        """Proportion of replaced tokens among the real tokens: 1 − the accuracy of the majority class."""
        return self.replaced[self.real].double().mean().item()

    @property
    def lucky_share(self) -> float:
        """Proportion of the samples that equal the original token, and so count as original."""
        return 1 - self.replaced[self.selected].double().mean().item()

    def scores(self) -> tuple[float, float, float]:
        """Accuracy, F1 of the class "replaced" and area under the ROC curve, over the real tokens."""
        from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

        labels, probability = self.replaced[self.real].numpy(), self.probability[self.real].numpy()
        return (float(accuracy_score(labels, probability > 0.5)), float(f1_score(labels, probability > 0.5)),
                float(roc_auc_score(labels, probability)))

    def constant_loss(self) -> float:
        """Loss of the constant prediction p(replaced) = the proportion of replaced tokens, in nats per token."""
        share = torch.tensor(self.replaced_share)
        return float(F.binary_cross_entropy(share, share))


@torch.no_grad()
def detect(model: ELECTRAPretraining, batch: Batch, seed: int = 0) -> Detection:
    """Sample a token at each target position of ``batch`` and classify every token. ``seed`` determines the samples."""
    selected, real = batch.targets != IGNORE, batch.padding_mask
    logits = model.generator(batch)[selected]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        corrupted, replaced = replace_tokens(batch, sample(logits))
    predicted = model(corrupted)
    return Detection(corrupted.tokens, selected, replaced, real, predicted.sigmoid(),
                     F.cross_entropy(logits, batch.targets[selected]).item(),
                     F.binary_cross_entropy_with_logits(predicted[real], replaced[real].float()).item())
