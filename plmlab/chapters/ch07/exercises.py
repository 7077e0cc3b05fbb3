"""Exercises of chapter 07: GPT (Radford et al. 2018, 2019), from its loss to the logit lens."""

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, rand, randint, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def language_model_loss(logits: Float[Tensor, "time vocab"], tokens: Int[Tensor, "time"]) -> Float[Tensor, ""]:
    """The loss of a causal language model on one text, in nats.

    The input at position t is tokens[t], and ``logits[t]`` are the prediction of the next token. The loss
    is the mean of −log p(next token). The last position also makes a prediction, but it has no target and
    is left out.
    """
    logprobs = logits.log_softmax(-1)
    target_logprobs = logprobs[:-1].gather(-1, tokens[1:, None])
    return -target_logprobs.mean()


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 07.1: name → (logits `[time vocab]`, tokens), including logits in the hundreds and negative ones."""
    def text(time: int, vocab: int, scale: float = 1.0) -> tuple[Tensor, Tensor]:
        return scale * randn(time, vocab, generator=rng), randint(vocab, (time,), generator=rng)

    likes = torch.tensor([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [3.0, 0.0, 0.0]])
    return {
        "three tokens": (likes, torch.tensor([0, 1, 2])),
        "five tokens of seven": text(5, 7),
        "eight tokens of four": text(8, 4),
        "logits in the hundreds": text(4, 5, scale=200.0),
        "all logits large and negative": (randn(5, 3, generator=rng) - 150, torch.tensor([2, 0, 1, 1, 0])),
        "two tokens": text(2, 6),
    }


def nucleus(logits: Float[Tensor, "vocab"], p: float) -> Float[Tensor, "vocab"]:
    """The distribution that top-p (nucleus) sampling draws from.

    Keep the smallest set of most likely tokens whose probabilities sum to at least p; the token that reaches
    p is included. All others get 0. The kept probabilities are renormalized to sum to 1, and every token
    keeps its index.
    """
    probs = logits.softmax(-1)
    ordered, order = probs.sort(descending=True)
    before = ordered.cumsum(-1) - ordered
    kept = torch.zeros_like(probs)
    kept[order] = torch.where(before < p, ordered, 0.0)
    return kept / kept.sum()


def draw_cuts(rng: Generator) -> Probes:
    """Inputs for 07.2: name → (logits `[vocab]`, p)."""
    probs = torch.tensor([0.1, 0.5, 0.15, 0.25])
    return {
        "four tokens, p = 0.6": (probs.log(), 0.6),
        "the most likely token alone is above p": (probs.log(), 0.3),
        "nearly all": (randn(7, generator=rng), 0.95),
        "twelve tokens, p = 0.8": (2 * randn(12, generator=rng), 0.8),
        "all logits large and negative": (randn(9, generator=rng) - 150, 0.7),
        "all logits large and positive": (randn(8, generator=rng) + 150, 0.5),
        "a single token": (torch.tensor([-2.0]), 0.9),
    }


def step_with_cache(
    q: Float[Tensor, "width"], k: Float[Tensor, "width"], v: Float[Tensor, "value"],
    keys: Float[Tensor, "time width"], values: Float[Tensor, "time value"],
) -> tuple[Float[Tensor, "value"], Float[Tensor, "more width"], Float[Tensor, "more value"]]:
    """Attention of one new token with a KV cache: the output, and the extended cache.

    ``keys`` and ``values`` are those of the previous tokens, in order. The new token attends to all of them
    and to itself, so first append its k and v at the end. The rest is ordinary attention,
    softmax(qKᵀ/√width) V, with a single query. Return the output, the keys and the values.
    """
    keys = torch.cat([keys, k[None]])
    values = torch.cat([values, v[None]])
    weights = (keys @ q / q.shape[-1] ** 0.5).softmax(-1)
    return weights @ values, keys, values


def draw_steps(rng: Generator) -> Probes:
    """Inputs for 07.3: name → (q, k and v of the new token, cached keys and values), including an empty cache."""
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
        "large negative scores": far(-20),
        "large positive scores": far(20),
    }


def logit_lens(
    hidden: Float[Tensor, "layer time model"], scale: Float[Tensor, "model"], shift: Float[Tensor, "model"],
    embedding: Float[Tensor, "vocab model"],
) -> Float[Tensor, "layer time vocab"]:
    """The logit lens of a GPT-2: the logits of each layer, as if its output were that of the last layer.

    The output of the last layer is passed through a LayerNorm; the logits are its dot products with the
    embeddings of all tokens. Do that with the output of every layer. The norm transforms each vector to mean
    0 and variance 1 (add 1e-5 to the variance, and divide by the width, not by one less), multiplies by
    ``scale`` and adds ``shift``.
    """
    centred = hidden - hidden.mean(-1, keepdim=True)
    normed = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return (normed * scale + shift) @ embedding.T


def draw_layers(rng: Generator) -> Probes:
    """Inputs for 07.4: name → (hidden `[layer time model]`, scale, shift, embedding `[vocab model]`)."""
    def stack(layers: int, time: int, model: int, vocab: int) -> tuple[Tensor, ...]:
        return (3 * randn(layers, time, model, generator=rng) + 1, 0.5 + rand(model, generator=rng),
                randn(model, generator=rng), randn(vocab, model, generator=rng))

    small = torch.tensor([[[1.0, 3.0], [0.0, 2.0]]])
    return {
        "one layer, two positions": (small, torch.tensor([1.0, 2.0]), torch.tensor([0.0, 1.0]), torch.eye(2)),
        "three layers": stack(3, 4, 5, 7),
        "a wider model": stack(2, 3, 8, 6),
        "vectors close to 0": (0.003 * randn(2, 4, 6, generator=rng), *stack(2, 4, 6, 5)[1:]),
    }


EXERCISES = (
    Exercise(
        "07.1", "the language-model loss", language_model_loss, draw_texts,
        mistakes={
            "nothing is shifted: the target of each position is the token that it has just read":
                edit("logprobs[:-1]", "logprobs", "[1:, None]", "[:, None]"),
            "the shift has the wrong direction: the target of each position is the previous token":
                edit("logprobs[:-1]", "logprobs[1:]", "[1:, None]", "[:-1, None]"),
            "the target of the last position is the first token: use a shift that does not wrap around":
                edit("logprobs[:-1]", "logprobs", "tokens[1:, None]", "tokens.roll(-1)[:, None]"),
            "the loss at each position is over all tokens of the text; its only target is the next token":
                edit(".gather(-1, tokens[1:, None])", "[:, tokens[1:]]"),
            "the losses are summed, not averaged": edit("mean", "sum"),
            "the sum is divided by the number of positions; one of them has no target":
                edit("mean()", "sum() / len(tokens)"),
            "the sign is wrong: the loss is the negative log-probability": edit("-target_logprobs", "target_logprobs"),
            "the softmax is applied twice: cross_entropy expects logits and applies it itself":
                edit("logits.log_softmax", "logits.softmax(-1).log_softmax"),
            "the logarithm is missing: this is the mean of −p, not of −log p (nll_loss takes no logarithm)":
                edit("log_softmax", "softmax"),
            "a probability underflows to 0, and its logarithm is −∞: use .log_softmax of the logits":
                edit("log_softmax(-1)", "softmax(-1).log()"),
        },
        properties={
            "the loss is below that of every position, or above it, so it is not their mean":
                lambda out, logits, tokens: bool((losses := torch.nn.functional.cross_entropy(
                    logits[:-1], tokens[1:], reduction="none")).min() - 1e-3 <= out <= losses.max() + 1e-3),
        },
        hints=(
            "Write the tokens 7, 8, 9 in a row. Which token must position 0 predict? Which position has no target?",
            "logits[:-1] are the positions with a target, and tokens[1:] are their targets. Convert the logits to "
            "log-probabilities, and select one entry per row.",
            "logits.log_softmax(-1) is finite for large logits. .gather(-1, ids[:, None]) selects entry ids[t] of row "
            "t.",
        ),
    ),
    Exercise(
        "07.2", "top-p sampling", nucleus, draw_cuts,
        mistakes={
            "the token that reaches p is left out, so that less than p is kept":
                edit("before < p", "ordered.cumsum(-1) < p"),
            "the token after the one that reaches p is kept too":
                edit("before < p", "torch.cat([before[:1], before[:-1]]) < p"),
            "the kept probabilities do not sum to 1: divide by their sum": edit(" / kept.sum()", ""),
            "the output is sorted by probability; keep the order of the vocabulary": edit("kept[order] = ", "kept = "),
            "the probabilities are assigned to the wrong tokens: kept[order] = … undoes the sort, …[order] does not":
                edit("kept[order] = ", "kept = ", "ordered, 0.0)", "ordered, 0.0)[order]"),
            "nothing is sorted: the probabilities are accumulated in the order of the vocabulary":
                edit("probs.sort(descending=True)", "(probs, torch.arange(len(probs)))"),
            "the most likely tokens are removed: sort in descending order": edit("descending=True", ""),
            "a second softmax is applied to the probabilities, and e⁰ is 1: removed tokens get a probability":
                edit("kept / kept.sum()", "kept.softmax(-1)"),
            "p is used as a threshold on each probability": edit("before < p", "ordered >= p"),
            "a maximum that starts at 0 stays 0 if all logits are negative: start at −∞, or use .softmax":
                edit("logits.softmax(-1)", "by_exp(logits - largest_from_zero(logits))"),
        },
        properties={
            "the probabilities do not sum to 1": lambda out, *_: abs(float(out.sum()) - 1) < 1e-4,
        },
        hints=(
            "Sort the probabilities 0.5, 0.25, 0.15, 0.1, the largest first, and let p be 0.6. Which are kept?",
            "A token is kept if the sum of the probabilities *before* it, in that order, has not reached p yet. Which "
            "cumulative sum is that? And how is each probability returned to its token?",
            "probs.sort(descending=True) returns the values and their original indices. cumsum minus the value "
            "itself is the sum before it. kept[order] = … undoes the sort.",
        ),
    ),
    Exercise(
        "07.3", "one step with the KV cache", step_with_cache, draw_steps,
        mistakes={
            "the new token does not attend to itself: append its key and value before the attention":
                edit("(keys @ q", "(keys[:-1] @ q", "weights @ values", "weights @ values[:-1]"),
            "the returned cache is unchanged: the next token could not attend to this one":
                edit(", keys, values", ", keys[:-1], values[:-1]"),
            "the new key and value are prepended; the cache is in the order of the text":
                edit("[keys, k[None]]", "[k[None], keys]", "[values, v[None]]", "[v[None], values]"),
            "the scores are not divided by √width": edit(" / q.shape[-1] ** 0.5", ""),
            "the scores are divided by the width, not by its square root": edit(" ** 0.5", ""),
            "the scores are divided by the width and by 2, not by the root: ** binds tighter than /, so write ** 0.5":
                edit("** 0.5", "** 1 / 2"),
            "the division by √width comes after the softmax; scale the scores instead":
                edit(" / q.shape[-1] ** 0.5", "", "softmax(-1)", "softmax(-1) / q.shape[-1] ** 0.5"),
            "exp of a large score overflows to ∞, and of a large negative one underflows to 0: use .softmax":
                edit("= (keys", "= by_exp(keys", ".softmax(-1)", ""),
            "the query is cached instead of the key": edit("k[None]", "q[None]"),
            "the oldest token is dropped to keep the length: keep all previous tokens":
                edit("k[None]])", "k[None]])[1:]", "v[None]])", "v[None]])[1:]"),
        },
        hints=(
            "How many keys does the new token attend to if there are four tokens before it?",
            "First append one row to the cache. The rest is attention with a single query: one score per key.",
            "torch.cat([keys, k[None]]) adds a row. keys @ q gives all scores at once; do not forget √width.",
        ),
    ),
    Exercise(
        "07.4", "the logit lens", logit_lens, draw_layers,
        mistakes={
            "the norm is missing": edit("(normed * scale + shift)", "hidden"),
            "the vectors are divided by the variance; divide by its square root, the standard deviation":
                edit(".sqrt()", ""),
            "scale and shift are missing": edit("(normed * scale + shift)", "normed"),
            "the norm is over the positions, not over each vector":
                edit("hidden.mean(-1", "hidden.mean(1", "square().mean(-1", "square().mean(1"),
            "scale and shift are swapped: scale multiplies, shift is added": edit("scale + shift", "shift + scale"),
            "the shift is added before the multiplication by scale; add it last":
                edit("normed * scale + shift", "(normed + shift) * scale"),
            "nothing is added to the variance; for small vectors, the 1e-5 matters": edit(" + 1e-5", ""),
            "the 1e-5 is added to the standard deviation, not to the variance":
                edit(" + 1e-5).sqrt()", ").sqrt().add(1e-5)"),
            "the mean is not subtracted: this is a different norm, RMSNorm":
                edit("hidden - hidden.mean(-1, keepdim=True)", "hidden"),
            "the variance divides by one less than the width (.std() and .var() do so unless correction=0 is given)":
                edit("centred.square().mean", "hidden.var"),
        },
        hints=(
            "Three things happen to a vector after the last layer: it is normalized, scaled and shifted, and "
            "multiplied by the embedding of each token. Over which axis is the norm?",
            "Each vector separately: subtract its mean and divide by its standard deviation, both over the last axis "
            "with keepdim=True. Then take the dot product with every row of the embedding.",
            "Or use torch.nn.functional.layer_norm(hidden, [model], scale, shift); then @ embedding.T.",
        ),
    ),
)
