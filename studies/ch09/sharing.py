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
"""

from collections.abc import Mapping
from typing import Any

import torch

from plmlab import world
from plmlab.models.bert import MaskedLM
from plmlab.recipes import Parts, separated
from plmlab.recipes.study import Run, Study
from plmlab.world.datasets.masked_test_set import masked_test_set
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch09.pretraining_tasks import flops
from studies.ch09.sharing_variants import EMBEDDINGS, VARIANTS, batches, build, parameters, train, update_seconds

UPDATES, PILOT_UPDATES = 1500, 400
RATES = (1e-3, 3e-3, 1e-2)
TEST_SEED, DEVELOPMENT_SEED = 99, 98
UNTRAINED_EXCESS = 5.0
"""Excess loss, in nats, above which a model has learned nothing; a uniform distribution has 6.9."""
SAME_TIME = (0.95, 1.05)


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
        told[embeddings][shared] = {"parameters": parameters(model), "flops": flops(model, batches(0)(0)),
                                    **one.as_record()}
    seconds = update_seconds()
    excess = {embeddings: {shared: row["excess"] for shared, row in rows.items()} for embeddings, rows in told.items()}
    return {"floor": masked_test_set(world.full(), world_tokenizer(), TEST_SEED)[1], "seconds": seconds, "arms": told,
            "criteria": criteria(excess, seconds["all"] / seconds["none"])}
