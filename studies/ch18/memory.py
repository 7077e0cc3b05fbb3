"""Does a memory of entities store more facts than the same number of parameters in a Transformer? (Févry et al. 2020)

The variants are trained on the statements of the full world. In each training sentence, one of its two names is masked;
so is one name of a test sentence. A fact determines it, and other training sentences state this fact. The number of
[MASK]s reveals the number of words of the name, to all variants alike.

- *EaE*, and EaE *without linking*: without the linking loss at the memory, but with EntityPred.
- *EntityPred only*: a BERT with EntityPred, which learns from the same links but has no memory.
- *Wide BERT*, whose feed-forward layers are so wide that it has as many parameters as EaE with its memory.

A variant predicts the most probable of all names with this number of tokens, or the most probable entity of EntityPred,
whichever is better on the development sentences of that run. These sentences also choose the learning rate. Pilot runs
of the variants with entity labels have `PILOT_UPDATES`. Wide BERT has learned next to nothing by then, so its pilot
runs are as long as its runs.

The rules were fixed before the runs, the number of updates after pilot runs and one run of EaE with 2,500 updates. One
variant is better than another if every seed of the first is above every seed of the second by more than `MARGIN` in
accuracy.

- *Memory instead of parameters*: EaE is better than the wide BERT, after the same number of updates.
- *A memory, not only links*: EaE is better than EntityPred only.
- *Linking*: EaE is better than EaE without linking.

Baselines without a network are the most frequent entity of the relation, the entity that most often occurs together
with the visible name, and the name in the most similar training sentence by BM25, of all sentences or of those with the
visible name. Given this name and the relation, only one entity is correct.
"""

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.chapters.ch18.memory import ENTITY_STD, ENTITY_WIDTH, INNER, accuracies, bert, eae, train
from plmlab.example import Batch
from plmlab.layers.initialise import initialise
from plmlab.mentions import Mentions
from plmlab.models.bert import MaskedLM, classification_loss
from plmlab.models.eae import EaEPretraining, Reading
from plmlab.objectives.fine_tuning import label_of
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study, verdict
from plmlab.train import History
from plmlab.world.datasets.linked_statements import DEVELOPMENT, TEST, TRAIN, Statements, statements
from studies.ch18.entity_baselines import BASELINES

EAE, UNLINKED = "EaE", "EaE without linking"
NO_MEMORY, WIDE = "EntityPred only", "wide BERT"
RATES, WIDE_RATES = (3e-3, 1e-2, 3e-2), (1e-3, 3e-3, 1e-2)
UPDATES, PILOT_UPDATES = 5000, 1250
MARGIN = 0.02
NOTHING = 0.1
"""Upper bound of the accuracy of always predicting the most frequent entity (measured: 0.07)."""


class UnlinkedEaE(EaEPretraining):
    """EaE without the linking loss at its memory."""

    def losses_of(self, reading: Reading, batch: Batch) -> dict[str, Float[Tensor, ""]]:
        """EaE's losses but for linking."""
        return {name: loss for name, loss in super().losses_of(reading, batch).items() if name != "linking"}


class EntityPredBERT(MaskedLM):
    """BERT with EaE's EntityPred head but without a memory: entity vectors are used in the output only."""

    def __init__(self, plain: MaskedLM, entities: int, width: int) -> None:
        super().__init__(plain.config)
        self.entities = nn.Embedding(entities, width)
        self.entity_query = nn.Linear(2 * self.config.model, width)
        initialise(self.entity_query)
        nn.init.normal_(self.entities.weight, std=ENTITY_STD)

    def entity_logits(self, hidden: Float[Tensor, "batch time model"], mentions: Mentions,
                      ) -> Float[Tensor, "mention entity"]:
        """The logits of all entities for each mention, as in EaE."""
        return self.entity_query(mentions.ends(hidden)) @ self.entities.weight.T

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Masked-LM loss plus the loss of EntityPred, in nats."""
        hidden, mentions = self.encoder(batch), Mentions.of(label_of(batch, "mentions", "objectives.entity_mentions"))
        linked = mentions.at_first(label_of(batch, "entities", "objectives.entity_mentions"))
        return self.masked_lm_loss(hidden, batch) + classification_loss(self.entity_logits(hidden, mentions), linked)


def parameters(model: nn.Module) -> int:
    """The number of parameters."""
    return sum(weight.numel() for weight in model.parameters())


def equal_inner(data: Statements) -> int:
    """The width of feed-forward layers with which a BERT has the number of parameters of EaE."""
    small = bert(data)
    missing = parameters(eae(data)) - parameters(small)
    return INNER + round(missing / (small.config.layers * (2 * small.config.model + 1)))


def build(variant: str, seed: int) -> MaskedLM:
    """A variant with random weights."""
    torch.manual_seed(seed)
    data = statements()
    kinds = {EAE: EaEPretraining, UNLINKED: UnlinkedEaE}
    if variant in kinds:
        return eae(data, kinds[variant])
    plain = bert(data, equal_inner(data) if variant == WIDE else INNER)
    return EntityPredBERT(plain, len(data.ids), ENTITY_WIDTH) if variant == NO_MEMORY else plain


def learn(model: MaskedLM, variant: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a variant."""
    return train(model, statements(), updates, lr, seed, **options)


def best_way(model: MaskedLM) -> tuple[str, float]:
    """The way of predicting an entity that is better on the development sentences, and its accuracy there."""
    found = accuracies(model, statements(), statements().clozes[DEVELOPMENT])
    return max(found.items(), key=lambda item: item[1])


def development_score(run: Run) -> float:
    """Accuracy on the development sentences."""
    return best_way(run.model)[1]


def test(run: Run) -> dict[str, float]:
    """Accuracy on the test sentences, in the best way and in each way, and on training sentences."""
    data, (way, _) = statements(), best_way(run.model)
    found, learned = (accuracies(run.model, data, some) for some in
                      (data.clozes[TEST], data.clozes[TRAIN][:len(data.clozes[TEST])]))
    return {"accuracy": found[way], "training sentences": learned[way], **found, "parameters": parameters(run.model)}


STUDY: Study[MaskedLM] = Study(
    name="memory", arms={(name,): RATES for name in (EAE, UNLINKED, NO_MEMORY)}, build=build, train=learn,
    development=development_score, test=test, nothing=NOTHING, pilots=(9,), updates=(UPDATES,),
    pilot_updates=PILOT_UPDATES)
WIDE_STUDY = replace(STUDY, arms={(WIDE,): WIDE_RATES}, pilot_updates=None)
"""The variant without entity labels."""


def baseline_scores() -> dict[str, float]:
    """Accuracy of the baselines and of two models before training on the test sentences."""
    data = statements()
    return {**{name: fmean(rule(cloze) == cloze.entity for cloze in data.clozes[TEST])
               for name, rule in ((name, make(data)) for name, make in BASELINES.items())},
            **{f"untrained {name}": max(accuracies(build(name, 0), data, data.clozes[TEST]).values())
               for name in (EAE, WIDE)}}


def measure(parts: Parts) -> dict[str, Any]:
    """``runs``: variant → ``lr``, ``rates`` and the numbers of `test` with spread; the ``verdicts`` on the claims; and
    the accuracy of the ``baselines``."""
    runs = {name: one.as_record() for study in (STUDY, WIDE_STUDY) for (name, _), one in study.measure(parts).items()}
    return {"runs": runs, "verdicts": verdicts(runs), "baselines": parts(baseline_scores, [()])[()]}


def verdicts(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The verdict on each claim of the module's docstring."""
    claims = {"memory instead of parameters": WIDE, "a memory, not only links": NO_MEMORY, "linking": UNLINKED}
    return {claim: verdict(runs[EAE]["accuracy"], runs[other]["accuracy"], MARGIN) for claim, other in claims.items()}
