"""Exercises of chapter 07: GPT (Radford et al. 2018, 2019), from its loss to what is read off it."""

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, rand, randint, randn

from plmlab.chapters.ch07 import mistakes
from plmlab.exercises.exercise import Exercise, Probes


def language_model_loss(logits: Float[Tensor, "time vocab"], tokens: Int[Tensor, "time"]) -> Float[Tensor, ""]:
    """The loss of a causal language model on one text, in nats.

    Slot t reads tokens[t], and ``logits[t]`` are what it says of the token that comes next. The
    loss is the mean of −log p(the token that did come next). The last slot says something too,
    but nothing comes after it, so that it does not count.
    """
    logprobs = logits.log_softmax(-1)
    said = logprobs[:-1].gather(-1, tokens[1:, None])
    return -said.mean()


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 07.1: name → (logits [time vocab], tokens); logits in the hundreds, and negative ones, too."""
    def text(time: int, vocab: int, scale: float = 1.0) -> tuple[Tensor, Tensor]:
        return scale * randn(time, vocab, generator=rng), randint(vocab, (time,), generator=rng)

    likes = torch.tensor([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [3.0, 0.0, 0.0]])
    return {
        "three tokens": (likes, torch.tensor([0, 1, 2])),
        "five tokens of seven": text(5, 7),
        "eight tokens of four": text(8, 4),
        "logits in the hundreds": text(4, 5, scale=200.0),
        "all logits far below 0": (randn(5, 3, generator=rng) - 150, torch.tensor([2, 0, 1, 1, 0])),
        "two tokens": text(2, 6),
    }


def nucleus(logits: Float[Tensor, "vocab"], p: float) -> Float[Tensor, "vocab"]:
    """The distribution that top-p sampling draws from.

    Keep the smallest set of likeliest tokens whose probabilities add up to p at least; the token
    that reaches p is in. All others get 0. What is kept is scaled up to add up to 1, and every
    token keeps its place.
    """
    chances = logits.softmax(-1)
    ordered, order = chances.sort(descending=True)
    before = ordered.cumsum(-1) - ordered
    kept = torch.zeros_like(chances)
    kept[order] = torch.where(before < p, ordered, 0.0)
    return kept / kept.sum()


def draw_cuts(rng: Generator) -> Probes:
    """Inputs for 07.2: name → (logits [vocab], p)."""
    chances = torch.tensor([0.1, 0.5, 0.15, 0.25])
    return {
        "four tokens, p = 0.6": (chances.log(), 0.6),
        "the likeliest alone is more than p": (chances.log(), 0.3),
        "nearly all": (randn(7, generator=rng), 0.95),
        "twelve tokens, p = 0.8": (2 * randn(12, generator=rng), 0.8),
        "all logits far below 0": (randn(9, generator=rng) - 150, 0.7),
        "all logits far above 0": (randn(8, generator=rng) + 150, 0.5),
        "a single token": (torch.tensor([-2.0]), 0.9),
    }


def step_with_cache(
    q: Float[Tensor, "width"], k: Float[Tensor, "width"], v: Float[Tensor, "value"],
    keys: Float[Tensor, "time width"], values: Float[Tensor, "time value"],
) -> tuple[Float[Tensor, "value"], Float[Tensor, "more width"], Float[Tensor, "more value"]]:
    """Attention of one new token, whose past is remembered: the output, and the longer cache.

    ``keys`` and ``values`` are those of the tokens before, in order. The new token looks at all
    of them and at itself, so its own k and v join them first, at the end. Then it is attention as
    ever, softmax(qKᵀ/√width) V, with one query. Give back the output, the keys and the values.
    """
    keys = torch.cat([keys, k[None]])
    values = torch.cat([values, v[None]])
    weights = (keys @ q / q.shape[-1] ** 0.5).softmax(-1)
    return weights @ values, keys, values


def draw_steps(rng: Generator) -> Probes:
    """Inputs for 07.3: name → (q, k and v of the new token, keys and values before it), one with none before."""
    def step(time: int, width: int, value: int) -> tuple[Tensor, ...]:
        return (randn(width, generator=rng), randn(width, generator=rng), randn(value, generator=rng),
                randn(time, width, generator=rng), randn(time, value, generator=rng))

    def far(key: int) -> tuple[Tensor, ...]:
        q, (_, k, v, keys, values) = torch.full((5,), 4.0), step(4, 5, 3)
        return q, k + key, v, keys + key, values

    one = torch.tensor([2.0, 0.0])
    return {
        "one token before": (one, one, torch.tensor([10.0]), torch.tensor([[0.0, 1.0]]), torch.tensor([[20.0]])),
        "four tokens before": step(4, 3, 5),
        "nothing before": step(0, 4, 2),
        "six tokens before": step(6, 8, 3),
        "scores far below 0": far(-20),
        "scores far above 0": far(20),
    }


def logit_lens(
    hidden: Float[Tensor, "layer time model"], scale: Float[Tensor, "model"], shift: Float[Tensor, "model"],
    embedding: Float[Tensor, "vocab model"],
) -> Float[Tensor, "layer time vocab"]:
    """What each layer of a GPT-2 would say: the logits, were its output the last.

    The last layer's output goes through a LayerNorm and then meets the embedding of every token
    in a dot product. Do that with every layer's. The norm takes each vector to mean 0 and
    variance 1 (add 1e-5 to the variance, and divide by the width, not by one less), multiplies by
    ``scale`` and adds ``shift``.
    """
    centred = hidden - hidden.mean(-1, keepdim=True)
    normed = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return (normed * scale + shift) @ embedding.T


def draw_layers(rng: Generator) -> Probes:
    """Inputs for 07.4: name → (hidden [layer time model], scale, shift, embedding [vocab model])."""
    def stack(layers: int, time: int, model: int, vocab: int) -> tuple[Tensor, ...]:
        return (3 * randn(layers, time, model, generator=rng) + 1, 0.5 + rand(model, generator=rng),
                randn(model, generator=rng), randn(vocab, model, generator=rng))

    small = torch.tensor([[[1.0, 3.0], [0.0, 2.0]]])
    return {
        "one layer, two slots": (small, torch.tensor([1.0, 2.0]), torch.tensor([0.0, 1.0]), torch.eye(2)),
        "three layers": stack(3, 4, 5, 7),
        "a wider model": stack(2, 3, 8, 6),
        "vectors close to 0": (0.003 * randn(2, 4, 6, generator=rng), *stack(2, 4, 6, 5)[1:]),
    }


def fine_tuning_loss(
    class_logits: Float[Tensor, "batch label"], classes: Int[Tensor, "batch"],
    word_logits: Float[Tensor, "batch time vocab"], targets: Int[Tensor, "batch time"], auxiliary: float,
) -> Float[Tensor, ""]:
    """L = L_class + λ · L_words, with λ = ``auxiliary``.

    L_class is the mean of −log p(class) over the texts. L_words is the mean of −log p(token) over
    all targets of the batch. A target of −100 is padding, or a slot with nothing to say: it does
    not count, neither in the sum nor in the number that the mean divides by.
    """
    of_classes = torch.nn.functional.cross_entropy(class_logits, classes)
    of_words = torch.nn.functional.cross_entropy(word_logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
    return of_classes + auxiliary * of_words


def draw_batches(rng: Generator) -> Probes:
    """Inputs for 07.5: name → (logits of the classes, classes, logits of the words, targets, λ)."""
    def batch(size: int, labels: int, time: int, vocab: int) -> tuple[Tensor, ...]:
        targets = randint(vocab, (size, time), generator=rng)
        targets[0, time // 2:] = -100
        targets[-1, -1] = -100
        targets[-1, 0] = 0
        return (randn(size, labels, generator=rng), randint(labels, (size,), generator=rng),
                randn(size, time, vocab, generator=rng), targets)

    return {
        "two short texts": (*batch(2, 2, 3, 4), 0.5),
        "three classes": (*batch(4, 3, 6, 9), 0.5),
        "another λ": (*batch(3, 2, 5, 6), 0.2),
    }


EXERCISES = (
    Exercise(
        "07.1", "the loss of a language model", language_model_loss, draw_texts,
        mistakes=mistakes.LOSS, properties=mistakes.OF_A_LOSS,
        hints=(
            "Write the tokens 7, 8, 9 in a row. Which token must slot 0 say? Which slot has nothing to say?",
            "logits[:-1] are the slots that count, and tokens[1:] what they had to say. Turn the logits into "
            "log-probabilities, and take one number out of each row.",
            "logits.log_softmax(-1) keeps large logits finite. .gather(-1, ids[:, None]) takes the number at ids[t] "
            "out of row t.",
        ),
    ),
    Exercise(
        "07.2", "top-p", nucleus, draw_cuts,
        mistakes=mistakes.NUCLEUS, properties=mistakes.OF_A_DISTRIBUTION,
        hints=(
            "Sort the probabilities 0.5, 0.25, 0.15, 0.1, the largest first, and let p be 0.6. Which do you need?",
            "A token is kept if what stands *before* it, in that order, has not reached p yet. Which running sum says "
            "that? And how does each token find its way back to its place?",
            "chances.sort(descending=True) gives the values and the places they came from. cumsum minus the value "
            "itself is what stands before. kept[order] = … puts values back.",
        ),
    ),
    Exercise(
        "07.3", "one step with the cache", step_with_cache, draw_steps,
        mistakes=mistakes.CACHE,
        hints=(
            "How many keys does the new token see, when there were four before it?",
            "First make the cache one row longer. From there on it is attention with a single query: one score a key.",
            "torch.cat([keys, k[None]]) adds a row. keys @ q gives all scores at once; do not forget √width.",
        ),
    ),
    Exercise(
        "07.4", "the logit lens", logit_lens, draw_layers,
        mistakes=mistakes.LENS,
        hints=(
            "Three things happen to a vector after the last layer: it is normed, scaled and shifted, and compared with "
            "each token. Over which axis does the norm run?",
            "Each vector alone: its own mean goes, and it is divided by its own deviation, so the last axis with "
            "keepdim=True. Then the dot product with every row of the embedding.",
            "Or take torch.nn.functional.layer_norm(hidden, [model], scale, shift); then @ embedding.T.",
        ),
    ),
    Exercise(
        "07.5", "the loss of fine-tuning", fine_tuning_loss, draw_batches,
        mistakes=mistakes.TUNING, properties=mistakes.OF_TWO_LOSSES,
        hints=(
            "Both parts are cross-entropies. What is the mean of each taken over?",
            "Cross-entropy wants a row for each question: lay all slots of all texts in one long row of questions, and "
            "leave out those whose target is −100.",
            "torch.nn.functional.cross_entropy(logits, targets) takes the mean, and skips −100 by itself. "
            "word_logits.flatten(0, 1) makes the long row.",
        ),
    ),
)
