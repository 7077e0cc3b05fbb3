"""EaE's entity memory compared with torch's attention and with faiss, and an update of EaE compared with BERT's.

``OMP_WAIT_POLICY=PASSIVE python benchmarks/entity_memory.py [rounds]``, on the CPU with two threads. Memory: 256 hidden
states of width 128 with 64 mentions, entity vectors of width 64; torch's ``scaled_dot_product_attention`` gets the same
queries, and the entity vectors as keys and values; faiss searches them exactly (``IndexFlatIP``). Results are first
verified to be equal. Updates: the models of chapter 18's claim, with the same batches.
"""

import sys
from functools import partial
from statistics import median
from typing import Any

import faiss
import torch
from rounds import race, relative_speed
from torch import Tensor
from torch.nn import functional as F

from plmlab.chapters.ch18.memory import INNER, bert, eae
from plmlab.layers.entity_memory import EntityMemory
from plmlab.mentions import Mentions
from plmlab.world.datasets.linked_statements import statements
from studies.ch18.memory import equal_inner

TEXTS, TIME, MODEL, WIDTH, TOP_K = 16, 16, 128, 64, 100
TAGS = torch.tensor([0, 1, 2, 0] * (TIME // 4)).expand(TEXTS, TIME)
ENTITIES = (478, 10_000, 100_000)


def line(name: str, seconds: dict[str, list[float]]) -> str:
    """A row: milliseconds of each runner, and the speed of the others relative to the first one, as the median over
    rounds with its quartiles."""
    first, *others = seconds.values()
    cells = [*(f"{1000 * median(turns):.1f}" for turns in (first, *others)),
             *(relative_speed(first, turns) for turns in others)]
    return f"| {name} | {' | '.join(cells)} |"


def attended(memory: EntityMemory, hidden: Tensor, mentions: Mentions) -> Tensor:
    """The memory with torch's attention function."""
    vectors = memory.entities.weight
    found = F.scaled_dot_product_attention(memory.query(mentions.ends(hidden)), vectors, vectors, scale=1.0)
    return memory.norm(hidden.index_put((mentions.rows, mentions.first), memory.output(found), accumulate=True))


def searched(memory: EntityMemory, index: Any, hidden: Tensor, mentions: Mentions) -> Tensor:
    """The memory with a search by faiss."""
    scores, numbers = index.search(memory.query(mentions.ends(hidden)).numpy(), TOP_K)
    weights = torch.from_numpy(scores).softmax(1)
    found = torch.einsum("mk,mkw->mw", weights, memory.entities.weight[torch.from_numpy(numbers)])
    return memory.norm(hidden.index_put((mentions.rows, mentions.first), memory.output(found), accumulate=True))


def compare_memories(entities: int, rounds: int) -> tuple[str, str]:
    """The rows of a memory with a number of entities, in training and at inference."""
    torch.manual_seed(0)
    memory, hidden = EntityMemory(entities, WIDTH, MODEL, 1e-12, std=WIDTH ** -0.5), torch.randn(TEXTS, TIME, MODEL)
    mentions, index = Mentions.of(TAGS), faiss.IndexFlatIP(WIDTH)
    torch.nn.init.normal_(memory.query.weight, std=0.2)
    index.add(memory.entities.weight.detach().numpy())
    torch.testing.assert_close(memory(hidden, mentions).hidden, attended(memory, hidden, mentions))
    training = race({"plmlab": lambda: memory(hidden, mentions).hidden.sum().backward(),
                     "torch": lambda: attended(memory, hidden, mentions).sum().backward()}, rounds=rounds)
    with torch.no_grad():
        torch.testing.assert_close(memory(hidden, mentions, TOP_K).hidden, searched(memory, index, hidden, mentions))
        inference = race({"plmlab": lambda: memory(hidden, mentions, TOP_K),
                          "faiss": lambda: searched(memory, index, hidden, mentions)}, rounds=rounds)
    return (line(f"{entities:,} entities, training", training),
            line(f"{entities:,} entities, {TOP_K} best", inference))


def compare_updates(rounds: int) -> str:
    """The row of an update: loss and gradients of EaE, of BERT and of wide BERT."""
    data, batch = statements(), statements().batches(0)(0)
    models = {"EaE": eae(data), "BERT": bert(data, INNER), "wide BERT": bert(data, equal_inner(data))}
    def update(model: Any) -> None:
        model.loss(batch).backward()
    return line("update", race({name: partial(update, model.train()) for name, model in models.items()}, rounds=rounds))


if __name__ == "__main__":
    torch.set_num_threads(2)
    turns = int([*sys.argv, "15"][1])
    print("| | plmlab, ms | torch or faiss, ms | relative speed of torch or faiss |\n|---|--:|--:|--:|")
    print(*(row for entities in ENTITIES for row in compare_memories(entities, turns)), sep="\n")
    print("\n| | EaE, ms | BERT, ms | wide BERT, ms | speed of BERT | speed of wide BERT |\n|---|--:|--:|--:|--:|--:|")
    print(compare_updates(turns))
