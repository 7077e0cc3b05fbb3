"""The closed-book baseline: a BERT that is trained on the documents of a world and then evaluated without documents.
One model has the size of the reader, and one twice as many layers.

Unlike REALM, it is trained on the world on which it is evaluated. Its learning rate is the best of a grid on the
development world. The larger model is initialized by stacking the layers of the bundled BERT (as in Gong et al. 2019).
"""

from dataclasses import replace
from random import Random
from typing import Any

import torch

from plmlab.chapters.ch16.arms import questions
from plmlab.chapters.ch16.corpora import DEVELOPMENT, TEST_WORLDS, Corpus, corpus
from plmlab.chapters.ch16.warm_start import bert
from plmlab.draws import choice, randint
from plmlab.example import Batch, Example
from plmlab.models.bert import BERTPretraining
from plmlab.objectives.layouts import cls_first
from plmlab.objectives.masked import masked
from plmlab.objectives.reader_inputs import mask_positions
from plmlab.recipes import Parts, rates_tried, seed_statistics, tune_learning_rate
from plmlab.train import fit
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

UPDATES, BATCH = 600, 32
RATES = (1e-4, 3e-4, 1e-3)
STACKS = (1, 2)
"""How many copies of BERT's layers are stacked."""


def stacked(times: int) -> BERTPretraining:
    """The bundled BERT with its pretrained layers stacked this many times."""
    pretrained = bert()
    made = BERTPretraining(replace(pretrained.config, layers=times * pretrained.config.layers))
    weights = pretrained.state_dict()
    for name, tensor in made.state_dict().items():
        parts = name.split(".")
        if "layers" in parts:
            place = parts.index("layers") + 1
            parts[place] = str(int(parts[place]) % pretrained.config.layers)
        tensor.copy_(weights[".".join(parts)])
    return made


def passage(told: Corpus, rng: Random) -> Example:
    """The title of a block with some of its consecutive sentences, in half of the cases only one; 15 % of the tokens
    are masked, as in BERT."""
    block = choice(rng, told.blocks)
    first = randint(rng, len(block.sentences))
    last = first + 1 if rng.random() < 0.5 else len(block.sentences)
    words = [*block.title.split(), *" ".join(block.sentences[first:last]).split()]
    return masked(ids(words), vocab=world_tokenizer().vocab, rng=rng)


def read(model: BERTPretraining, world: int, lr: float, seed: int) -> None:
    """Train a BERT on the documents of a world."""
    told, pad = corpus(world), world_tokenizer().vocab.need("pad")
    fit(model, lambda step: Batch.of([passage(told, Random(f"{seed}:{step}:{row}")) for row in range(BATCH)], pad=pad),
        steps=UPDATES, lr=lr, warmup=UPDATES // 10, compile=False, precision="float32", show=False)


@torch.no_grad()
def right(model: BERTPretraining, world: int) -> float:
    """Accuracy on a world's statements."""
    vocab, asked = world_tokenizer().vocab, questions(world)
    batch = Batch.of([mask_positions(cls_first(one.tokens, None, vocab), one.salient, vocab) for one in asked],
                     pad=vocab.need("pad"))
    said = model(batch).argmax(2)
    return float(((said == batch.targets) | (batch.targets < 0)).all(1).double().mean())


def after_reading(times: int, lr: float, world: int) -> float:
    """Accuracy of a BERT with stacked layers on a world, after training on the documents of this world."""
    torch.manual_seed(0)
    model = stacked(times)
    read(model, world, lr, 0)
    return right(model, world)


def before_reading(world: int) -> float:
    """Accuracy of the bundled BERT on a world that it was not trained on."""
    return right(bert().eval(), world)


def measure(parts: Parts) -> dict[str, Any]:
    """The accuracy ``before`` any training on the world; and number of stacks → ``lr``, the ``rates`` tried on the
    development world, and the accuracy, with its spread over the test worlds."""
    found: dict[str, Any] = {"before": seed_statistics({world: parts(before_reading, [(world,)])[world,]
                                                        for world in TEST_WORLDS})}
    for times in STACKS:
        def tried(rates: Any, times: int = times) -> dict[float, float]:
            told = parts(after_reading, [(times, lr, DEVELOPMENT) for lr in rates])
            return {lr: told[times, lr, DEVELOPMENT] for lr in rates}
        lr, rates = tune_learning_rate(tried, RATES)
        runs = parts(after_reading, [(times, lr, world) for world in TEST_WORLDS])
        found[str(times)] = {"lr": lr, "rates": rates_tried(rates),
                             "right": seed_statistics({world: runs[times, lr, world] for world in TEST_WORLDS})}
    return found
