"""The solutions of chapter 09 against independent computations; other correct answers are accepted, and common mistakes
are named."""

from fractions import Fraction
from itertools import chain, permutations
from random import Random

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch.nn import functional as F
from transformers import AlbertConfig, AlbertModel, BertConfig, BertModel, ElectraConfig, ElectraForPreTraining

from plmlab.chapters.ch09 import exercises as right
from plmlab.exercises import check
from plmlab.objectives import masked
from plmlab.text.vocabulary import Vocabulary

SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


# The solutions

@pytest.fixture(scope="module")
def wordpiece():
    """A WordPiece tokenizer of the library `tokenizers`, which knows the word of each token."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "phil", "##am", "##mon", "em", "##bed", "##s", "'", "s", "he", "["]
    made = Tokenizer(models.WordPiece({token: i for i, token in enumerate([*tokens, "#"])}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return made


@pytest.mark.parametrize("before", ["left", "right"])
@pytest.mark.parametrize("text", ["philammon's", "he embeds [ he", "# unknown he", "embeds", "he"])
def test_words_are_those_of_the_tokenizers_library(wordpiece, text: str, before: str) -> None:
    wordpiece.enable_padding(length=12, direction=before)
    encoded = wordpiece.encode(text)
    words = [word for word in dict.fromkeys(encoded.word_ids) if word is not None]
    for word in words:
        order = [word, *(other for other in words if other != word)]
        positions = [i for i, own in enumerate(encoded.word_ids) if own == word]
        assert right.whole_words(encoded.tokens, order, len(positions)) == positions


def authors_selection(tokens: list[str], order: list[int], budget: int) -> list[int]:
    """The loop of ``create_masked_lm_predictions`` in google-research/bert, with the shuffled order given."""
    candidates: list[list[int]] = []
    for i, token in enumerate(tokens):
        if token not in SPECIAL:
            if candidates and token.startswith("##"):
                candidates[-1].append(i)
            else:
                candidates.append([i])
    covered: list[int] = []
    for indices in map(candidates.__getitem__, order):
        if len(covered) >= budget:
            break
        if len(covered) + len(indices) > budget:
            continue
        covered.extend(indices)
    return sorted(covered)


@pytest.mark.parametrize("budget", range(8))
def test_words_are_selected_as_in_the_authors_code(budget: int) -> None:
    tokens = ["[CLS]", "un", "##aff", "##able", "'", "em", "##bed", "it", "[SEP]"]
    for order in permutations(range(4)):
        assert right.whole_words(tokens, list(order), budget) == authors_selection(tokens, list(order), budget)


@pytest.mark.parametrize(("p", "longest"), [(0.2, 10), (0.5, 1), (0.25, 4), (0.75, 6), (0.125, 30)])
def test_the_lengths_are_those_of_exact_arithmetic(p: float, longest: int) -> None:
    exact = [Fraction(p).limit_denominator(100) * (1 - Fraction(p).limit_denominator(100)) ** i for i in range(longest)]
    probabilities, mean = right.span_lengths(p, longest)
    torch.testing.assert_close(probabilities, torch.tensor([float(one / sum(exact)) for one in exact]))
    q = 1 - p  # the closed form of the mean of a truncated geometric distribution
    assert mean == pytest.approx(1 / p - longest * q ** longest / (1 - q ** longest), rel=1e-5)


def test_spanberts_mean_is_that_of_the_paper() -> None:
    """Joshi et al. 2020, §3.1: p = 0.2 and at most 10 words yield a mean of 3.8; clipping instead would yield 4.46."""
    assert round(right.span_lengths(0.2, 10)[1], 1) == 3.8
    clipped = [0.2 * 0.8 ** i for i in range(9)]
    assert round(sum(i * one for i, one in enumerate(clipped, 1)) + 10 * (1 - sum(clipped)), 2) == 4.46


def test_boundaries_are_the_nearest_unmasked_positions() -> None:
    """Every set of masked positions in a text of eight, from the mask alone."""
    x, p = torch.randn(8, 3), torch.randn(8, 2)
    for number in range(1, 2 ** 8):
        hidden = [bool(number >> i & 1) for i in range(8)]
        edges = [i for i in range(9) if (hidden[i] if i < 8 else False) != (hidden[i - 1] if i else False)]
        spans = [[*pair] for pair in zip(edges[::2], edges[1::2], strict=True)]
        expected = {}
        for i in (i for i in range(8) if hidden[i]):
            before = [j for j in range(i) if not hidden[j]]
            after = [j for j in range(i + 1, 8) if not hidden[j]]
            if before and after:
                expected[i] = torch.cat([x[before[-1]], x[after[0]], p[i - before[-1] - 1]])
        if expected:
            targets, inputs = right.boundary_inputs(x, p, spans)
            assert targets.tolist() == [*expected] and torch.equal(inputs, torch.stack([*expected.values()]))


@pytest.mark.parametrize("draw", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("first", [1, 2, 3])
def test_the_input_is_that_of_a_pair_in_bert(first: int, draw: float) -> None:
    sentences = [[20, 21], [30], [40, 41, 42], [50]]
    parts = [*chain(*sentences[:first])], [*chain(*sentences[first:])]
    label = int(draw < 0.5)
    theirs = masked(parts[label], pair=parts[1 - label], vocab=Vocabulary(60), rng=Random(0), select=[])
    tokens, segments, mine = right.sentence_order(sentences, first, draw)
    assert torch.equal(tokens, theirs.tokens) and torch.equal(segments, theirs.segments) and mine == label


def counted(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


SIZES = [(50, 6, 8, 12, 4, 1), (50, 6, 8, 12, 4, 4), (31, 10, 8, 12, 6, 2), (30000, 128, 768, 3072, 12, 1),
         (30000, 128, 4096, 16384, 12, 1)]


@pytest.mark.parametrize("size", SIZES)
def test_parameters_are_counted_as_in_transformers(size: tuple[int, ...]) -> None:
    vocab, embedding, model, inner, layers, groups = size
    with torch.device("meta"):
        theirs = AlbertModel(AlbertConfig(
            vocab_size=vocab, embedding_size=embedding, hidden_size=model, intermediate_size=inner,
            num_hidden_layers=layers, num_hidden_groups=groups, num_attention_heads=2))
    assert right.parameters(*size) == counted(theirs)


@pytest.mark.parametrize(("model", "layers", "millions"), [(8, 3, None), (768, 12, 109.5), (1024, 24, 335.1)])
def test_without_sharing_the_count_is_berts(model: int, layers: int, millions: float | None) -> None:
    with torch.device("meta"):
        theirs = BertModel(BertConfig(hidden_size=model, num_hidden_layers=layers, intermediate_size=4 * model,
                                      num_attention_heads=2))
    mine = right.parameters(30522, model, model, 4 * model, layers, layers)
    assert mine == counted(theirs) and millions in (None, round(mine / 1e6, 1))


def test_alberts_sizes() -> None:
    """Lan et al. 2020, table 1, prints 12M, 18M, 60M and 235M."""
    sizes = [(768, 12), (1024, 24), (2048, 24), (4096, 12)]
    assert [round(right.parameters(30000, 128, model, 4 * model, layers, 1) / 1e6, 1)
            for model, layers in sizes] == [11.7, 17.7, 58.7, 222.6]


@pytest.mark.parametrize("before", [True, False])
@torch.no_grad()
def test_the_loss_is_that_of_electra_in_transformers(before: bool) -> None:
    torch.manual_seed(1)
    theirs = ElectraForPreTraining(ElectraConfig(
        vocab_size=40, embedding_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, initializer_range=1.0)).eval()
    real = torch.arange(9) < torch.tensor([[9], [4], [6]])
    real = real.flip(1) if before else real
    tokens, sampled = torch.randint(7, 12, (2, 3, 9)) * real
    selected = real & (torch.rand(3, 9) < 0.6)
    assert (selected & (tokens == sampled)).any() and (selected & (tokens != sampled)).any()
    corrupted = [[new if chosen else old for old, new, chosen in zip(*rows, strict=True)] for rows in zip(
        tokens.tolist(), sampled.tolist(), selected.tolist(), strict=True)]
    output = theirs(torch.tensor(corrupted), attention_mask=real.long(),
                    labels=(torch.tensor(corrupted) != tokens).long())
    mine = right.replaced_tokens(tokens, selected, sampled, output.logits, real)
    assert mine[0].tolist() == corrupted and torch.equal(mine[1], torch.tensor(corrupted) != tokens)
    torch.testing.assert_close(mine[2], output.loss)


# Other correct answers

def lengths_from_torch(p, longest):
    """Geometric of torch counts the failures before the first success, from 0."""
    log_probs = torch.distributions.Geometric(torch.tensor(p)).log_prob(torch.arange(longest).float())
    q = log_probs.softmax(0)
    return q, float(q @ torch.arange(1.0, longest + 1))


def lengths_by_hand(p, longest):
    q = [p * (1 - p) ** (i - 1) for i in range(1, longest + 1)]
    return torch.tensor([one / sum(q) for one in q]), sum(i * one for i, one in enumerate(q, 1)) / sum(q)


def boundaries_by_gather(x, p, spans):
    kept = [(begin, end) for begin, end in spans if begin and end < len(x)]
    targets = torch.cat([torch.arange(*span) for span in kept])
    starts, ends = (torch.tensor([span[side] for span in kept for _ in range(*span)]) for side in (0, 1))
    return targets, torch.cat([x[starts - 1], x[ends], p[targets - starts]], dim=1)


def order_by_cases(sentences, first, draw):
    order = [*range(first, len(sentences)), *range(first)] if draw < 0.5 else range(len(sentences))
    tokens, sides = [2], [0]
    for number, i in enumerate(order):
        side = int(number >= (len(sentences) - first if draw < 0.5 else first))
        if side > sides[-1]:
            tokens.append(3), sides.append(0)
            sides[-1:] = [0]
        tokens += sentences[i]
        sides += [side] * len(sentences[i])
    return torch.tensor([*tokens, 3]), torch.tensor([*sides, 1]), draw < 0.5


def parameters_by_shapes(vocab, embedding, model, inner, layers, groups):
    tables = [(vocab, embedding), (512, embedding), (2, embedding), (2, embedding)]
    layer = [(model + 1, model)] * 4 + [(model + 1, inner), (inner + 1, model)] + [(2, model)] * 2
    project = [(embedding, model), (1, model)] * (embedding != model)
    return sum(a * b for a, b in [*tables, *project, *layer * groups, (model, model), (1, model)])


def replaced_by_weights(tokens, selected, sampled, logits, real):
    corrupted = tokens.clone()
    corrupted[selected] = sampled[selected]
    labels = selected & (sampled != tokens)
    losses = F.softplus(logits) - logits * labels
    return corrupted, labels, (losses * real).sum() / real.sum()


def replaced_by_bce(tokens, selected, sampled, logits, real):
    corrupted = selected * sampled + ~selected * tokens
    labels = ~(corrupted == tokens)
    return corrupted, labels, F.binary_cross_entropy_with_logits(logits, labels.float(), weight=real.float(),
                                                                 reduction="sum") / real.sum()


@pytest.mark.parametrize(("number", "answer"), [
    ("09.1", authors_selection), ("09.3", lengths_from_torch), ("09.3", lengths_by_hand),
    ("09.4", boundaries_by_gather), ("09.5", order_by_cases), ("09.6", parameters_by_shapes),
    ("09.2", replaced_by_weights), ("09.2", replaced_by_bce),
])
def test_another_correct_answer_is_accepted(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Mistakes, as people write them

def words(tokens, special=SPECIAL):
    groups: list[list[int]] = []
    for i, token in enumerate(tokens):
        if token.startswith("##"):
            groups[-1].append(i)
        elif token not in special:
            groups.append([i])
    return groups


def selecting(fits, special=SPECIAL):
    def answer(tokens, order, budget):
        chosen: list[int] = []
        for word in order:
            group = words(tokens, special)[word]
            if fits(chosen, group, budget):
                chosen.extend(group)
        return sorted(chosen)
    return answer


def until_full(tokens, order, budget):
    chosen: list[int] = []
    for word in order:
        if len(chosen) + len(words(tokens)[word]) > budget:
            return sorted(chosen)
        chosen.extend(words(tokens)[word])
    return sorted(chosen)


def lengths(normalise=lambda w: w / w.sum(), first=1):
    def answer(p, longest):
        q = normalise(p * (1 - p) ** torch.arange(longest))
        return q, float((q * torch.arange(first, longest + first)).sum())
    return answer


def boundaries(before=lambda b, i: b - 1, after=lambda e, i: e, place=lambda b, i: i - b,
               keep=lambda b, e, n: b > 0 and e < n):
    def answer(x, p, spans):
        rows = [(i, torch.cat([x[before(b, i)], x[after(e, i)], p[place(b, i)]]))
                for b, e in spans if keep(b, e, len(x)) for i in range(b, e)]
        return torch.tensor([i for i, _ in rows]), torch.stack([row for _, row in rows])
    return answer


def ordered(label=int, threshold=lambda draw: draw < 0.5, sides=lambda a, b, swapped: [0] * (a + 2) + [1] * (b + 1)):
    def answer(sentences, first, draw):
        a, b = [*chain(*sentences[:first])], [*chain(*sentences[first:])]
        swapped = threshold(draw)
        a, b = (b, a) if swapped else (a, b)
        return torch.tensor([2, *a, 3, *b, 3]), torch.tensor(sides(len(a), len(b), swapped)), label(swapped)
    return answer


def electra(label=lambda tokens, new, chosen: tokens != new, weigh=lambda chosen, real: real):
    def answer(tokens, selected, sampled, logits, real):
        new = torch.where(selected, sampled, tokens)
        labels, kept = label(tokens, new, selected), weigh(selected, real)
        return new, labels, F.binary_cross_entropy_with_logits(logits[kept], labels[kept].float())
    return answer


def per_linear(vocab, embedding, model, inner, layers, groups, project=True):
    def linear(a, b):
        return a * b + b
    layer = 4 * linear(model, model) + linear(model, inner) + linear(inner, model) + 4 * model
    tables = (vocab + 514) * embedding + 2 * embedding
    return tables + project * linear(embedding, model) + groups * layer + linear(model, model)


@pytest.mark.parametrize(("number", "answer", "named"), [
    ("09.1", until_full, "ends the selection"),
    ("09.1", selecting(lambda chosen, group, budget: len(chosen) < budget), "exceeds the budget"),
    ("09.1", selecting(lambda chosen, group, budget: len(chosen) + len(group) <= budget, ("[CLS]", "[SEP]")),
     "[PAD] is counted as a word"),
    ("09.3", lengths(lambda w: w), "are not renormalized"),
    ("09.3", lengths(lambda w: torch.cat([w[:-1], 1 - w[:-1].sum(0, keepdim=True)])), "are clipped to it"),
    ("09.3", lengths(first=0), "counts lengths from 0"),
    ("09.4", boundaries(keep=lambda b, e, n: e < n), "gets x[-1]"),
    ("09.4", boundaries(lambda b, i: i - 1, lambda e, i: i + 1), "ach token's neighbours"),
    ("09.4", boundaries(place=lambda b, i: i - b + 1), "is counted from 1"),
    ("09.5", ordered(label=lambda swapped: int(not swapped)), "label is inverted"),
    ("09.5", ordered(sides=lambda a, b, swapped: [int(swapped)] * (a + 2) + [int(not swapped)] * (b + 1)),
     "reveal the label"),
    ("09.5", ordered(sides=lambda a, b, _: [0] * (a + 1) + [1] * (b + 2)), "has segment id 1"),
    ("09.6", per_linear, "although E = H"),
    ("09.6", lambda *size: per_linear(*size, project=size[1] != size[2]) - 2 * size[2] * size[5], "layer norms"),
    ("09.6", lambda v, e, h, i, layers, groups: per_linear(v, e, h, i, layers, layers, e != h), "once per layer"),
    ("09.2", electra(label=lambda tokens, new, chosen: chosen), "equals the original token"),
    ("09.2", electra(weigh=lambda chosen, real: chosen), "nly the selected positions"),
    ("09.2", electra(weigh=lambda chosen, real: torch.ones_like(real)), "adding counts in the mean"),
])
def test_a_mistake_is_named(number: str, answer, named: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and named in repr(feedback), feedback


def bce_of_sigmoid(tokens, selected, sampled, logits, real):
    new = torch.where(selected, sampled, tokens)
    return new, new != tokens, F.binary_cross_entropy(logits.sigmoid()[real], (new != tokens)[real].float())


@pytest.mark.parametrize(("number", "answer"), [
    ("09.2", bce_of_sigmoid),
    ("09.1", lambda tokens, order, budget: []),
    ("09.1", lambda tokens, order, budget: right.whole_words([t.replace("#", "##") if t == "#" else t for t in tokens],
                                                              [min(w, 4) for w in order], budget)),
    ("09.5", lambda sentences, first, draw: right.sentence_order(sentences, 1, draw)),
    ("09.6", lambda *size: right.parameters(*size) + size[2]),
])
def test_no_wrong_answer_passes(number: str, answer) -> None:
    """Logarithms that underflow, an empty answer, a token # taken for a prefix, a fixed boundary, a bias too many."""
    assert not check(number, answer).ok
