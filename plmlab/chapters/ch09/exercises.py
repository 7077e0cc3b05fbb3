"""Exercises of chapter 09: what BERT's successors mask, share and predict (WWM, SpanBERT, ALBERT, ELECTRA)."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, rand, randint, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def whole_words(tokens: list[str], order: list[int], budget: int) -> list[int]:
    """The positions that whole-word masking selects, in ascending order.

    A WordPiece token that starts with ## continues the word before it; any other token starts a word. [CLS],
    [SEP] and [PAD] belong to no word; [UNK] is a word. Words are counted from 0, in the order of the text.
    ``order`` lists the indices of all words in the order in which they are considered. A word is selected with all
    its tokens; if the number of selected tokens would exceed ``budget``, it is skipped, and the next is considered.
    """
    words = list[list[int]]()
    for position, token in enumerate(tokens):
        if token.startswith("##"):
            words[-1].append(position)
        elif token not in ("[CLS]", "[SEP]", "[PAD]"):
            words.append([position])
    selected = list[int]()
    for word in order:
        if len(selected) + len(words[word]) <= budget:
            selected += words[word]
    return sorted(selected)


def draw_tokens(_: Generator) -> Probes:
    """Inputs for 09.1: name → (tokens, order of the words, budget)."""
    def given(text: str, order: str, budget: int) -> tuple[list[str], list[int], int]:
        return text.split(), [int(word) for word in order], budget

    return {
        "three words, one of two tokens": given("[CLS] a gene ##ral speaks [SEP]", "102", 2),
        "a word is skipped, a later one fits": given("[CLS] phil ##am ##mon ' s head [SEP]", "3012", 2),
        "padding before the text": given("[PAD] [PAD] [CLS] he em ##bed ##s it [SEP]", "210", 3),
        "two segments": given("[CLS] the un ##aff ##able man [SEP] em ##bed ##s words [SEP] [PAD]", "34102", 5),
        "tokens that look like special ones": given("[CLS] [UNK] [ 1 ] # play ##ing [SEP]", "054123", 5),
        "a budget of 0": given("[CLS] re ##play it [SEP]", "10", 0),
        "every word fits": given("[CLS] to ##ken ##ize all of it [SEP] [PAD]", "2031", 9),
    }


def replaced_tokens(
    tokens: Int[Tensor, "batch time"], selected: Bool[Tensor, "batch time"], sampled: Int[Tensor, "batch time"],
    logits: Float[Tensor, "batch time"], real: Bool[Tensor, "batch time"],
) -> tuple[Int[Tensor, "batch time"], Bool[Tensor, "batch time"], Float[Tensor, ""]]:
    """ELECTRA's replaced-token detection: the discriminator's input, the labels and the discriminator's loss.

    ``tokens`` are the original texts. In the input, the generator's samples, ``sampled``, replace the
    tokens at the ``selected`` positions only. The label of a position is True if its input token differs
    from the original one: a sample that equals the original token is not a replacement. ``logits`` are
    the discriminator's outputs, the logit of "was replaced" at each position. The loss is the mean binary
    cross-entropy over all positions of the batch that are not padding, i.e. where ``real`` is True.
    """
    corrupted = torch.where(selected, sampled, tokens)
    labels = corrupted != tokens
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logits[real], labels[real].float())
    return corrupted, labels, loss


def draw_samples(rng: Generator) -> Probes:
    """Inputs for 09.2: name → (tokens, selected positions, samples, logits, positions that are not padding)."""
    def drawn(time: int, share: float, *lengths: int, scale: float = 1.0, before: bool = False) -> tuple[Tensor, ...]:
        real = torch.arange(time) < torch.tensor(lengths)[:, None]
        real = real.flip(1) if before else real
        tokens, others = (randint(7, 50, real.shape, generator=rng) * real for _ in range(2))
        sampled = others.where(rand(real.shape, generator=rng) < 0.6, tokens)
        selected = real & (rand(real.shape, generator=rng) < share)
        return tokens, selected, sampled, scale * randn(real.shape, generator=rng), real

    return {
        "three tokens, two selected, one sample correct": (
            torch.tensor([[10, 11, 12]]), torch.tensor([[True, True, False]]), torch.tensor([[20, 11, 30]]),
            torch.tensor([[1.0, 0.0, -2.0]]), torch.ones(1, 3, dtype=torch.bool)),
        "two texts of different lengths": drawn(7, 0.5, 7, 3),
        "padding before the texts": drawn(6, 0.4, 4, 6, 2, before=True),
        "no position selected": drawn(5, 0.0, 5, 5),
        "every position selected": drawn(4, 1.0, 4, 4),
        "logits of hundreds": drawn(6, 0.5, 6, 6, scale=200.0),
    }


def span_lengths(p: float, longest: int) -> tuple[Float[Tensor, "word"], float]:
    """SpanBERT's distribution of span lengths, and its mean.

    A geometric distribution assigns the probability p(1 − p)^(l − 1) to the length l = 1, 2, 3, … Lengths above
    ``longest`` are excluded, and the probabilities of the others are renormalized to sum to 1. Return the
    probabilities of the lengths 1 to ``longest``, and the mean length.
    """
    lengths = torch.arange(1, longest + 1)
    weights = p * (1 - p) ** (lengths - 1)
    probabilities = weights / weights.sum()
    return probabilities, (probabilities * lengths).sum().item()


def draw_lengths(_: Generator) -> Probes:
    """Inputs for 09.3: name → (p, the maximum length)."""
    return {"two lengths": (0.5, 2), "SpanBERT's": (0.2, 10), "a single length": (0.3, 1), "mostly one word": (0.9, 3),
            "nearly uniform": (0.02, 12), "seven lengths": (0.4, 7)}


def boundary_inputs(
    x: Float[Tensor, "time model"], p: Float[Tensor, "position width"], spans: list[list[int]],
) -> tuple[Int[Tensor, "query"], Float[Tensor, "query joined"]]:
    """The targets of SpanBERT's span boundary objective, and the input from which each is predicted.

    ``x`` holds the encoder's output at each position of a text. ``spans`` gives [begin, end] of each masked span, as
    in a slice, in the order of the text; between two spans there is an unmasked token. A token of a span is predicted
    from three vectors, concatenated in this order: the output at the last position before the span, the output at the
    first position after it, and the embedding of the token's relative position in the span: row 0 of ``p`` for its
    first token. A span at the beginning or the end of the text lacks one of the outputs: its tokens are not
    predicted. Return the positions of the predicted tokens, at least one, and their inputs, one row each.
    """
    targets, inputs = list[int](), list[Tensor]()
    for begin, end in spans:
        if begin > 0 and end < len(x):
            for position in range(begin, end):
                targets.append(position)
                inputs.append(torch.cat([x[begin - 1], x[end], p[position - begin]]))
    return torch.tensor(targets), torch.stack(inputs)


def draw_spans(rng: Generator) -> Probes:
    """Inputs for 09.4: name → (outputs, embeddings of the relative positions, spans)."""
    def drawn(time: int, model: int, width: int, *spans: list[int]) -> tuple[Tensor, Tensor, list[list[int]]]:
        return randn(time, model, generator=rng), randn(time + 1, width, generator=rng), [*spans]

    return {
        "five positions, a span of two": (torch.arange(1.0, 6)[:, None], torch.arange(10.0, 70, 10)[:, None], [[2, 4]]),
        "a span of one token": drawn(4, 2, 3, [1, 2]),
        "two spans, one token apart": drawn(9, 3, 2, [1, 4], [5, 7]),
        "a span at the beginning": drawn(8, 2, 2, [0, 2], [4, 7]),
        "a span at the end": drawn(7, 3, 4, [1, 4], [6, 7]),
        "spans at both ends, and two between": drawn(13, 4, 3, [0, 1], [3, 5], [6, 10], [11, 13]),
    }


def sentence_order(sentences: list[list[int]], first: int, draw: float) -> tuple[Tensor, Tensor, int]:
    """ALBERT's input for sentence-order prediction: token ids, segment ids and the label.

    The first ``first`` sentences of a text form one segment, the others the next; neither is empty. The two are
    swapped if ``draw``, a random number in [0, 1), is below 0.5. The input is [CLS], the segment that now comes
    first, [SEP], the other segment, [SEP]. The segment id is 0 up to and including the first [SEP], and 1 after it.
    The label is 1 if the segments were swapped, otherwise 0. [CLS] is token id 2, [SEP] is 3. Return two integer
    tensors and the label.
    """
    one, two = ([token for sentence in part for token in sentence] for part in (sentences[:first], sentences[first:]))
    swapped = draw < 0.5
    if swapped:
        one, two = two, one
    tokens = [2, *one, 3, *two, 3]
    segments = [0] * (len(one) + 2) + [1] * (len(two) + 1)
    return torch.tensor(tokens), torch.tensor(segments), int(swapped)


def draw_sentences(rng: Generator) -> Probes:
    """Inputs for 09.5: name → (sentences, how many form the first segment, the random number)."""
    def drawn(first: int, draw: float, *lengths: int) -> tuple[list[list[int]], int, float]:
        return [randint(10, 90, (length,), generator=rng).tolist() for length in lengths], first, draw

    return {
        "two sentences, swapped": ([[11, 12], [13]], 1, 0.2),
        "two sentences, not swapped": ([[11, 12], [13]], 1, 0.7),
        "a random number of 0.5": drawn(1, 0.5, 3, 2),
        "five sentences, swapped": drawn(2, 0.0, 2, 3, 1, 4, 2),
        "four sentences, not swapped": drawn(3, 0.99, 1, 2, 4, 3),
        "two equal sentences, swapped": ([[20, 21], [20, 21]], 1, 0.49),
    }


def parameters(vocab: int, embedding: int, model: int, inner: int, layers: int, groups: int) -> int:
    """The number of parameters of an ALBERT encoder; with E = H and no sharing, of a BERT encoder.

    E is ``embedding``, H is ``model``. Every linear layer has biases, and a layer norm has two parameters per
    dimension. The embeddings of ``vocab`` tokens, 512 positions and 2 segments have E dimensions, and so has the
    layer norm of their sum. If E ≠ H, a linear layer projects from E to H. Each of the ``layers`` layers has four
    linear layers from H to H (query, key, value, output), one from H to ``inner``, one back, and two layer norms. The
    layers form ``groups`` groups, whose layers share their parameters. The pooler is a linear layer from H to H.
    """
    embeddings = (vocab + 512 + 2) * embedding + 2 * embedding
    projection = (embedding + 1) * model if embedding != model else 0
    attention = 4 * (model + 1) * model
    feed_forward = (model + 1) * inner + (inner + 1) * model
    norms = 2 * 2 * model
    return embeddings + projection + groups * (attention + feed_forward + norms) + (model + 1) * model


def draw_sizes(_: Generator) -> Probes:
    """Inputs for 09.6: name → (vocabulary, E, H, inner width, layers, groups)."""
    return {
        "two layers that share": (5, 2, 3, 4, 2, 1),
        "three layers of their own, E = H": (9, 4, 4, 7, 3, 3),
        "six layers in two groups": (20, 3, 8, 5, 6, 2),
        "E > H": (7, 6, 2, 9, 4, 4),
        "ALBERT-base": (30000, 128, 768, 3072, 12, 1),
        "BERT-base": (30522, 768, 768, 3072, 12, 12),
    }


EXERCISES = (
    Exercise(
        "09.1", "whole words from WordPiece tokens", whole_words, draw_tokens,
        mistakes={
            "a ## token is counted as a word of its own": edit("[-1].append(position)", ".append([position])"),
            "[CLS], [SEP] and [PAD] are counted as words": edit('("[CLS]", "[SEP]", "[PAD]")', "()"),
            "[PAD] is counted as a word, which matters where padding precedes the text": edit(', "[PAD]"', ""),
            "every token that starts with [ is taken for a special one; [UNK] and [ are words":
                edit('token not in ("[CLS]", "[SEP]", "[PAD]")', 'not token.startswith("[")'),
            "the first word that does not fit ends the selection; skip it and consider the next one":
                edit("selected += words[word]", "selected += words[word]\n        else:\n            break"),
            "the last word exceeds the budget": edit(" + len(words[word]) <= budget", " < budget"),
            "the budget is never used up: < instead of <=": edit("<= budget", "< budget"),
            "the budget counts words; it is a number of tokens":
                edit("in order:", "in order[:budget]:", "len(selected) + len(words[word]) <= budget", "True"),
            "only the first token of each selected word is returned": edit("+= words[word]", "+= words[word][:1]"),
            "the positions are in the order of selection, not ascending": edit("sorted(selected)", "selected"),
        },
        hints=(
            "[CLS] phil ##am ##mon ' s head [SEP]: which positions does each word consist of? Which are selected with "
            "a budget of 2, in the order 3, 0, 1, 2?",
            "Two loops. The first builds a list of words, each a list of positions: a token with ## extends the last "
            "word, another token starts a new one. The second adds a whole word or nothing.",
            "enumerate numbers the positions, token.startswith(…) tests a prefix, words[-1] is the last word, and "
            "sorted(…) sorts. Compare the length *after* adding the word with the budget.",
        ),
    ),
    Exercise(
        "09.2", "replaced-token detection", replaced_tokens, draw_samples,
        mistakes={
            "a sample that equals the original token is labelled as replaced": edit("corrupted != tokens", "selected"),
            "only the selected positions count": edit("[real], labels[real]", "[selected], labels[selected]"),
            "padding counts in the mean": edit("[real], labels[real]", ", labels"),
            "the labels are inverted: True means replaced": edit("!= tokens", "== tokens"),
            "the input is the original text": edit("return corrupted", "return tokens"),
            "the input has [MASK] at the selected positions; that is the generator's input":
                edit("return corrupted", "return tokens.masked_fill(selected, 4)"),
            "samples replace all tokens": edit("torch.where(selected, sampled, tokens)", "sampled"),
            "the sigmoid is applied twice: the loss takes logits": edit("logits[real],", "logits[real].sigmoid(),"),
            "each text has the same weight in the mean; each position has": edit(
                "torch.nn.functional.binary_cross_entropy_with_logits(logits[real], labels[real].float())",
                "torch.stack([torch.nn.functional.binary_cross_entropy_with_logits(logits[i][real[i]], "
                "labels[i][real[i]].float()) for i in range(len(tokens))]).mean()"),
        },
        hints=(
            "Tokens a b c, samples x b z, the first two positions selected. What is the discriminator's input? What "
            "are the three labels? How many positions contribute to the loss?",
            "First replace tokens where they are selected, then compare the result with the original. Drop the "
            "padding from logits and labels alike before the mean.",
            "torch.where(condition, a, b) and x[mask], with a mask of bools, select positions. "
            "torch.nn.functional.binary_cross_entropy_with_logits takes logits and targets, both floats.",
        ),
    ),
    Exercise(
        "09.3", "the lengths of SpanBERT's spans", span_lengths, draw_lengths,
        mistakes={
            "the probabilities are not renormalized: they sum to less than 1": edit(" / weights.sum()", ""),
            "lengths above the maximum are clipped to it, which gets their probability; exclude them":
                edit("weights / weights.sum()", "torch.cat([weights[:-1], 1 - weights[:-1].sum()[None]])"),
            "p and 1 − p are swapped": edit("p * (1 - p) **", "(1 - p) * p **"),
            "the mean counts lengths from 0; the shortest span has one word": edit("* lengths)", "* (lengths - 1))"),
            "the mean is 1/p, as if there were no maximum": edit("(probabilities * lengths).sum().item()", "1 / p"),
            "the mean ignores the probabilities": edit("(probabilities * lengths).sum()", "lengths.float().mean()"),
            "the softmax is taken; divide by the sum": edit("weights / weights.sum()", "weights.softmax(0)"),
            "the maximum length is missing: torch.arange excludes its end": edit("longest + 1", "longest"),
        },
        hints=(
            "Take p = 0.5 and at most two words. What are p, p(1 − p) and their sum? What must each be divided by?",
            "Excluding lengths is conditioning: each remaining probability is divided by the sum of the remaining "
            "ones. The mean is the sum of length times probability.",
            "torch.arange counts the lengths; arithmetic is element-wise, ** is the power, .item() gives a number.",
        ),
    ),
    Exercise(
        "09.4", "inputs of the span boundary objective", boundary_inputs, draw_spans,
        mistakes={
            "the outputs at the span's own ends are used": edit("x[begin - 1], x[end]", "x[begin], x[end - 1]"),
            "each token's neighbours are used": edit("x[begin - 1], x[end]", "x[position - 1], x[position + 1]"),
            "one of the outputs is that of the masked token itself": edit("x[end]", "x[position]"),
            "the output after the span is placed first": edit("x[begin - 1], x[end]", "x[end], x[begin - 1]"),
            "the relative position is counted from 1; the first row is 0": edit("- begin]", "- begin + 1]"),
            "the position in the text is used instead of that in the span": edit("position - begin]", "position]"),
            "the relative position is counted from the end": edit("p[position - begin]", "p[end - 1 - position]"),
            "a span at the beginning gets x[-1], the output at the end of the text": edit("begin > 0 and ", ""),
            "a span at an edge uses a position of its own as the missing boundary; its tokens are not predicted":
                edit("begin > 0 and end < len(x)", "True", "x[begin - 1]", "x[max(0, begin - 1)]",
                     "x[end]", "x[min(end, len(x) - 1)]"),
        },
        hints=(
            "Five positions, and the span [2, 4]. Which two tokens are predicted, from which two outputs, and with "
            "which rows of p? What changes for the spans [0, 2] and [3, 5]?",
            "Two loops: over the spans, and over the positions of each. Only p differs within a span.",
            "`end` is exclusive: it is the position after the span. torch.cat([…]) joins the three vectors, and "
            "torch.stack(…) all rows. Note that x[-1] is not an error in Python.",
        ),
    ),
    Exercise(
        "09.5", "sentence-order prediction", sentence_order, draw_sentences,
        mistakes={
            "the label is inverted: 1 means that the segments were swapped": edit("int(swapped)", "int(not swapped)"),
            "the segment ids are swapped too, and reveal the label": edit("(segments)", "(segments) ^ int(swapped)"),
            "the order of the sentences is reversed, not that of the segments; a segment keeps its sentences' order":
                edit("one, two = two, one", "one, two = (sum(part[::-1], []) for part in (sentences[first:], "
                     "sentences[:first]))"),
            "each segment consists of the sentence next to the boundary; use all sentences":
                edit("sentences[:first], sentences[first:]", "sentences[first - 1:first], sentences[first:first + 1]"),
            "the last [SEP] is missing": edit("*two, 3]", "*two]", "len(two) + 1", "len(two)"),
            "the first [SEP] has segment id 1": edit("len(one) + 2", "len(one) + 1", "len(two) + 1", "len(two) + 2"),
            "a random number of 0.5 swaps the segments: below 0.5 means <": edit("draw < 0.5", "draw <= 0.5"),
            "the segments are swapped if the random number is at least 0.5": edit("draw < 0.5", "draw >= 0.5"),
            "the label is 1, but the segments are never swapped": edit("one, two = two, one", "pass"),
        },
        hints=(
            "Two sentences, a b and c. Write down the input, the segment ids and the label for a draw of 0.7, and for "
            "one of 0.2. Could a model infer the label from the segment ids?",
            "Concatenate the sentences of each segment, swap the two lists if necessary, and only then add [CLS] and "
            "[SEP]. The segment ids depend on the lengths after the swap.",
            "[token for sentence in part for token in sentence] concatenates, [2, *one, 3] inserts a list into "
            "another, [0] * n repeats, and int(…) converts True to 1.",
        ),
    ),
    Exercise(
        "09.6", "ALBERT's parameters", parameters, draw_sizes,
        mistakes={
            "shared parameters are counted once per layer, not once per group": edit("groups *", "layers *"),
            "the layers of one group are counted, not the groups": edit("groups *", "layers // groups *"),
            "the embeddings have H dimensions": edit("2) * embedding + 2 * embedding", "2) * model + 2 * model"),
            "positions and segments have H dimensions; only the sum of all three is projected":
                edit("(vocab + 512 + 2) * embedding", "vocab * embedding + (512 + 2) * model"),
            "the projection from E to H is missing": edit("(embedding + 1) * model if embedding != model else 0", "0"),
            "the projection is counted although E = H": edit(" if embedding != model else 0", ""),
            "the linear layers have no biases": edit("(embedding + 1)", "embedding", "4 * (model + 1)", "4 * model",
                "(model + 1) * inner + (inner + 1)", "model * inner + inner", "(model + 1) * model", "model * model"),
            "attention has three linear layers; the output is transformed as well": edit("4 *", "3 *"),
            "one of the two layer norms of a layer is missing": edit("2 * 2 * model", "2 * model"),
            "the pooler is missing": edit("norms) + (model + 1) * model", "norms)"),
        },
        hints=(
            "A linear layer from 3 to 4 dimensions has how many weights and how many biases? Which of an encoder's "
            "parameters grow with the vocabulary, and which with the number of layers?",
            "Add the counts of the embeddings with their layer norm, the projection, the different layers and the "
            "pooler. A layer has six linear layers and two layer norms.",
            "A linear layer from a to b has (a + 1) · b parameters. Multiply the count of one layer by `groups`.",
        ),
    ),
)
