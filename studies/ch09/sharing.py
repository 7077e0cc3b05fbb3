"""ALBERT's claims about its two savings (Lan et al. 2020, tables 3 and 4; §4.4, §4.5): most of the drop from sharing
comes from the feed-forward sublayers, and factorizing the embeddings costs little. With E = 128 the average over five
tasks is 81.6 without sharing, 81.7 with shared attention, 80.2 with shared feed-forward sublayers, and 80.1 with both;
with E = 768 it is 82.3, 81.6, 79.5 and 79.8.

Variants: embeddings as wide as the model, without sharing (BERT) and with all parameters shared, and a quarter of its
width, with four kinds of sharing; all are trained for the same number of updates. Score: masked-LM loss above the exact
floor on the test set. Numbers of parameters are given by construction, so that there is no verdict on them.

**The criteria**, written before any run. "Separated" compares the highest seed of one variant with the lowest seed of
the other.

- "Most of the drop comes from the feed-forward sublayers": *supported*, if for every seed the excess loss with shared
  feed-forward sublayers is above that with shared attention, and the former is separated above that without sharing,
  all with E = H/4; *no effect at this size*, if neither is separated above it; otherwise *not supported*.
- "Factorizing costs little", without sharing: *supported*, if E = H/4 is not separated above E = H, or if on average it
  costs less than sharing all parameters at E = H; otherwise *not supported*.
- "Sharing saves no time": *supported*, if the fastest update with all parameters shared takes 0.95 to 1.05 times as
  long as without sharing. The paper's ratio (table 2), which its authors explain by less communication in distributed
  training and fewer computations (§4.3), is that of other models, so that a different result here is no contradiction.

All variants are masked language models without a second task. With embeddings as wide as the model there is no
projection; the variant that shares nothing is then BERT, with the tanh approximation of GELU.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.models.albert import ALBERT, ALBERTConfig, SharedAttentionALBERT, SharedFeedForwardALBERT, UnsharedALBERT
from plmlab.models.bert import MaskedLM
from plmlab.objectives import masked
from plmlab.recipes import Parts, separated
from plmlab.recipes.study import Run, Study
from plmlab.timing import fastest_in_turn
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.masked_test_set import masked_test_set
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch09.pretraining_tasks import flops_of_update

TIME, LAYERS, WIDTH, BATCH, RATE = 96, 4, 64, 64, 0.3
"""Learned positions, number and width of the layers, sentences per update, and the masking rate in training."""
SHARED = {"none": UnsharedALBERT, "attention": SharedAttentionALBERT, "feed-forward": SharedFeedForwardALBERT,
          "all": ALBERT}
"""What the layers share → the encoder."""
EMBEDDINGS = {"E = H": 1, "E = H/4": 4}
"""Width of the embeddings → width of the model relative to it."""
VARIANTS = (("E = H", "none"), ("E = H", "all"), *(("E = H/4", shared) for shared in SHARED))
"""Embeddings and what is shared: BERT, one saving at a time, and ALBERT."""
UPDATES, PILOT_UPDATES = 1500, 400
RATES = (1e-3, 3e-3, 1e-2)
TEST_SEED, DEVELOPMENT_SEED = 99, 98
UNTRAINED_EXCESS = 5.0
"""Excess loss, in nats, above which a model has learned nothing; a uniform distribution has 6.9."""
SAME_TIME, TIMED = (0.95, 1.05), 40
"""The ratio of two times that counts as equal, and the number of rounds in which they are measured."""


def build(embeddings: str, shared: str, seed: int) -> MaskedLM:
    """A variant with random weights."""
    class Variant(MaskedLM):
        encoder_class = SHARED[shared]

    torch.manual_seed(seed)
    return Variant(ALBERTConfig(len(world_tokenizer()), time=TIME, layers=LAYERS, model=WIDTH, inner=4 * WIDTH,
                                dropout=0.0, attention_dropout=0.0, embedding=WIDTH // EMBEDDINGS[embeddings]))


def batches(seed: int) -> ExampleBatches:
    """The training batches, the same for all variants: sentences of the world's training text."""
    return sentence_batches(world.full(), "train", world_tokenizer(), partial(masked, rate=RATE), BATCH, seed)


def train(model: nn.Module, embeddings: str, shared: str, *, updates: int, lr: float, seed: int, **options: Any,
          ) -> History:
    """Pretrain a variant; a tenth of the updates, at most 50, are warmup."""
    return fit(model, batches(seed), steps=updates, lr=lr, warmup=min(50, updates // 10), **options)


def parameters(model: MaskedLM) -> dict[str, int]:
    """Number of parameters, each shared one counted once: of the ``embeddings`` with their projection, of the
    ``layers``, and ``all``, which includes the masked-LM head and the pooler."""
    return {name: sum(weight.numel() for weight in module.parameters()) for name, module in (
        ("embeddings", model.encoder.embeddings), ("layers", model.encoder.layers), ("all", model))}


def update_seconds(rounds: int) -> dict[str, float]:
    """What is shared, "none" or "all" → seconds of the fastest of some updates (forward and backward), measured in
    turn."""
    batch: Any = batches(0)(0)
    return fastest_in_turn({shared: partial(_update, build("E = H/4", shared, 0), batch)
                            for shared in ("none", "all")}, rounds)


def _update(model: MaskedLM, batch: Any) -> None:
    model.loss(batch).backward()


@torch.no_grad()
def excess_loss(model: MaskedLM, seed: int) -> float:
    """Loss above the floor on the masked test set with a seed, in nats per masked word."""
    batch, floor = masked_test_set(world.full(), world_tokenizer(), seed)
    return float(model.eval().loss(batch)) - floor


def development(run: Run) -> float:
    """Negative excess loss on development data."""
    return -excess_loss(run.model, DEVELOPMENT_SEED)


def test(run: Run) -> dict[str, float]:
    """``excess``: loss above the floor on the test set, in nats per masked word."""
    return {"excess": excess_loss(run.model, TEST_SEED)}


STUDY = Study(
    name="sharing", arms=dict.fromkeys(VARIANTS, RATES), build=build, train=train, development=development, test=test,
    updates=(UPDATES,), nothing=-UNTRAINED_EXCESS, pilots=(9,), pilot_updates=PILOT_UPDATES)


def drop(excess: Mapping[str, Mapping[str, Any]]) -> str:
    """Verdict on "most of the drop comes from the feed-forward sublayers"; ``excess``: what is shared → summary of the
    excess loss over seeds."""
    none, attention, feed_forward = (excess[name] for name in ("none", "attention", "feed-forward"))
    if not (separated(feed_forward, none) or separated(attention, none)):
        return "no effect at this size"
    larger = all(one > other for one, other in zip(feed_forward["values"], attention["values"], strict=True))
    return "supported" if larger and separated(feed_forward, none) else "not supported"


def criteria(excess: Mapping[str, Mapping[str, Mapping[str, Any]]], ratio: float) -> dict[str, str]:
    """The criteria above, for embeddings → what is shared → summary of the excess loss, and the time of an update with
    all parameters shared relative to that without sharing."""
    full, small, shared = excess["E = H"]["none"], excess["E = H/4"]["none"], excess["E = H"]["all"]
    little = not separated(small, full) or small["mean"] < shared["mean"]
    return {"feed-forward": drop(excess["E = H/4"]),
            "factorizing": "supported" if little else "not supported",
            "time": "supported" if SAME_TIME[0] <= ratio <= SAME_TIME[1] else "not supported"}


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``floor`` of the test set, ``criteria``, ``seconds`` of an update by what is shared, and ``arms``: embeddings →
    what is shared → ``parameters``, ``flops`` of an update, ``lr``, the ``rates`` tried, and ``excess``, with
    spread."""
    told: dict[str, Any] = {embeddings: {} for embeddings in EMBEDDINGS}
    for (embeddings, shared, _), one in study.measure(parts).items():
        model = build(embeddings, shared, 0)
        told[embeddings][shared] = {"parameters": parameters(model), "flops": flops_of_update(model, batches(0)(0)),
                                    **one.as_record()}
    seconds = parts(update_seconds, [(TIMED,)])[TIMED,]
    excess = {embeddings: {shared: row["excess"] for shared, row in rows.items()} for embeddings, rows in told.items()}
    return {"floor": masked_test_set(world.full(), world_tokenizer(), TEST_SEED)[1], "seconds": seconds, "arms": told,
            "criteria": criteria(excess, seconds["all"] / seconds["none"])}
