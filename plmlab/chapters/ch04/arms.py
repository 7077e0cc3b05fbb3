"""The models that chapter 04 compares, each trained once a seed and kept, so that every experiment asks the same ones.

Written down before the runs, after pilots with seed 0, which are not recorded: 2,000 updates for an arm, and 6,000 for
the four that the bottleneck is judged by ("longer"), so that the two budgets tell whether a plateau is reached. A rate
for each arm, from pilots of 2,000 updates, by the loss on other passages; those in ``LIKE`` take another's.
"""

from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from plmlab.chapters.ch04.translation import Arm, development, learn, loss, new
from plmlab.models.seq2seq import Seq2Seq
from plmlab.models.transformer import Transformer
from plmlab.recipes import Parts, best_rates, spread
from plmlab.train import Diverged
from plmlab.weights import put, weights

SEEDS, PILOTS = (2, 3, 4), (9, 10)
UPDATES, LONGER = 2000, 6000
RATES = (3e-3, 1e-2, 3e-2)
DELAY = 20

ARMS = {
    "fixed": Arm("fixed"), "fixed, 32": Arm("fixed", 32),
    "general": Arm("general"), "general, 32": Arm("general", 32),
    "dot": Arm("dot"), "two-way": Arm("two-way"), "additive": Arm("additive"), "transformer": Arm("transformer"),
    "backwards": Arm("fixed", backwards=True),
    "delay": Arm("fixed", delay=DELAY), "delay, backwards": Arm("fixed", backwards=True, delay=DELAY),
}
MAIN = ("fixed", "fixed, 32", "general", "general, 32")
LIKE = {"dot": "general", "two-way": "general", "delay": "fixed", "delay, backwards": "backwards"}
"""The arms that take the rate of another."""


def rate_score(name: str, lr: float, seed: int) -> float:
    """How good a rate is: minus the loss on the passages to choose by."""
    try:
        model, _ = learn(ARMS[name], UPDATES, lr, seed, show=False)
    except Diverged:
        return -1e9
    return -loss(model, development(), ARMS[name])


def kept(folder: str, name: str, updates: int, seed: int) -> Path:
    """Where an arm's weights lie."""
    return Path(folder) / f"{name} {updates} {seed}.safetensors"


def train(folder: str, name: str, updates: int, lr: float, seed: int) -> float:
    """Train an arm and keep it; its loss on the passages to choose by."""
    model, _ = learn(ARMS[name], updates, lr, seed, show=False)
    Path(folder).mkdir(parents=True, exist_ok=True)
    save_file(weights(model), kept(folder, name, updates, seed))
    return loss(model, development(), ARMS[name])


def trained(folder: str, name: str, updates: int, seed: int) -> Seq2Seq | Transformer:
    """An arm that was kept."""
    model = new(ARMS[name], seed)
    put(model, load_file(kept(folder, name, updates, seed)))
    return model.eval()


def budgets(name: str) -> tuple[int, ...]:
    """The numbers of updates that an arm is trained for."""
    return (UPDATES, LONGER) if name in MAIN else (UPDATES,)


def trainings(parts: Parts) -> dict[str, Any]:
    """Train and keep all arms; name → ``lr``, the ``rates`` tried, whose they are (``like``), and ``loss``: number of
    updates → the loss in nats a token on the passages to choose by, with its spread."""
    found = best_rates(parts, rate_score, PILOTS, {(name,): RATES for name in ARMS if name not in LIKE})
    best = {name: found[LIKE.get(name, name),] for name in ARMS}
    folder = str(parts.folder)
    runs = parts(train, [(folder, name, updates, lr, seed) for name, (lr, _) in best.items()
                         for updates in budgets(name) for seed in SEEDS])
    return {name: {"lr": lr, "rates": list(scores.items()), "like": LIKE.get(name, name), "loss": {
        str(updates): spread({seed: runs[folder, name, updates, lr, seed] for seed in SEEDS})
        for updates in budgets(name)}} for name, (lr, scores) in best.items()}
