"""The closed-book baseline: a BERT that is trained on the documents of a world and then evaluated without documents.
One model has the size of the reader, and one twice as many layers.

Unlike REALM, it is trained on the world on which it is evaluated. Its learning rate is the best of a grid on the
development world. The larger model is initialized by stacking the layers of the bundled BERT (as in Gong et al. 2019).
A third model of the reader's size has a better chance: it is trained four times as long on the first test world, and
masks salient spans, as REALM does. Its learning rate is not tuned.
"""

from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import torch

from plmlab.chapters.ch16.arms import questions
from plmlab.chapters.ch16.corpora import Corpus, corpus
from plmlab.chapters.ch16.warm_start import bert
from plmlab.draws import choice, randint
from plmlab.example import Batch, Example
from plmlab.models.bert import BERTPretraining
from plmlab.objectives.layouts import cls_first
from plmlab.objectives.masked import always_mask, masked
from plmlab.objectives.reader_inputs import mask_positions
from plmlab.recipes import Parts, rates_tried, seed_statistics, tune_learning_rate
from plmlab.train import fit
from plmlab.world.datasets.fact_documents import DEVELOPMENT, TEST_WORLDS
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

UPDATES, BATCH = 600, 32
RATES = (1e-4, 3e-4, 1e-3)
STACKS = (1, 2)
"""How many copies of BERT's layers are stacked."""
LONGER, LONGER_RATE = 4 * UPDATES, 1e-3
"""Updates and learning rate of the model that masks salient spans."""


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


def passage(documents: Corpus, rng: Random) -> tuple[str, ...]:
    """The title of a block with some of its consecutive sentences, in half of the cases only one."""
    block = choice(rng, documents.blocks)
    first = randint(rng, len(block.sentences))
    last = first + 1 if rng.random() < 0.5 else len(block.sentences)
    return (*block.title.split(), *" ".join(block.sentences[first:last]).split())


def random_masks(world: int, rng: Random) -> Example:
    """A passage of a world with 15 % of its tokens corrupted, as in BERT."""
    return masked(ids(passage(corpus(world), rng)), vocab=world_tokenizer().vocab, rng=rng)


def salient_mask(world: int, rng: Random) -> Example:
    """A passage of a world with one salient span masked."""
    words = passage(corpus(world), rng)
    while not (spans := salient_spans(world, words)):
        words = passage(corpus(world), rng)
    start, end = choice(rng, spans)
    return masked(ids(words), vocab=world_tokenizer().vocab, rng=rng, corrupt=always_mask,
                  select=range(start + 1, end + 1))  # [CLS] precedes the text


def salient_spans(world: int, words: tuple[str, ...]) -> list[tuple[int, int]]:
    """The spans (start, end) of the names, years and numbers in a text, the longest where some overlap."""
    names, spans, start = _names(world), list[tuple[int, int]](), 0
    while start < len(words):
        end = next((end for end in range(len(words), start, -1) if words[start:end] in names), None)
        spans += [] if end is None else [(start, end)]
        start = end or start + 1
    return spans


@cache
def _names(world: int) -> frozenset[tuple[str, ...]]:
    """What a statement of this world can mask: all names of the kinds that its statements ask for."""
    facts = corpus(world).world.facts
    kinds = dict.fromkeys(facts[one.cloze.entity].kind for one in corpus(world).statements)
    return frozenset(entity.words for kind in kinds for entity in facts.kind(kind))


def read(model: BERTPretraining, world: int, lr: float, seed: int, salient: bool = False) -> None:
    """Train a BERT on the documents of a world, with random masks or, for longer, with salient ones."""
    pad, mask = world_tokenizer().vocab.need("pad"), salient_mask if salient else random_masks
    updates = LONGER if salient else UPDATES
    fit(model, lambda step: Batch.of([mask(world, Random(f"{seed}:{step}:{row}")) for row in range(BATCH)], pad=pad),
        steps=updates, lr=lr, warmup=updates // 10, compile=False, precision="float32", show=False)


@torch.no_grad()
def right(model: BERTPretraining, world: int) -> float:
    """Accuracy on a world's statements."""
    vocab, asked = world_tokenizer().vocab, questions(world)
    batch = Batch.of([mask_positions(cls_first(one.tokens, None, vocab), one.salient, vocab) for one in asked],
                     pad=vocab.need("pad"))
    said = model(batch).argmax(2)
    return float(((said == batch.targets) | (batch.targets < 0)).all(1).double().mean())


def after_reading(times: int, lr: float, world: int, salient: bool = False) -> float:
    """Accuracy of a BERT with stacked layers on a world, after training on the documents of this world."""
    torch.manual_seed(0)
    model = stacked(times)
    read(model, world, lr, 0, salient)
    return right(model, world)


def before_reading(world: int) -> float:
    """Accuracy of the bundled BERT on a world that it was not trained on."""
    return right(bert().eval(), world)


def measure(parts: Parts) -> dict[str, Any]:
    """The accuracy ``before`` any training on the world; and number of stacks → ``lr``, the ``rates`` tried on the
    development world, and the accuracy, with its spread over the test worlds; the same for ``salient`` masks."""
    found: dict[str, Any] = {"before": seed_statistics({world: parts(before_reading, [(world,)])[world,]
                                                        for world in TEST_WORLDS})}
    for times in STACKS:
        def tried(rates: Any, times: int = times) -> dict[float, float]:
            scores = parts(after_reading, [(times, lr, DEVELOPMENT) for lr in rates])
            return {lr: scores[times, lr, DEVELOPMENT] for lr in rates}
        lr, rates = tune_learning_rate(tried, RATES)
        runs = parts(after_reading, [(times, lr, world) for world in TEST_WORLDS])
        found[str(times)] = {"lr": lr, "rates": rates_tried(rates),
                             "right": seed_statistics({world: runs[times, lr, world] for world in TEST_WORLDS})}
    return found | {"salient": longer(parts)}


def longer(parts: Parts) -> dict[str, Any]:
    """The accuracy on the first test world of the model that is trained longer, on salient masks."""
    task = (1, LONGER_RATE, TEST_WORLDS[0], True)
    return {"updates": LONGER, "lr": LONGER_RATE, "right": parts(after_reading, [task])[task]}
