"""Exercises of chapter 18, entity memories: those of EaE and FaE. Those on KnowBERT are in `exercises_knowbert`."""

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, randn, tensor

from plmlab.chapters.ch18 import exercises_knowbert
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def access_memory(
    hidden: Float[Tensor, "batch time model"], mentions: Int[Tensor, "mention 3"],
    entities: Float[Tensor, "entity width"], w_f: Float[Tensor, "width 2*model"], w_b: Float[Tensor, "model width"],
) -> Float[Tensor, "batch time model"]:
    """The hidden states after EaE's entity memory, in training.

    Row i of ``mentions`` is (text, start, end): mention i consists of the tokens start, …, end − 1 of this text.
    Mentions do not overlap. The query of a mention is h = W_f [x_first ∥ x_last], the concatenated hidden states of its
    first and its last token, projected. The rows of ``entities`` are the entity vectors e. The attention weights of a
    mention are the softmax of h · e over all entities. The sum of the entity vectors with these weights is multiplied
    by W_b and added at the first token of the mention. Then every position is normalized, with or without a mention:
    torch.nn.functional.layer_norm over its own features, without weight and bias. exp of h · e may overflow.
    """
    texts, starts, ends = mentions.T
    queries = torch.cat([hidden[texts, starts], hidden[texts, ends - 1]], 1) @ w_f.T
    vectors = (queries @ entities.T).softmax(1) @ entities @ w_b.T
    added = torch.zeros_like(hidden)
    added[texts, starts] = vectors
    return torch.nn.functional.layer_norm(hidden + added, hidden.shape[-1:])


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 18.3: name → (hidden states, mentions, entity vectors, W_f, W_b)."""
    def drawn(batch: int, time: int, *mentions: tuple[int, int, int], entities: int = 5, width: int = 3,
              scale: float = 1.0) -> tuple[Tensor, ...]:
        return (randn(batch, time, 4, generator=rng), tensor(mentions, dtype=torch.long).view(-1, 3),
                scale * randn(entities, width, generator=rng), randn(width, 8, generator=rng) / 3,
                randn(4, width, generator=rng))

    hidden, mentions, entities, w_f, w_b = drawn(2, 4, (0, 0, 2), (1, 1, 3))
    return {
        "a mention of two tokens": (
            tensor([[[1.0, 0, 2], [0, 1, 1], [2, 2, 2]]]), tensor([[0, 0, 2]]), tensor([[1.0, 0], [0, 3]]),
            tensor([[1.0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0]]), tensor([[1.0, 0], [0, 1], [0, 0]])),
        "mentions of one and of four tokens": drawn(1, 7, (0, 0, 1), (0, 2, 6)), "no mention": drawn(2, 3),
        "mentions of three texts in any order, some at the end or side by side": drawn(
            3, 6, (2, 0, 3), (0, 4, 6), (2, 3, 5), (1, 2, 6), (0, 0, 1), entities=7),
        "as many texts as tokens, mentions and entities": drawn(3, 3, (0, 0, 2), (1, 1, 3), (2, 1, 2), entities=3),
        "entity vectors as wide as the hidden states": drawn(2, 5, (0, 1, 4), (1, 0, 2), width=4),
        "one token and one entity": drawn(1, 1, (0, 0, 1), entities=1),
        "all inner products are negative": (hidden.abs(), mentions, -entities.abs(), w_f.abs(), w_b),
        "inner products of hundreds": drawn(2, 5, (0, 0, 3), (1, 3, 4), scale=200.0),
    }


def read_top_k(
    queries: Float[Tensor, "mention width"], entities: Float[Tensor, "entity width"], k: int,
) -> Float[Tensor, "mention width"]:
    """The vector that each mention reads from EaE's entity memory at inference.

    The score of an entity is the inner product of the mention's query and the entity vector. A mention attends only to
    the ``k`` entities with the highest scores: the result is the sum of their vectors, weighted by the softmax over
    these k scores. If there are fewer than k entities, a mention attends to all. Some may have the same vector, and so
    the same score; also then, exactly k count. exp of a score may overflow.
    """
    scores = queries @ entities.T
    best = scores.topk(min(k, len(entities)), 1)
    return torch.einsum("mk,mkw->mw", best.values.softmax(1), entities[best.indices])


def draw_queries(rng: Generator) -> Probes:
    """Inputs for 18.4: name → (queries, entity vectors, k)."""
    def drawn(mentions: int, entities: int, width: int, k: int, scale: float = 1.0) -> tuple[object, ...]:
        return scale * randn(mentions, width, generator=rng), randn(entities, width, generator=rng), k

    twins = tensor([[1.0, 2.0], [3.0, 0.0], [1.0, 2.0], [-1.0, 1.0], [1.0, 2.0], [0.0, -900.0]])
    return {
        "three of four entities": (tensor([[1.0, 1.0]]), tensor([[1.0, 1.0], [-3.0, 0.0], [0.0, 2.0], [3.0, 0.0]]), 3),
        "three mentions, seven entities": drawn(3, 7, 4, 3), "only the best": drawn(4, 5, 3, 1),
        "k is the number of entities": drawn(2, 4, 3, 4), "k is larger than the memory": drawn(3, 4, 2, 100),
        "equal vectors, not all among the best": (tensor([[1.0, 0.0], [1.0, 3.0], [0.0, 1.0]]), twins, 2),
        "the same number of mentions, features and k": drawn(3, 6, 3, 3), "one entity": drawn(2, 1, 3, 5),
        "all scores are near −150": (*(torch.cat([randn(n, 3, generator=rng), torch.full((n, 1), x)], 1)
                                       for n, x in ((3, 150.0), (6, -1.0))), 3),
        "no mention": drawn(0, 4, 3, 2), "scores of hundreds": drawn(3, 6, 4, 3, 200.0),
    }


def read_facts(
    scores: Float[Tensor, "mention fact"], null: Float[Tensor, "mention"], objects: Int[Tensor, "fact object"],
    logits: Float[Tensor, "mention entity"],
) -> tuple[Float[Tensor, "mention"], Float[Tensor, "mention entity"]]:
    """λ, and the probability that FaE's facts assign to each entity, for every mention.

    ``scores[m, f]`` is the score of fact f for mention m; it is −∞ if f was not retrieved for m. ``null[m]`` is the
    score of the null fact. A softmax over the scores of the facts and of the null fact gives their probabilities; λ is
    that of the null fact. ``objects[f]`` are the indices of fact f's objects, which are entities, padded with −1. Each
    fact has at least one. Its probability is divided among its objects in proportion to exp of their ``logits`` for
    this mention. If an entity is an object of several facts, its shares add up; any other entity has the probability 0.
    So λ and the probabilities of the entities sum to 1. There may be no fact. exp of a score or logit may overflow.
    """
    probs = torch.cat([null[:, None], scores], 1).softmax(1)
    real, index = objects >= 0, objects.clamp(min=0)
    shares = logits[:, index].masked_fill(~real, -torch.inf).softmax(2)
    weights = probs[:, 1:, None] * shares
    by_entity = torch.zeros_like(logits).index_add(1, index.flatten(), weights.flatten(1))
    return probs[:, 0], by_entity


def draw_facts(rng: Generator) -> Probes:
    """Inputs for 18.5: name → (scores, scores of the null fact, objects, logits)."""
    def drawn(entities: int, objects: list[list[int]], mentions: int = 2, scale: float = 1.0, shift: float = 0.0,
              ) -> tuple[Tensor, ...]:
        scores, null, logits = (shift + scale * randn(mentions, n, generator=rng) for n in (len(objects), 1, entities))
        return scores, null[:, 0], tensor(objects, dtype=torch.long).view(len(objects), -1 if objects else 2), logits

    missing = drawn(6, [[1, 4], [0, -1], [5, 2]], 3)
    missing[0][0, 1] = missing[0][1, 0] = missing[0][2] = -torch.inf
    return {
        "two objects": (tensor([[4.0]]).log(), tensor([0.0]), tensor([[2, 0]]), tensor([[1.0, 9.0, 3.0]]).log()),
        "two facts with the same object": (tensor([[0.0, 1.0]]), tensor([0.5]), tensor([[1], [1]]), torch.ones(1, 3)),
        "facts with one to three objects": drawn(6, [[4, 1, 2], [0, -1, -1], [3, 1, -1]]), "no fact": drawn(4, []),
        "the first entity and the last are objects": drawn(4, [[3, -1], [0, 3], [0, -1]]),
        "as many mentions as facts, objects and entities": drawn(3, [[0, 1, 2], [2, 0, -1], [1, 2, -1]], 3),
        "all scores and logits are near −150": drawn(6, [[0, 4, -1], [5, 2, 3]], shift=-150.0),
        "facts that were not retrieved, none for the last mention": missing,
        "scores and logits of hundreds": drawn(6, [[0, 5, -1], [2, 3, 5], [1, -1, -1]], 3, 200.0),
    }


READ = 'torch.einsum("mk,mkw->mw", best.values.softmax(1), entities[best.indices])'

EXERCISES = (
    exercises_knowbert.LINK, exercises_knowbert.MARGIN,
    Exercise("18.3", "access to the entity memory", access_memory, draw_texts, mistakes={
        "the vector replaces the hidden state of the first token; it is added to it":
            edit("zeros_like(hidden)", "clone(hidden)", "hidden + added", "added"),
        "the vector is added at every token of the mention, not only at the first":
            edit("added[texts, starts]", "for i, x in enumerate(vectors): added[texts[i], starts[i]:ends[i]]",
                 "= vectors", "= x"),
        "the vector is added at the last token of the mention; it is added at the first":
            edit("added[texts, starts]", "added[texts, ends - 1]"),
        "only the first tokens of mentions are normalized; LayerNorm applies to all positions": edit(
            "return ", "return torch.where(added.any(-1, keepdim=True), ", "-1:])", "-1:]), hidden)"),
        "`end` is exclusive: the last token of a mention is at end − 1": edit("ends - 1", "ends"),
        "the softmax runs over the mentions; it runs over the entities, axis 1": edit("softmax(1)", "softmax(0)"),
        "LayerNorm runs over time and features together; it normalizes each position over its own features":
            edit("hidden.shape[-1:]", "hidden.shape[1:]"),
        "x_last stands before x_first in the query": edit(
            "hidden[texts, starts], hidden[texts, ends - 1]", "hidden[texts, ends - 1], hidden[texts, starts]"),
        "only the best entity is read; in training, all entities are":
            edit("(queries @ entities.T).softmax(1) @ entities", "entities[(queries @ entities.T).argmax(1)]"),
    }, hints=(
        "In the first input, the mention consists of tokens 0 and 1. Compute h; W_f selects one feature of each. Which "
        "score does each entity have? Which of the three hidden states change before LayerNorm?",
        "Index the hidden states with two columns of ``mentions``, which gives one row per mention. Write the result "
        "into a tensor of zeros with the shape of ``hidden``, and add it.",
        "With texts, starts, ends = mentions.T, hidden[texts, starts] is [mention model]. torch.cat([a, b], 1) "
        "concatenates features. (queries @ entities.T).softmax(1) are the weights, and @ w_b.T projects.")),
    Exercise("18.4", "top-k at inference", read_top_k, draw_queries, mistakes={
        "the softmax runs over all entities before the cut, so that the weights sum to less than 1":
            edit("scores.topk", "scores.softmax(1).topk", "values.softmax(1)", "values"),
        "the softmax is taken twice": edit("values.softmax(1)", "values.softmax(1).softmax(1)"),
        "the softmax runs over the mentions; it runs over the k entities of a mention, axis 1":
            edit("values.softmax(1)", "values.softmax(0)"),
        "all entities are read, as in training; at inference only the k best": edit("min(k, len", "max(0, len"),
        "only the best entity is read; the k best are": edit("min(k, len(entities))", "1"),
        "topk fails if there are fewer than k entities": edit("min(k, len(entities))", "k"),
        "the scores of the other entities become 0, and exp(0) = 1: they must become −∞": edit(
            READ, "torch.zeros_like(scores).scatter(1, best.indices, best.values).softmax(1) @ entities"),
        "more than k entities count if the k-th best score is that of several: use the indices": edit(
            READ, "scores.masked_fill(scores < best.values[:, -1:], -torch.inf).softmax(1) @ entities"),
        "the weights of the best entities are given to the first k: use the indices of topk":
            edit("entities[best.indices]", "entities[:best.values.shape[1]].expand(len(queries), -1, -1)"),
    }, hints=(
        "In the first input, the scores are 2, −3, 2 and 3, and k is 3. Which weight does each entity have?",
        "Find the k best scores of each mention, and their entities. Only these scores enter the softmax.",
        "scores.topk(n, 1) returns .values and .indices, both [mention n]; n cannot exceed the number of columns. "
        "entities[indices] is [mention n width]. Multiply it by weights[:, :, None], and sum over axis 1.")),
    Exercise("18.5", "reading facts", read_facts, draw_facts, mistakes={
        "the null fact has a sigmoid of its own; it is in the same softmax as the facts":
            edit("None], scores], 1).softmax(1)", "None].sigmoid(), scores.softmax(1)], 1)"),
        "the probabilities of the facts sum to 1 without the null fact; with it, they sum to 1 − λ":
            edit("probs[:, 1:, None]", "scores.softmax(1)[:, :, None]"),
        "each object gets the whole probability of its fact, not a share": edit("* shares", "* real"),
        "all objects of a fact have equal shares; they depend on the logits": edit("= logits", "= (0 * logits)"),
        "the shares are a softmax over all entities; it runs over the objects of the fact":
            edit(".masked_fill(~real, -torch.inf).softmax(2)", " * real", "= logits", "= logits.softmax(1)"),
        "−1 is padding, but as an index it is the last entity":
            edit("objects >= 0, objects.clamp(min=0)", "objects < len(logits.T), objects % len(logits.T)"),
        "an entity gets only its last share: p[:, index] += … adds once per entity, index_add adds every share":
            edit(".index_add(1, index.flatten(), weights.flatten(1))",
                 "\n    for i, w in zip(index.flatten(), weights.flatten(1).T): by_entity[:, i] = w"),
    }, properties={"the probabilities of the null fact and of the entities do not sum to 1":
                   lambda read, *_: bool(((read[0] + read[1].sum(1) - 1).abs() < 1e-3).all())}, hints=(
        "In the first input, the fact has the score ln 4, and the null fact 0: what is λ? The objects are entities 2 "
        "and 0, with the logits ln 3 and 0. What is the probability of each of the three entities?",
        "First compute the probabilities of the facts and of the null fact. Look up the logits of the objects, and "
        "normalize over the objects of each fact, without padding. Multiply, and add up by entity.",
        "logits[:, index] with an index [fact object] is [mention fact object]; replace −1 by 0 before, and mask it. "
        "zeros.index_add(1, index.flatten(), values.flatten(1)) adds values with equal indices.")),
)
