"""Pretraining tasks between BERT and ELECTRA (Clark et al. 2020, §3.5, table 5), and the compute of an update.

The encoder is the same in all variants, so that fine-tuning is the same too. At the same masking rate, all variants
select the same positions of the same sentences. A variant is a pretraining task with one number: BERT's masking rate,
or the width of the generator relative to the encoder. ELECTRA and the three tasks between mask 15 %, with the authors'
corruption of the generator's input (`electra_85_15`). Not stated in the paper and chosen here: the loss of Replace MLM
and of All-Tokens MLM has the same weight as the generator's.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from random import Random
from statistics import mean
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.example import IGNORE, Batch, Example
from plmlab.flops import flops
from plmlab.models.electra import ELECTRAGenerator, ELECTRAPretraining, ELECTRAPretrainingConfig
from plmlab.objectives.masked import bert_80_10_10, electra_85_15, masked
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import world_tokenizer

TIME, LAYERS, WIDTH, BATCH = 96, 2, 64, 64
"""Learned positions, number and width of the layers, and sentences per update."""


class CopyMaskedLM(ELECTRAGenerator):
    """Masked language model with a copy mechanism: p(token) = D · [token is the input] + (1 − D) · softmax(token),
    where D is the copy probability, a sigmoid layer at each position."""

    def build_heads(self) -> None:
        """Create the masked-LM head and the layer of the copy probability."""
        super().build_heads()
        self.copy = nn.Linear(self.config.model, 1)

    def log_probs(self, hidden: Float[Tensor, "token model"], inputs: Tensor) -> Float[Tensor, "token vocab"]:
        """Log-probability of every token at positions whose input tokens are ``inputs``."""
        copy = self.copy(hidden)
        predicted = F.logsigmoid(-copy) + self.token_logits(hidden).log_softmax(-1)
        is_input = F.one_hot(inputs, self.config.vocab).bool()
        return torch.where(is_input, torch.logaddexp(F.logsigmoid(copy), predicted), predicted)

    def all_tokens_loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean of −log p(original token) over all real positions, [CLS] and [SEP] included, in nats."""
        real, originals = batch.padding_mask, torch.where(batch.targets == IGNORE, batch.tokens, batch.targets)
        return F.nll_loss(self.log_probs(self.encoder(batch)[real], batch.tokens[real]), originals[real])


class SelectedELECTRA(ELECTRAPretraining):
    """ELECTRA 15%: the discriminator's loss counts only the selected positions."""

    def discriminator_loss(self, corrupted: Batch, replaced: Bool[Tensor, "batch time"]) -> Float[Tensor, ""]:
        """Mean of −log p(original or replaced) over the selected positions, in nats."""
        selected = corrupted.targets != IGNORE
        logits = self.discriminator(corrupted)[selected]
        return F.binary_cross_entropy_with_logits(logits, replaced[selected].to(logits.dtype))


class ReplaceMLM(ELECTRAPretraining):
    """Replace MLM: a masked language model whose input shows the generator's samples instead of [MASK]."""

    discriminator_class = ELECTRAGenerator

    def discriminator_loss(self, corrupted: Batch, replaced: Bool[Tensor, "batch time"]) -> Float[Tensor, ""]:
        """Mean of −log p(original token) over the selected positions, in nats."""
        return self.discriminator.loss(corrupted)


class AllTokensMLM(ELECTRAPretraining):
    """All-Tokens MLM: Replace MLM that predicts the token at every position, with a copy mechanism."""

    discriminator_class = CopyMaskedLM

    def discriminator_loss(self, corrupted: Batch, replaced: Bool[Tensor, "batch time"]) -> Float[Tensor, ""]:
        """Mean of −log p(original token) over all real positions, in nats."""
        return self.discriminator.all_tokens_loss(corrupted)


TASKS: dict[str, tuple[type[ELECTRAPretraining], float]] = {
    "Replace MLM": (ReplaceMLM, 1.0), "ELECTRA 15%": (SelectedELECTRA, 50.0), "All-Tokens MLM": (AllTokensMLM, 1.0),
    "ELECTRA": (ELECTRAPretraining, 50.0)}
"""Pretraining task with a generator → its model, and the weight of the second network's loss relative to the
generator's."""


def build(task: str, choice: float, seed: int) -> Any:
    """A model of a pretraining task, with random weights; ``choice``: the masking rate, or the width of the generator.
    BERT is a masked language model with ELECTRA's encoder."""
    torch.manual_seed(seed)
    config = ELECTRAPretrainingConfig(len(world_tokenizer()), time=TIME, layers=LAYERS, model=WIDTH, inner=4 * WIDTH,
                                      dropout=0.0, attention_dropout=0.0)
    if task == "BERT":
        return ELECTRAGenerator(config.discriminator)
    model_class, weight = TASKS[task]
    return model_class(replace(config, fraction=choice, weight=weight))


def same_positions(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, **choices: Any) -> Example:
    """As ``masked``, but draw one number from ``rng`` for every sentence, so that the selected positions do not depend
    on how the tokens of earlier sentences are corrupted."""
    return masked(tokens, vocab=vocab, rng=Random(str(rng.random())), **choices)


def batches(task: str, choice: float, seed: int) -> ExampleBatches:
    """The training batches of a pretraining task: sentences of the world's training text."""
    rate, corrupt = (choice, bert_80_10_10) if task == "BERT" else (0.15, electra_85_15)
    objective: Callable[..., Example] = partial(same_positions, rate=rate, corrupt=corrupt)
    return sentence_batches(world.full(), "train", world_tokenizer(), objective, BATCH, seed)


def train(model: nn.Module, task: str, choice: float, *, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Pretrain a model; a tenth of the updates, at most 50, are warmup. The generator's samples depend on ``seed``
    too."""
    torch.manual_seed(seed)
    return fit(model, batches(task, choice, seed), steps=updates, lr=lr, warmup=min(50, updates // 10), **options)


def flops_of_update(model: Any, batch: Any) -> int:
    """`flops` of an update, forward and backward, the generator and the output layers included."""
    count = flops(lambda: model.loss(batch).backward())
    model.zero_grad()
    return count


@cache
def flops_per_update(task: str, choice: float) -> float:
    """Mean `flops_of_update` of a variant, over four batches."""
    with torch.random.fork_rng():
        model, text = build(task, choice, 0), batches(task, choice, 0)
        return mean(flops_of_update(model, text(step)) for step in range(4))


def updates_at(task: str, choice: float, *, budget: int) -> int:
    """The number of updates of a variant with the compute of ``budget`` updates of BERT with 15 %."""
    return round(budget * flops_per_update("BERT", 0.15) / flops_per_update(task, choice))
