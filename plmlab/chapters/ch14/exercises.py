"""Exercises of chapter 14: CogQA (Ding et al. 2019). System 1, its loss and its span predictions; then System 2, the
messages that a node receives and the update they make. The complete loop is in `exercises_growth`."""

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor, rand, randn

from plmlab.chapters.ch14 import exercises_growth
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def pointing_loss(logits: Float[Tensor, "time"], targets: list[int]) -> Float[Tensor, ""]:
    """System 1's loss at one of its pointers: −Σ gt[i] · log p[i] over all positions i, in nats.

    ``logits`` has one number for each position of what is read. A softmax over all of them gives p, the
    chance of each position. ``targets`` are the positions to point at, such as the first words of the next
    hops, each once. If there are k of them, gt is 1/k at each, and 0 elsewhere. If the list is empty,
    there is nothing in the text to point at; then position 0, which is [CLS], is to be pointed at.
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
        "nothing to point at": drawn(6, []),
        "three targets, not in order": drawn(8, [6, 1, 3], 2.0),
        "the last position is the only target": drawn(4, [3]),
        "one position": drawn(1, []),
        "padding behind the text": drawn(5, [1, 2], padding=2),
        "nothing to point at, and padding": drawn(3, [], padding=4),
        "logits in the hundreds, to both sides": drawn(7, [2, 5], 150.0),
        "all logits below −100": drawn(6, [4, 3], shift=-150.0),
    }


def pointed_spans(
    starts: Float[Tensor, "time"], ends: Float[Tensor, "time"], most: int, longest: int,
) -> list[tuple[int, int]]:
    """The spans of a paragraph that System 1 points at, those with the largest start first.

    ``starts`` and ``ends`` are the logits of each position, of being the first and the last of a span. Position
    0 is [CLS], and the paragraph stands behind it. A span may start at each position whose start is
    above that of [CLS]; if there are more than ``most`` of them, at the ``most`` largest.
    A span that starts at i ends at the position with the largest end among i, i + 1, … that makes it at
    most ``longest`` positions long. Two spans may overlap. Give (start, end) of each as in a slice: ``end``
    is the position behind the last.

    (plmlab's `best_spans` also ends a span with its sentence; this one does not.)
    """
    spans = []
    for start in starts.argsort(descending=True)[:most].tolist():
        if starts[start] > starts[0]:
            spans.append((start, start + int(ends[start:start + longest].argmax()) + 1))
    return spans


def draw_logits(rng: Generator) -> Probes:
    """Inputs for 14.2: name → (starts, ends, most, longest)."""
    def told(starts: list[float], ends: list[float], most: int, longest: int) -> tuple[object, ...]:
        return torch.tensor(starts), torch.tensor(ends), most, longest

    def drawn(positions: int, most: int, longest: int, cls: float, shift: float = 0.0) -> tuple[object, ...]:
        starts, ends = randn(2, positions, generator=rng) + shift
        starts[0] = cls
        return starts, ends, most, longest

    return {
        "one position is above [CLS]": told([1.0, 0.0, 2.0, -1.0], [0.5, 3.0, 1.0, 2.0], 2, 3),
        "the largest end stands before the start, and the next too far behind": told(
            [1.0, 0.0, 5.0, 0.5, -2.0, -1.0, -3.0], [4.0, 9.0, 2.0, 1.0, 3.0, 6.0, 8.0], 3, 3),
        "more positions are above [CLS] than spans are asked for": told(
            [0.0, 1.2, 4.0, 2.0, 3.0, 0.5], [1.0, 5.0, 1.0, 4.5, 3.0, 2.0], 2, 2),
        "no position is above [CLS], and one is equal": told([3.0, 1.0, 3.0, 2.5], [0.0, 1.0, 2.0, 3.0], 3, 2),
        "all numbers are negative": told(
            [-4.0, -3.0, -6.0, -1.0, -2.0, -5.0], [-1.0, -5.0, -6.0, -4.0, -2.0, -3.0], 4, 3),
        "spans of one position": told([0.0, 2.0, -1.0, 3.0, 1.0], [2.0, 0.25, 3.0, -1.5, 1.0], 3, 1),
        "a start at the last position, and spans that overlap": drawn_to_the_end(),
        "fewer positions than spans are asked for": told([-1.0, 0.5, 1.5], [0.0, 1.0, -2.0], 5, 4),
        "eleven positions": drawn(11, 4, 4, -0.3),
        "thirteen positions, all below 0": drawn(13, 3, 5, -9.5, -9.0),
    }


def drawn_to_the_end() -> tuple[Tensor, Tensor, int, int]:
    """An input for 14.2 in which two spans end at one position, and a third at the last position."""
    return (torch.tensor([0.5, -1.0, 4.0, 2.0, 0.0, 3.0]), torch.tensor([7.0, 1.0, 0.5, 2.0, 5.0, -3.0]), 4, 3)


def equal_shares(edges: Bool[Tensor, "node node"]) -> Float[Tensor, "node node"]:
    """How much of each node another one hears: AD⁻¹.

    ``edges[i, j]`` is True where an edge leads from node i to node j. Then j hears i. A node hears all
    nodes that lead to it in equal shares: if they are three, a third of each. Give a table where row
    i, column j says how much of what node i says node j hears. Each column adds up to 1. But the
    column of a node to which nobody leads is 0: it hears nothing.
    """
    return edges / edges.sum(0).clamp(min=1)


def table(nodes: int, *edges: tuple[int, int]) -> Bool[Tensor, "node node"]:
    """Adjacency matrix of the edges, from the first node of each pair to the second."""
    adjacency = torch.zeros(nodes, nodes, dtype=torch.bool)
    for source, target in edges:
        adjacency[source, target] = True
    return adjacency


def draw_edges(rng: Generator) -> Probes:
    """Inputs for 14.3: name → (edges,)."""
    return {
        "one node leads to another": (table(2, (0, 1)),),
        "two lead to a third": (table(3, (0, 2), (1, 2)),),
        "one leads to three, and these to one": (table(5, (0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)),),
        "a circle of three, with a way out": (table(4, (0, 1), (1, 2), (2, 0), (1, 3)),),
        "nobody leads to anybody": (table(3),),
        "one node": (table(1),),
        "two graphs side by side": (table(6, (0, 1), (1, 2), (0, 2), (4, 3), (5, 3)),),
        "everyone leads to everyone else": (~torch.eye(4, dtype=torch.bool),),
        "seven nodes": (rand(7, 7, generator=rng) < 0.4,),
    }


def graph_round(
    x: Float[Tensor, "node model"], heard: Float[Tensor, "node node"],
    w1: Float[Tensor, "model width"], w2: Float[Tensor, "model width"],
) -> Float[Tensor, "node width"]:
    """The nodes after one round of System 2: X′ = σ(X W₂ + Δ), where Δ = (AD⁻¹)ᵀ σ(X W₁).

    Row i of ``x`` is what node i is before. ``heard`` is AD⁻¹: row i, column j says how much of what node
    i says node j hears. σ is GELU, as in the authors' code: torch.nn.functional.gelu as it is, without
    an approximation. The paper's W₁ and W₂ are here ``w1`` and ``w2``. A row is multiplied by them from
    the left, and there is no bias.
    """
    gelu = torch.nn.functional.gelu
    return gelu(x @ w2 + heard.T @ gelu(x @ w1))


def draw_rounds(rng: Generator) -> Probes:
    """Inputs for 14.4: name → (x, heard, w1, w2)."""
    def drawn(edges: Tensor, model: int, width: int, scale: float = 1.0) -> tuple[Tensor, ...]:
        weights = (randn(model, width, generator=rng) for _ in range(2))
        return scale * randn(len(edges), model, generator=rng), equal_shares(edges), *weights

    return {
        "one node leads to another": (torch.tensor([[1.0, 0.0], [0.0, 1.0]]), equal_shares(table(2, (0, 1))),
                                      torch.tensor([[1.0, -1.0], [2.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])),
        "three lead to one, that to a fifth": drawn(table(5, (0, 3), (1, 3), (2, 3), (3, 4)), 3, 3),
        "a circle of three, with a way out": drawn(table(4, (0, 1), (1, 2), (2, 0), (1, 3)), 2, 4),
        "nobody leads to anybody": drawn(table(3), 4, 2),
        "one node": drawn(table(1), 3, 2),
        "everyone leads to everyone else": drawn(~torch.eye(4, dtype=torch.bool), 4, 4),
        "small numbers": drawn(table(3, (0, 1), (0, 2), (1, 2)), 5, 3, 0.1),
    }


def between_its_targets(loss: Tensor, logits: Tensor, targets: list[int]) -> bool:
    """Whether a loss lies between those of the most and the least probable target."""
    each = -logits.log_softmax(0)[targets or [0]]
    return bool(each.min() - 1e-3 <= loss <= each.max() + 1e-3)


def alone(out: Tensor, x: Tensor, heard: Tensor, w1: Tensor, w2: Tensor) -> bool:
    """Whether nodes that receive no messages consist of their self-connection only."""
    silent = ~heard.any(0)
    return torch.allclose(out[silent], torch.nn.functional.gelu(x @ w2)[silent], atol=1e-3)


EXERCISES = (
    Exercise(
        "14.1", "what System 1 is taught", pointing_loss, draw_pointers,
        mistakes={
            "each target has the weight 1, and the costs are added up: of k targets each weighs 1/k":
                edit(".mean()", ".sum()"),
            "the sum is divided by the number of positions: .mean() over all positions, where the weights 1/k need "
            ".sum()":
                edit(".mean()", ".mean() / len(logits)"),
            "where there is nothing to point at, the loss is 0; there [CLS] is to be pointed at":
                edit("[targets or [0]].mean()", "[targets].sum() / max(len(targets), 1)"),
            "where there is nothing to point at, 0 is divided by 0 (the mean of no number is NaN); there [CLS] is the "
            "target": edit("targets or [0]", "targets"),
            "[CLS] is a target beside the others; it is one only where there is no other":
                edit("targets or [0]", "[0, *targets]"),
            "the softmax runs over the targets alone, so that one target costs nothing; it runs over all positions":
                edit(".log_softmax(0)[targets or [0]]", "[targets or [0]].log_softmax(0)"),
            "this is −log of the mean of the chances; asked is the mean of −log of each":
                edit(".mean()", ".logsumexp(0) + torch.tensor(max(len(targets), 1)).log()"),
            "the softmax is done twice: log_softmax and cross_entropy take logits":
                edit("log_softmax(0)", "softmax(0).log_softmax(0)"),
            "log after softmax: a chance that is rounded to 0 has the log −∞; use log_softmax":
                edit("log_softmax(0)", "softmax(0).log()"),
            "0 times −∞ is NaN: pick the targets' log-probabilities, instead of multiplying all by gt":
                edit(".mean()", ".mean() + (0 * logits).sum()"),
        },
        properties={
            "the loss is less than that of the likeliest target, or more than that of the unlikeliest":
                between_its_targets,
        },
        hints=(
            "Three positions with the chances 1/2, 1/4 and 1/4. Positions 1 and 2 are the targets. Which number does "
            "each add "
            "to the sum, and with which weight? And what is the loss if nothing is to be pointed at?",
            "A sum in which k numbers have the weight 1/k, and all others the weight 0, is the mean of these k. So "
            "take the log-probabilities of all positions first, and pick the targets' from them. An empty list stands "
            "for "
            "the list of one position.",
            "logits.log_softmax(0) is safe for large numbers. A tensor takes a list of places between its brackets, "
            "x[[1, 4]]. An empty list counts as False: `a or b` is b then.",
        ),
    ),
    Exercise(
        "14.2", "the spans of a paragraph", pointed_spans, draw_logits,
        mistakes={
            "[CLS] is not asked, and may start a span itself; only starts above it count":
                edit("starts[start] > starts[0]", "True"),
            "a start that is equal to [CLS] counts, and so [CLS] starts a span itself: > for >=":
                edit("> starts[0]", ">= starts[0]"),
            "starts above 0 count; what matters is whether they are above [CLS]": edit("> starts[0]", "> 0"),
            "the smallest starts are taken: sort and argsort begin with the smallest, if they are not told otherwise":
                edit("descending=True", ""),
            "topk stops with an error where there are fewer positions than it is asked for: take min(most, "
            "len(starts))":
                edit("argsort(descending=True)[:most]", "topk(most).indices"),
            "the end is looked for in the whole text, and may stand before the start":
                edit("start + int(ends[start:start + longest].argmax())", "int(ends.argmax())"),
            "the end is looked for in all of the text behind the start, however far: `longest` is forgotten":
                edit("[start:start + longest]", "[start:]"),
            "the end counts from the start: argmax of a piece counts from where the piece begins":
                edit("start + int", "int"),
            "the last position is given for the one behind it: add 1": edit("argmax()) + 1", "argmax())"),
            "the largest end is looked for from 0 up, and all may lie below 0":
                edit(".argmax()", ".clamp(min=0).argmax()"),
        },
        hints=(
            "Take the first input on paper. Which positions are above [CLS], and in which positions may a span that "
            "starts at "
            "position 2 end? What does argmax count from, if you cut a piece out of ``ends``?",
            "Go through the positions from the largest start on, as many as are asked for, and pass over those that "
            "are "
            "not above position 0. For each cut out of ``ends`` the positions that the span may end in. The place of "
            "the "
            "largest in the piece counts from the piece's beginning.",
            "starts.argsort(descending=True) gives the positions from the largest on, [:most] cuts, .tolist() makes "
            "numbers of them. x[i:i + n] may go beyond the end of x: then it is shorter. int(….argmax()) is a place "
            "that counts from 0.",
        ),
    ),
    Exercise(
        "14.3", "what a node hears", equal_shares, draw_edges,
        mistakes={
            "a column to which nobody leads is NaN, 0 divided by 0: D⁻¹ exists only where somebody leads to every node":
                edit(".clamp(min=1)", ""),
            "the inverse of D does not exist where nobody leads to a node: divide column by column":
                edit("edges / edges.sum(0).clamp(min=1)", "edges.float() @ torch.diag(edges.sum(0).float()).inverse()"),
            "rows are divided by their sums: so what is divided is what a node *says*, and a column need not add up "
            "to 1": edit("sum(0)", "sum(1, keepdim=True)"),
            "columns are divided by the sums of the rows: sum(0) adds up the rows of a column":
                edit("sum(0)", "sum(1)"),
            "rows are divided by the sums of the columns: D⁻¹ stands to the right of A, and a column has one number to "
            "divide by": edit(".clamp(min=1)", ".clamp(min=1)[:, None]"),
            "the table is turned over before it is divided: a node hears those that it leads to":
                edit("edges / edges", "edges.T / edges.T"),
            "nothing is divided: of three that lead to a node each is heard as loudly as one alone":
                edit(" / edges.sum(0).clamp(min=1)", ".float()"),
            "columns are divided by one more than their sums (+ 1 to avoid 0): clamp(min=1) changes only the zeros":
                edit("edges.sum(0).clamp(min=1)", "(edges.sum(0) + 1)"),
            "a node hears itself as well (A + I, as in a GCN); here it hears those that lead to it":
                edit("return", "edges = edges + torch.eye(len(edges))\n    return"),
            "an edge is taken in both directions; it leads from i to j alone":
                edit("return", "edges = edges | edges.T\n    return"),
        },
        properties={
            "a node is heard where no edge leads from it": lambda out, edges: not bool(out[~edges].any()),
            "a column to which somebody leads does not add up to 1": lambda out, edges: torch.allclose(
                out.sum(0), edges.any(0).float(), atol=1e-4),
        },
        hints=(
            "Nodes 0 and 1 lead to node 2, and to nobody else. Write down the table, 3 by 3. Which row and which "
            "column have numbers? By what did you divide, and what stands in the columns 0 and 1?",
            "The number of nodes that lead to j is the sum of column j. Each column is divided by its own sum. "
            "Where that is 0, all of the column is 0 too, and any other number to divide by leaves it so.",
            "edges.sum(0) has one number for each column, and a table divided by it is divided column by column. "
            ".clamp(min=…) keeps numbers from being too small. / makes floats of True and False.",
        ),
    ),
    Exercise(
        "14.4", "a round of the graph network", graph_round, draw_rounds,
        mistakes={
            "(AD⁻¹)ᵀ is not transposed: a node hears those that it leads to": edit("heard.T", "heard"),
            "the shares are counted as whole edges: a node hears the sum of those before it, not their mean":
                edit("heard.T", "(heard.T > 0).float()"),
            "the inner σ is missing: what is said is σ(X W₁)": edit("gelu(x @ w1)", "(x @ w1)"),
            "the outer σ is missing: it goes over X W₂ + Δ": edit("return gelu", "return "),
            "the outer σ goes over X W₂ alone; it goes over the sum X W₂ + Δ": edit("x @ w2 +", "x @ w2) + ("),
            "the inner σ goes over what is heard; it goes over what each node says, before the shares":
                edit("heard.T @ gelu(x @ w1)", "gelu(heard.T @ x @ w1)"),
            "Δ is bent by σ once more, as the paper writes it; asked is σ(X W₂ + (AD⁻¹)ᵀ σ(X W₁)), as in its authors' "
            "code": edit("heard.T @ gelu(x @ w1)", "gelu(heard.T @ gelu(x @ w1))"),
            "the weights w1 and w2 have changed places: W₁ is for what is said, W₂ for what a node keeps":
                edit("x @ w2 + heard.T @ gelu(x @ w1)", "x @ w1 + heard.T @ gelu(x @ w2)"),
            "the weights are transposed, as those of nn.Linear are; here X is multiplied by W as it is":
                edit("x @ w2", "x @ w2.T", "x @ w1", "x @ w1.T"),
            "X itself is kept, as in a residual connection; here X W₂ is": edit("x @ w2 +", "x +"),
        },
        properties={"a node to which nobody leads is not σ(X W₂)": alone},
        hints=(
            "Three nodes, two numbers each, and weights of two by four. Which shape has each product in the formula? "
            "What is left of the formula for a node to which nobody leads?",
            "First what each node says, σ(X W₁); then what each hears, a sum over those before it; then that is added "
            "to what it keeps of itself, X W₂, and σ goes over the sum. ``heard`` has who speaks in its rows and who "
            "hears in its columns.",
            "x @ w multiplies matrices, * number by number. heard.T turns rows into columns. The GELU is "
            "torch.nn.functional.gelu; it is called twice.",
        ),
    ),
    *exercises_growth.EXERCISES,
)
