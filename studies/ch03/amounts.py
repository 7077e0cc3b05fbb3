"""N-gram models and the LSTM trained on 1,000 to 64,000 sentences of the full world, compared with the Bayes-optimal
predictor.

The rule was fixed before the run. For a given amount of text, the LSTM *wins* if its test loss is below that of the
best n-gram model (smoothing and order chosen on the development sentences) for all three seeds, and *loses* if it is
above for all three. The claim "an LSTM beats the best n-gram model on the same text" holds if the LSTM wins for every
amount, fails if it wins for none, and otherwise holds in part.

Each dropout rate has its own learning rate; only the dropout rate that is best on the development sentences is
evaluated.
"""

from math import log
from typing import Any

from plmlab.chapters.ch03.amounts import MOST, SMOOTHING_METHODS, WIDTH, best_loss, excess_loss, test_sentences, text
from plmlab.chapters.ch03.baselines import counted_losses, network_losses
from plmlab.models.recurrent import LSTMLanguageModel
from plmlab.recipes import Parts, rates_tried, seed_statistics
from plmlab.recipes.study import Run, Study
from plmlab.train import History
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch03 import lstm
from studies.ch03.ngrams import best_order, best_way, interpolated, smoothed

UPDATES = {1_000: 800, 8_000: 2500, MOST: 5000}
"""Training sentences → updates, in pilots too, because in short runs too high a learning rate looks best."""
DROPOUTS = {1_000: (0.0, 0.3), 8_000: (0.0, 0.3), MOST: (0.0,)}
"""Dropout is not tried where training takes only about three epochs."""
ARMS = {(size, dropout): (1e-2, 3e-2) for size, dropouts in DROPOUTS.items() for dropout in dropouts}


def build(size: int, dropout: float, seed: int) -> LSTMLanguageModel:
    """Return an untrained LSTM, initialized with ``seed``."""
    return lstm.build(len(world_tokenizer()), WIDTH, dropout, seed)


def train(model: LSTMLanguageModel, size: int, dropout: float, updates: int, lr: float, seed: int, **options: Any,
          ) -> History:
    """Train the LSTM on ``size`` sentences and return the run's history."""
    return lstm.train(model, text(size), updates, lr, seed, **options)


def development(run: Run) -> float:
    """Negative loss on the development sentences."""
    size, _ = run.arm
    return -network_losses(run.model, text(size), text(size).development).mean().item()


def test(run: Run) -> dict[str, Any]:
    """Test loss of an LSTM, its excess over the Bayes-optimal predictor's, and the training time in seconds."""
    size, _ = run.arm
    return {"loss": network_losses(run.model, text(size), text(size).test_set).mean().item(),
            "seconds": run.history.seconds, **excess_loss(run.model)}


STUDY = Study(name="amounts", arms=ARMS, build=build, train=train, development=development, test=test,
              updates={(size, dropout): (UPDATES[size],) for size, dropout in ARMS}, pilots=(8, 9),
              nothing=-log(len(world_tokenizer())), unequal="more sentences take more updates; at one amount all are "
                                                            "equal")


def counting(size: int, way: str) -> dict[str, Any]:
    """The best order for a smoothing method, the development loss of each order, the test loss, and its excess."""
    order, tried = best_order(text(size), smoothed(text(size), way))
    model = smoothed(text(size), way)(order)
    return {"order": order, "tried": {str(n): loss for n, loss in tried.items()},
            "loss": counted_losses(model, text(size).test_set).mean().item(), **excess_loss(model)}


def mixing(folder: str, size: int, dropout: float, updates: int, way: str, order: int, seed: int) -> dict[str, float]:
    """Interpolate a trained LSTM with the best n-gram model and return the test results."""
    model = STUDY.trained(folder, size, dropout, updates=updates, seed=seed)
    return interpolated(model, smoothed(text(size), way)(order), text(size))


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``sentences`` in the test set and its ``best`` (Bayes-optimal) loss; and by amount, each smoothing method and
    the ``LSTM`` with its learning rate, dropout and spread."""
    sizes = list(dict.fromkeys(size for size, _ in study.arms))
    outcomes = parts(counting, [(size, way) for size in sizes for way in SMOOTHING_METHODS])
    counted = {size: {way: outcomes[size, way] for way in SMOOTHING_METHODS} for size in sizes}
    ways = {size: best_way(counted[size]) for size in sizes}
    piloted = study.best(parts, [(*arm, *study.budgets(arm)) for arm in study.arms])
    tried = {size: {run: scores for run, (_, scores) in piloted.items() if run[0] == size} for size in sizes}
    best = {size: max(tried[size], key=lambda run: max(tried[size][run].values())) for size in sizes}
    nets = study.at(parts, {run: piloted[run] for run in best.values()})
    mixtures = {size: (str(parts.folder), *best[size], ways[size], counted[size][ways[size]]["order"])
                for size in sizes}
    mixed = parts(mixing, [(*mixture, seed) for mixture in mixtures.values() for seed in study.seeds])
    results: dict[str, Any] = {"sentences": len(test_sentences()), "best": best_loss(), "width": WIDTH, "amounts": {}}
    for size, (_, dropout, updates) in best.items():
        net = nets[best[size]]
        results["amounts"][str(size)] = {"best n-gram": ways[size], **counted[size], "LSTM": {
            "dropout": dropout, "lr": net.lr, "updates": updates,
            "tried": {f"{rate:g}": rates_tried(scores) for (_, rate, _), scores in tried[size].items()},
            **seed_statistics({seed: run | mixed[*mixtures[size], seed] for seed, run in net.runs.items()})}}
    return results
