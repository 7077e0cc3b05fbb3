"""Exercises of chapter 14: CogQA (Ding et al. 2019). System 1, its loss and its span predictions; then System 2, the
messages that a node receives and the update they make. The complete loop is in `exercises_growth`."""

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor, rand, randn

from plmlab.chapters.ch14 import exercises_growth
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def pointing_loss(logits: Float[Tensor, "time"], targets: list[int]) -> Float[Tensor, ""]:
    """The loss of one of System 1's span heads: −Σ gt[i] · log p[i] over all positions i, in nats.

    ``logits`` has one logit per position of the input. A softmax over all of them gives p, the probability
    of each position. ``targets`` are the target positions, such as the first words of the next hops, each
    once. If there are k of them, gt is 1/k at each, and 0 elsewhere. If the list is empty, the text
    contains no span to predict; then the target is position 0, which is [CLS].
    The logits of padding are −∞. It is never a target.
    """
    return -logits.log_softmax(0)[targets or [0]].mean()


def draw_pointers(rng: Generator) -> Probes:
    """Inputs for 14.1: name → (logits, targets)."""
    def drawn(positions: int, targets: list[int], scale: float = 1.0, shift: float = 0.0, padding: int = 0) -> tuple[
            Tensor, list[int]]:
        logits = scale * randn(positions, generator=rng) + shift
        return torch.cat([logits, torch.full((padding,), float("-inf"))]), targets

    return {
        "three positions, one target": (torch.tensor([1.0, 3.0, 2.0]), [1]),
        "two targets of five positions": drawn(5, [2, 4]),
        "no target": drawn(6, []),
        "three targets, not in order": drawn(8, [6, 1, 3], 2.0),
        "the last position is the only target": drawn(4, [3]),
        "one position": drawn(1, []),
        "padding after the text": drawn(5, [1, 2], padding=2),
        "no target, and padding": drawn(3, [], padding=4),
        "logits of hundreds, positive and negative": drawn(7, [2, 5], 150.0),
        "all logits below −100": drawn(6, [4, 3], shift=-150.0),
    }


def pointed_spans(
    starts: Float[Tensor, "time"], ends: Float[Tensor, "time"], max_spans: int, max_length: int,
) -> list[tuple[int, int]]:
    """The spans of a paragraph that System 1 predicts, sorted by decreasing start logit.

    ``starts`` and ``ends`` are the logits of each position for being the first and the last of a span. Position
    0 is [CLS], followed by the paragraph. A span starts at each position whose start logit is above that of
    [CLS]; if there are more than ``max_spans`` such positions, at those with the largest start logits. A span
    that starts at i ends at the position with the largest end logit among i, i + 1, … for which the span has at
    most ``max_length`` positions. Spans may overlap. Return (start, end) of each as in a slice: ``end`` is the
    position after the last.

    (plmlab's `best_spans` also ends a span with its sentence; this function does not.)
    """
    spans = []
    for start in starts.argsort(descending=True)[:max_spans].tolist():
        if starts[start] > starts[0]:
            spans.append((start, start + int(ends[start:start + max_length].argmax()) + 1))
    return spans


def draw_logits(rng: Generator) -> Probes:
    """Inputs for 14.2: name → (starts, ends, max_spans, max_length)."""
    def case(starts: list[float], ends: list[float], max_spans: int, max_length: int) -> tuple[object, ...]:
        return torch.tensor(starts), torch.tensor(ends), max_spans, max_length

    def drawn(positions: int, max_spans: int, max_length: int, cls: float, shift: float = 0.0) -> tuple[object, ...]:
        starts, ends = randn(2, positions, generator=rng) + shift
        starts[0] = cls
        return starts, ends, max_spans, max_length

    return {
        "one position is above [CLS]": case([1.0, 0.0, 2.0, -1.0], [0.5, 3.0, 1.0, 2.0], 2, 3),
        "the largest end is before the start, and the next too far after it": case(
            [1.0, 0.0, 5.0, 0.5, -2.0, -1.0, -3.0], [4.0, 9.0, 2.0, 1.0, 3.0, 6.0, 8.0], 3, 3),
        "more positions are above [CLS] than the maximum": case(
            [0.0, 1.2, 4.0, 2.0, 3.0, 0.5], [1.0, 5.0, 1.0, 4.5, 3.0, 2.0], 2, 2),
        "no position is above [CLS], and one is equal": case([3.0, 1.0, 3.0, 2.5], [0.0, 1.0, 2.0, 3.0], 3, 2),
        "all logits are negative": case(
            [-4.0, -3.0, -6.0, -1.0, -2.0, -5.0], [-1.0, -5.0, -6.0, -4.0, -2.0, -3.0], 4, 3),
        "spans of one position": case([0.0, 2.0, -1.0, 3.0, 1.0], [2.0, 0.25, 3.0, -1.5, 1.0], 3, 1),
        "a start at the last position, and spans that overlap": case(
            [0.5, -1.0, 4.0, 2.0, 0.0, 3.0], [7.0, 1.0, 0.5, 2.0, 5.0, -3.0], 4, 3),
        "fewer positions than the maximum": case([-1.0, 0.5, 1.5], [0.0, 1.0, -2.0], 5, 4),
        "eleven positions": drawn(11, 4, 4, -0.3),
        "thirteen positions, all below 0": drawn(13, 3, 5, -9.5, -9.0),
    }


def normalized_adjacency(edges: Bool[Tensor, "node node"]) -> Float[Tensor, "node node"]:
    """The column-normalized adjacency matrix AD⁻¹: the weights with which nodes average their messages.

    ``edges[i, j]`` is True if an edge leads from node i to node j. Then j receives the message of i. A node
    averages the messages of all its predecessors: with three, each has the weight 1/3. Return the matrix whose
    row i, column j is the weight of node i's message at node j. Each column sums to 1, except that
    the column of a node without predecessors is 0: it receives nothing.
    """
    return edges / edges.sum(0).clamp(min=1)


def graph(nodes: int, *edges: tuple[int, int]) -> Bool[Tensor, "node node"]:
    """Adjacency matrix of the edges, from the first node of each pair to the second."""
    adjacency = torch.zeros(nodes, nodes, dtype=torch.bool)
    for source, target in edges:
        adjacency[source, target] = True
    return adjacency


def draw_edges(rng: Generator) -> Probes:
    """Inputs for 14.3: name → (edges,)."""
    return {
        "one node leads to another": (graph(2, (0, 1)),),
        "two lead to a third": (graph(3, (0, 2), (1, 2)),),
        "one leads to three, and these to one": (graph(5, (0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)),),
        "a cycle of three, with an edge out of it": (graph(4, (0, 1), (1, 2), (2, 0), (1, 3)),),
        "no edges": (graph(3),),
        "one node": (graph(1),),
        "two components": (graph(6, (0, 1), (1, 2), (0, 2), (4, 3), (5, 3)),),
        "all edges but self-loops": (~torch.eye(4, dtype=torch.bool),),
        "seven nodes": (rand(7, 7, generator=rng) < 0.4,),
    }


def gnn_layer(
    x: Float[Tensor, "node model"], adjacency: Float[Tensor, "node node"],
    w1: Float[Tensor, "model width"], w2: Float[Tensor, "model width"],
) -> Float[Tensor, "node width"]:
    """One layer of System 2's graph neural network: X′ = σ(X W₂ + Δ), where Δ = (AD⁻¹)ᵀ σ(X W₁).

    Row i of ``x`` is the old representation of node i. ``adjacency`` is AD⁻¹: row i, column j is the weight of
    node i's message at node j. σ is GELU, as in the authors' code: torch.nn.functional.gelu with its
    defaults (exact, without an approximation). The paper's W₁ and W₂ are ``w1`` and ``w2``. A row x is
    multiplied as x @ w, as in the formula, and there is no bias.
    """
    gelu = torch.nn.functional.gelu
    return gelu(x @ w2 + adjacency.T @ gelu(x @ w1))


def draw_rounds(rng: Generator) -> Probes:
    """Inputs for 14.4: name → (x, adjacency, w1, w2)."""
    def drawn(edges: Tensor, model: int, width: int, scale: float = 1.0) -> tuple[Tensor, ...]:
        weights = (randn(model, width, generator=rng) for _ in range(2))
        return scale * randn(len(edges), model, generator=rng), normalized_adjacency(edges), *weights

    return {
        "one node leads to another": (torch.tensor([[1.0, 0.0], [0.0, 1.0]]), normalized_adjacency(graph(2, (0, 1))),
                                      torch.tensor([[1.0, -1.0], [2.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])),
        "three lead to one, that to a fifth": drawn(graph(5, (0, 3), (1, 3), (2, 3), (3, 4)), 3, 3),
        "a cycle of three, with an edge out of it": drawn(graph(4, (0, 1), (1, 2), (2, 0), (1, 3)), 2, 4),
        "no edges": drawn(graph(3), 4, 2),
        "one node": drawn(graph(1), 3, 2),
        "all edges but self-loops": drawn(~torch.eye(4, dtype=torch.bool), 4, 4),
        "small numbers": drawn(graph(3, (0, 1), (0, 2), (1, 2)), 5, 3, 0.1),
    }


def between_its_targets(loss: Tensor, logits: Tensor, targets: list[int]) -> bool:
    """Whether a loss lies between those of the most and the least probable target."""
    each = -logits.log_softmax(0)[targets or [0]]
    return bool(each.min() - 1e-3 <= loss <= each.max() + 1e-3)


def self_connection_only(out: Tensor, x: Tensor, adjacency: Tensor, w1: Tensor, w2: Tensor) -> bool:
    """Whether nodes that receive no messages consist of their self-connection only."""
    silent = ~adjacency.any(0)
    return torch.allclose(out[silent], torch.nn.functional.gelu(x @ w2)[silent], atol=1e-3)


EXERCISES = (
    Exercise(
        "14.1", "the loss of System 1", pointing_loss, draw_pointers,
        mistakes={
            "each target has the weight 1, and the losses are summed; each of k targets has the weight 1/k":
                edit(".mean()", ".sum()"),
            "the sum is divided by the number of positions; with the weights 1/k, use .sum() over all positions "
            "instead of .mean()": edit(".mean()", ".mean() / len(logits)"),
            "without targets, the loss is 0; the target should then be [CLS]":
                edit("[targets or [0]].mean()", "[targets].sum() / max(len(targets), 1)"),
            "without targets, 0 is divided by 0 (the mean of no numbers is NaN); the target should then be [CLS]":
                edit("targets or [0]", "targets"),
            "[CLS] is always a target; it should be one only if there is no other":
                edit("targets or [0]", "[0, *targets]"),
            "the softmax runs over the targets alone, so that the loss of a single target is 0; it should run "
            "over all positions": edit(".log_softmax(0)[targets or [0]]", "[targets or [0]].log_softmax(0)"),
            "this is −log of the mean probability; compute the mean of the −log probabilities":
                edit(".mean()", ".logsumexp(0) + torch.tensor(max(len(targets), 1)).log()"),
            "the softmax is applied twice: log_softmax and cross_entropy take logits":
                edit("log_softmax(0)", "softmax(0).log_softmax(0)"),
            "log after softmax: a probability that underflows to 0 has the log −∞; use log_softmax":
                edit("log_softmax(0)", "softmax(0).log()"),
            "0 times −∞ is NaN: select the targets' log-probabilities instead of multiplying all by gt":
                edit(".mean()", ".mean() + (0 * logits).sum()"),
        },
        properties={
            "the loss is below that of the most probable target, or above that of the least probable":
                between_its_targets,
        },
        hints=(
            "Suppose three positions have the probabilities 1/2, 1/4 and 1/4, and positions 1 and 2 are the targets. "
            "Which term does each add to the sum, and with which weight? What is the loss without targets?",
            "A sum in which k terms have the weight 1/k, and all others the weight 0, is the mean of these k. So "
            "compute the log-probabilities of all positions first, and select those of the targets. Replace an empty "
            "list by a list with one position.",
            "logits.log_softmax(0) is stable for large numbers. A tensor can be indexed with a list, x[[1, 4]]. An "
            "empty list counts as False: `a or b` is then b.",
        ),
    ),
    Exercise(
        "14.2", "the spans of a paragraph", pointed_spans, draw_logits,
        mistakes={
            "the logit of [CLS] is ignored, and [CLS] may start a span; only larger start logits are allowed":
                edit("starts[start] > starts[0]", "True"),
            "a start logit equal to that of [CLS] is allowed, so [CLS] itself starts a span: use >, not >=":
                edit("> starts[0]", ">= starts[0]"),
            "start logits above 0 are used; the threshold is the start logit of [CLS]": edit("> starts[0]", "> 0"),
            "the smallest logits are selected: sort and argsort are ascending by default": edit("descending=True", ""),
            "topk fails if there are fewer positions than requested: use min(max_spans, len(starts))":
                edit("argsort(descending=True)[:max_spans]", "topk(max_spans).indices"),
            "the end is searched for in the whole text, and may be before the start":
                edit("start + int(ends[start:start + max_length].argmax())", "int(ends.argmax())"),
            "the end is searched for in all of the text after the start: `max_length` is ignored":
                edit("[start:start + max_length]", "[start:]"),
            "the end is relative to the start: argmax of a slice counts from the start of the slice":
                edit("start + int", "int"),
            "the last position is returned instead of the one after it: add 1": edit("argmax()) + 1", "argmax())"),
            "the largest end logit is taken to be at least 0, but all may be negative":
                edit(".argmax()", ".clamp(min=0).argmax()"),
        },
        hints=(
            "Work through the first input on paper. Which positions are above [CLS], and at which positions can a "
            "span that starts at position 2 end? What does argmax count from in a slice of ``ends``?",
            "Go through at most ``max_spans`` positions by decreasing start logit, and skip those that are not above "
            "position 0. For each, slice ``ends`` to the positions where the span may end. The argmax of a slice "
            "counts from the start of the slice.",
            "starts.argsort(descending=True) gives the positions in decreasing order, [:max_spans] slices, .tolist() "
            "converts to numbers. x[i:i + n] may reach beyond the end of x: then it is shorter. int(….argmax()) is an "
            "index from 0.",
        ),
    ),
    Exercise(
        "14.3", "the normalized adjacency matrix", normalized_adjacency, draw_edges,
        mistakes={
            "a column without edges is NaN, 0 divided by 0: D⁻¹ exists only if every node has a predecessor":
                edit(".clamp(min=1)", ""),
            "the inverse of D does not exist if a node has no predecessor: divide column by column":
                edit("edges / edges.sum(0).clamp(min=1)", "edges.float() @ torch.diag(edges.sum(0).float()).inverse()"),
            "rows are divided by their sums, which normalizes the messages that a node *sends*; the columns should "
            "sum to 1": edit("sum(0)", "sum(1, keepdim=True)"),
            "columns are divided by the row sums: sum(0) sums over the rows of a column": edit("sum(0)", "sum(1)"),
            "rows are divided by the column sums: D⁻¹ is to the right of A, and each column has one divisor":
                edit(".clamp(min=1)", ".clamp(min=1)[:, None]"),
            "the matrix is transposed before the division: a node receives messages from its successors":
                edit("edges / edges", "edges.T / edges.T"),
            "the columns are not normalized: each of three predecessors has the same weight as a single one":
                edit(" / edges.sum(0).clamp(min=1)", ".float()"),
            "columns are divided by their sums + 1 (to avoid 0): clamp(min=1) changes only the zeros":
                edit("edges.sum(0).clamp(min=1)", "(edges.sum(0) + 1)"),
            "self-loops are added (A + I, as in a GCN); here a node receives only from its predecessors":
                edit("return", "edges = edges + torch.eye(len(edges))\n    return"),
            "edges are treated as undirected; an edge leads from i to j only":
                edit("return", "edges = edges | edges.T\n    return"),
        },
        properties={
            "a weight is not 0 where there is no edge": lambda out, edges: not bool(out[~edges].any()),
            "a column with edges does not sum to 1": lambda out, edges: torch.allclose(
                out.sum(0), edges.any(0).float(), atol=1e-4),
        },
        hints=(
            "Suppose the only edges lead from nodes 0 and 1 to node 2. Write down the 3×3 matrix. Which row and "
            "which column have non-zero entries? What did you divide by, and what is in columns 0 and 1?",
            "The number of predecessors of j is the sum of column j. Each column is divided by its own sum. If that "
            "is 0, the whole column is 0 too, and any non-zero divisor leaves it unchanged.",
            "edges.sum(0) has one entry per column, and dividing a matrix by it divides column by column. "
            ".clamp(min=…) sets a lower bound. / converts True and False to floats.",
        ),
    ),
    Exercise(
        "14.4", "a layer of the graph neural network", gnn_layer, draw_rounds,
        mistakes={
            "(AD⁻¹)ᵀ is not transposed: a node receives messages from its successors": edit("adjacency.T", "adjacency"),
            "the weights are replaced by 1: a node receives the sum of its predecessors' messages, not their mean":
                edit("adjacency.T", "(adjacency.T > 0).float()"),
            "the inner σ is missing: the messages are σ(X W₁)": edit("gelu(x @ w1)", "(x @ w1)"),
            "the outer σ is missing: it is applied to X W₂ + Δ": edit("return gelu", "return "),
            "the outer σ is applied to X W₂ alone; apply it to the sum X W₂ + Δ": edit("x @ w2 +", "x @ w2) + ("),
            "the inner σ is applied to the averaged messages; apply it to each message before averaging":
                edit("adjacency.T @ gelu(x @ w1)", "gelu(adjacency.T @ x @ w1)"),
            "σ is applied to Δ once more, as in the paper; here it is σ(X W₂ + (AD⁻¹)ᵀ σ(X W₁)), as in the authors' "
            "code": edit("adjacency.T @ gelu(x @ w1)", "gelu(adjacency.T @ gelu(x @ w1))"),
            "the weights w1 and w2 are swapped: W₁ is for the messages, W₂ for the self-connection":
                edit("x @ w2 + adjacency.T @ gelu(x @ w1)", "x @ w1 + adjacency.T @ gelu(x @ w2)"),
            "the weights are transposed, as in nn.Linear; here X is multiplied by W itself":
                edit("x @ w2", "x @ w2.T", "x @ w1", "x @ w1.T"),
            "X itself is added, as in a residual connection; here it is X W₂": edit("x @ w2 +", "x +"),
        },
        properties={"a node without predecessors is not σ(X W₂)": self_connection_only},
        hints=(
            "Suppose x has the shape (3, 2), and w1 and w2 (2, 4). What is the shape of each product in the formula? "
            "What remains of the formula for a node without predecessors?",
            "First compute each node's message, σ(X W₁), and then, for each node, the weighted sum of its "
            "predecessors' messages. Add the self-connection X W₂, and apply σ to the sum. In ``adjacency``, rows are "
            "senders and columns receivers.",
            "x @ w is the matrix product, * is element-wise. adjacency.T turns rows into columns. The GELU is "
            "torch.nn.functional.gelu; call it twice.",
        ),
    ),
    *exercises_growth.EXERCISES,
)
