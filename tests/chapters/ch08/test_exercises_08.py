"""The solutions of chapter 08 against independent ones; and other right ways are not refused."""

from collections.abc import Iterator
from itertools import product
from math import exp, log
from random import Random

import pytest
import torch
from sklearn.metrics import mutual_info_score
from torch.nn import functional as F
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertEmbeddings

from plmlab.chapters.ch08 import exercises as right
from plmlab.example import IGNORE, Batch
from plmlab.exercises import check
from plmlab.layers.transformer import ACTIVATIONS
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.registry import ModelSpec
from plmlab.models.task_heads import SpanClassifier, TaskHeadConfig
from plmlab.objectives import masked
from plmlab.objectives.fine_tuning import span_qa
from plmlab.text.vocabulary import Vocabulary

VOCAB, MASK = Vocabulary(60), 4


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def shaken(model: torch.nn.Module) -> torch.nn.Module:
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5, generator=generator)
    return model.eval()


def size(**more: int) -> dict[str, object]:
    return dict(vocab=60, time=24, layers=2, model=16, heads=2, inner=32, dropout=0.0, attention_dropout=0.0, **more)


# The solutions

class Loaded(Random):
    """Draws what it is told to."""

    def __init__(self, numbers: list[float]) -> None:
        super().__init__()
        self.numbers: Iterator[float] = iter(numbers)

    def random(self) -> float:
        return next(self.numbers)


def test_the_corruption_is_that_of_the_objective() -> None:
    """Of the positions 1, 3, 4 and 6 the first shows [MASK], the second and the last a random word, the third
    itself."""
    loaded = Loaded([0.3, 0.82, 0.5, 0.97, 0.88, 0.1])
    example = masked(range(40, 46), vocab=VOCAB, rng=loaded, select=[1, 3, 4, 6])
    whole, selected, dice, words = torch.tensor([2, *range(40, 46), 3]), torch.zeros(8), torch.zeros(8), torch.zeros(8)
    selected[[1, 3, 4, 6]], dice[[1, 3, 4, 6]] = 1, torch.tensor([0.3, 0.82, 0.97, 0.88])
    words[3], words[6] = VOCAB.words[len(VOCAB.words) // 2], VOCAB.words[len(VOCAB.words) // 10]
    shown, targets = right.corrupt(whole, selected.bool(), dice, words.long(), MASK)
    assert torch.equal(shown, example.tokens) and torch.equal(targets, example.targets)
    assert not {int(words[3]), int(words[6])} & {42, 45} and int(shown[4]) == 43


def test_of_all_tokens_twelve_in_a_hundred_show_mask() -> None:
    rng, time = torch.Generator().manual_seed(0), 200_000
    tokens, selected = torch.full((time,), 7), torch.rand(time, generator=rng) < 0.15
    shown, targets = right.corrupt(tokens, selected, torch.rand(time, generator=rng), tokens + 1, MASK)
    shares = [float((shown[selected] == id).sum() / time) for id in (MASK, 8, 7)]
    assert shares == pytest.approx([0.12, 0.015, 0.015], abs=0.002)
    assert torch.equal(targets != IGNORE, selected) and set(targets.tolist()) == {7, IGNORE}


@torch.no_grad()
def test_the_loss_is_the_models() -> None:
    model = shaken(BERTPretraining(BERTConfig(**size())))
    texts = [(range(40, 44), [2]), (range(45, 55), [1, 2, 6, 9]), (range(41, 47), [3, 5])]
    batch = Batch.of([masked(t, vocab=VOCAB, rng=Random(0), select=s) for t, s in texts], pad=0)
    hidden = model.norm(ACTIVATIONS["gelu"](model.transform(model.encoder(batch))))
    loss = right.masked_loss(hidden, model.encoder.embeddings.token.weight, model.bias, batch.targets)
    torch.testing.assert_close(loss, model.loss(batch))
    assert int((batch.targets != IGNORE).sum()) == 7


@torch.no_grad()
@pytest.mark.parametrize(("first", "second"), [([40, 41, 42], [50, 51]), ([44], [45, 46, 47, 48])])
def test_what_bert_reads_is_what_ours_and_theirs_reads(first: list[int], second: list[int]) -> None:
    ours = BERTPretraining(BERTConfig(**size())).encoder.embeddings.eval()
    tables = [torch.nn.init.normal_(table.weight, std=0.02) for table in (ours.token, ours.position, ours.segment)]
    read = right.embed(first, second, VOCAB.cls, VOCAB.sep, *tables)
    example = masked(first, pair=second, vocab=VOCAB, rng=Random(0), select=[])
    torch.testing.assert_close(read, ours(Batch.of([example], pad=0))[0])
    theirs = BertEmbeddings(BertConfig(vocab_size=60, hidden_size=16, max_position_embeddings=24)).eval()
    for table, mine in zip((theirs.word_embeddings, theirs.position_embeddings, theirs.token_type_embeddings), tables,
                           strict=True):
        table.weight.copy_(mine)
    torch.testing.assert_close(read, theirs(example.tokens[None], token_type_ids=example.segments[None])[0])


@torch.no_grad()
@pytest.mark.parametrize("longest", [1, 3, 30])
def test_the_span_is_the_span_finders(longest: int) -> None:
    model = shaken(SpanClassifier(TaskHeadConfig(ModelSpec(BERT, BERTConfig(**size())))))
    for words in (3, 6, 11):
        batch = Batch.of([span_qa(range(40, 44), range(45, 45 + words), 0, 1, vocab=VOCAB)], pad=0)
        start, end = model(batch)[0].unbind(-1)
        assert list(right.span(start, end, 6, longest)) == model.best(batch, longest)[0].tolist()


def test_spans_that_padding_cannot_have() -> None:
    start, end = draw(9), draw(9)
    start[7:] = end[7:] = float("-inf")
    assert right.span(start, end, 2, 3) == right.span(start[:7], end[:7], 2, 3)


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (6, 4)])
def test_what_is_lost_is_the_mutual_information(shape: tuple[int, int]) -> None:
    """Counted by a library from the whole table; and no other guesses of the two positions lose less."""
    counts = (20 * draw(*shape).abs()).long() * (draw(*shape) < 1)
    joint = counts / counts.sum()
    guess, lost = right.independent_prediction(joint)
    assert float(lost) == pytest.approx(mutual_info_score(None, None, contingency=counts.numpy()), abs=1e-5)
    for seed in range(20):
        rng = torch.Generator().manual_seed(seed)
        one, other = ((rand := torch.rand(n, generator=rng) + 0.01) / rand.sum() for n in shape)
        assert torch.xlogy(joint, joint).sum() - torch.xlogy(joint, one[:, None] * other).sum() > lost - 1e-6
    torch.testing.assert_close(guess.sum(), torch.tensor(1.0))


def test_new_angeles() -> None:
    guess, lost = right.independent_prediction(torch.eye(2) / 2)
    assert guess.tolist() == [[0.25, 0.25], [0.25, 0.25]] and float(lost) == pytest.approx(log(2))


def heads_by_hand(weights: torch.Tensor, special: torch.Tensor, links: torch.Tensor) -> torch.Tensor:
    """Cell by cell, as the docstring says it."""
    scores = []
    for head in range(weights.shape[1]):
        wins = 0
        for text, query, key in links.tolist():
            baselines = [k for k in range(special.shape[1]) if k != query and not special[text, k]]
            wins += max(baselines, key=lambda k: float(weights[text, head, query, k])) == key
        scores.append(wins / len(links))
    return torch.tensor(scores)


def test_the_scores_of_heads() -> None:
    weights = draw(3, 5, 8, 8).softmax(-1)
    special = torch.tensor([[True] + [False] * words + [True] * (7 - words) for words in (6, 4, 5)])
    links = torch.tensor([[0, 1, 2], [0, 5, 3], [0, 6, 1], [1, 2, 4], [2, 5, 1], [2, 1, 3]])
    torch.testing.assert_close(right.head_scores(weights, special, links), heads_by_hand(weights, special, links))


def test_a_head_that_looks_back_knows_the_word_before_and_nothing_else() -> None:
    back = (torch.eye(6).roll(-1, dims=1) + torch.eye(6)) / 2
    weights, special = torch.stack([back, back.T])[None], torch.tensor([[True, *[False] * 5]])
    before = torch.tensor([[0, t, t - 1] for t in range(3, 6)])
    assert right.head_scores(weights, special, before).tolist() == [1, 0]
    assert right.head_scores(weights, special, before[:, [0, 2, 1]]).tolist() == [0, 1]


# Other right ways

def corrupt_in_loops(tokens, selected, dice, random_words, mask):
    shown, targets = tokens.clone(), torch.full_like(tokens, -100)
    for t in range(len(tokens)):
        if selected[t]:
            targets[t] = tokens[t]
            if dice[t] < 0.8:
                shown[t] = mask
            elif dice[t] < 0.9:
                shown[t] = random_words[t]
    return shown, targets


def loss_by_torch(hidden, embedding, bias, targets):
    return F.cross_entropy(F.linear(hidden, embedding, bias).transpose(1, 2), targets)


def loss_in_loops(hidden, embedding, bias, targets):
    losses = []
    for row, ids in zip((hidden.double() @ embedding.double().T + bias).tolist(), targets.tolist(), strict=True):
        for scores, target in zip(row, ids, strict=True):
            if target != -100:
                losses.append(log(sum(exp(s - max(scores)) for s in scores)) + max(scores) - scores[target])
    return torch.tensor(sum(losses) / len(losses))


def embed_by_hand(first, second, cls, sep, E_token, E_position, E_segment):
    row = [(cls, 0), *((t, 0) for t in first), (sep, 0), *((t, 1) for t in second), (sep, 1)]
    x = torch.stack([E_token[t] + E_position[p] + E_segment[s] for p, (t, s) in enumerate(row)])
    x = x - x.mean(-1, keepdim=True)
    return x / (x.var(-1, keepdim=True, unbiased=False) + 1e-12).sqrt()


def span_by_table(start, end, first, longest):
    table = (start[:, None] + end)[first:, first:]
    table = table.masked_fill(~torch.ones_like(table).bool().triu().tril(longest - 1), float("-inf"))
    best = table.argmax()
    return [first + best // len(table), first + best % len(table)]


def span_of_probabilities(start, end, first, longest):
    p, q = start.softmax(0).tolist(), end.softmax(0).tolist()
    spans = product(range(first, len(p)), range(first, len(p)))
    return max((s for s in spans if 0 <= s[1] - s[0] < longest), key=lambda s: p[s[0]] * q[s[1]])


def at_once_in_loops(joint):
    rows, columns = [sum(row) for row in joint.tolist()], [sum(c) for c in joint.T.tolist()]
    lost = 0.0
    for a, b in product(range(len(rows)), range(len(columns))):
        if (p := float(joint[a, b])) > 0:
            lost += p * log(p / (rows[a] * columns[b]))
    return torch.outer(torch.tensor(rows), torch.tensor(columns)), torch.tensor(lost)


def at_once_by_entropies(joint):
    one, other = joint.sum(1), joint.sum(0)
    return torch.outer(one, other), sum(torch.special.entr(p).sum() for p in (one, other)) - torch.special.entr(
        joint).sum()


def heads_at_a_stroke(weights, special, links):
    text, query, key = links.T
    out = special[text]
    out[torch.arange(len(links)), query] = True
    strongest = weights[text, :, query].masked_fill(out[:, None], float("-inf")).argmax(-1)
    return (strongest == key[:, None]).float().mean(0)


@pytest.mark.parametrize(("number", "answer"), [
    ("08.1", corrupt_in_loops), ("08.2", loss_by_torch), ("08.2", loss_in_loops), ("08.3", embed_by_hand),
    ("08.4", span_by_table), ("08.4", span_of_probabilities),
    ("08.5", at_once_in_loops), ("08.5", at_once_by_entropies),
    ("08.6", heads_by_hand), ("08.6", heads_at_a_stroke),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Slips, as people write them

def corrupt_in_place(tokens, selected, dice, random_words, mask):
    targets = tokens.masked_fill(~selected, -100)
    tokens[selected & (dice < 0.8)] = mask
    swapped = selected & (dice >= 0.8) & (dice < 0.9)
    tokens[swapped] = random_words[swapped]
    return tokens, targets


def corrupt_too_early(tokens, selected, dice, random_words, mask):
    shown, _ = corrupt_in_place(tokens, selected, dice, random_words, mask)
    return shown, torch.where(selected, tokens, -100)


def corrupt_below(tokens, selected, dice, random_words, mask):
    shown = tokens.clone()
    shown[selected & (dice < 0.8)] = mask
    shown[selected & (dice < 0.9)] = random_words[selected & (dice < 0.9)]
    return shown, tokens.masked_fill(~selected, -100)


def loss_by_a_view(hidden, embedding, bias, targets):
    logits = hidden @ embedding.T + bias
    return F.cross_entropy(logits.view(len(logits), logits.shape[2], -1), targets)


def loss_above_zero(hidden, embedding, bias, targets):
    asked = targets > 0
    return F.cross_entropy(hidden[asked] @ embedding.T + bias, targets[asked])


def embed(norm):
    def answer(first, second, cls, sep, E_token, E_position, E_segment):
        tokens = torch.tensor([cls, *first, sep, *second, sep])
        segments = torch.tensor([0] * (len(first) + 2) + [1] * (len(second) + 1))
        return norm(E_token[tokens] + E_position[:len(tokens)] + E_segment[segments])
    return answer


def span_from_zero(start, end, first, longest):
    best, span = 0.0, (0, 0)
    for i in range(first, len(start)):
        for j in range(i, min(i + longest, len(start))):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span


def span_by_cut_table(start, end, first, longest):
    table = torch.triu(start[first:, None] + end[first:])
    i, j = divmod(int(torch.tril(table, longest - 1).argmax()), len(table))
    return first + i, first + j


def span_start_first(start, end, first, longest):
    i = int(start[first:].argmax()) + first
    return i, max(range(i, min(i + longest, len(end))), key=lambda j: float(end[j]))


def lost(divergence):
    def answer(joint):
        product = torch.outer(joint.sum(1), joint.sum(0))
        return product, divergence(joint, product)
    return answer


def heads_cut_out(weights, special, links):
    known = [weights[t, :, q].index_fill(1, torch.tensor(q), -1)[:, ~special[t]].argmax(-1) == k
             for t, q, k in links.tolist()]
    return torch.stack(known).float().mean(0)


def heads_with_itself(weights, special, links):
    text, query, key = links.T
    strongest = weights[text, :, query].masked_fill(special[text][:, None], 0).argmax(-1)
    return (strongest == key[:, None]).float().mean(0)


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize(("number", "answer", "words", "place"), [
    ("08.1", corrupt_in_place, "`tokens` is changed in place", 1),
    ("08.1", corrupt_too_early, "he targets are the corrupted tokens", 1),
    ("08.1", corrupt_below, "andom words overwrite [MASK]", 1),
    ("08.2", lambda h, e, b, t: F.cross_entropy((h @ e.T + b).softmax(-1).mT, t), "he softmax is applied twice", 1),
    ("08.2", loss_by_a_view, "mixes positions and tokens", 1),
    ("08.2", loss_above_zero, "oken 0 is left out too", 1),
    ("08.3", embed(lambda x: F.layer_norm(x, x.shape[-1:])), "1e-5 (PyTorch's default) is added to the variance", 3),
    ("08.3", embed(lambda x: (x - x.mean(0)) / x.std(0, correction=0)), "over the positions, not over each", 1),
    ("08.3", embed(lambda x: (x - x.mean(-1, True)) / x.std(-1, keepdim=True)), "the width minus one", 1),
    ("08.4", span_from_zero, "let a maximum start at −∞", 6),
    ("08.4", span_by_cut_table, "what is not allowed in the table must be −∞", 6),
    ("08.4", span_start_first, "The best start is fixed before", 1),
    ("08.5", lost(lambda joint, product: F.kl_div(product, joint, reduction="sum")), "expects log-probabilities", 1),
    ("08.5", lost(lambda joint, product: F.kl_div(product.log(), joint)), "pairs are averaged", 1),
    ("08.5", lost(lambda joint, product: (joint * (joint / product).log()).sum()), " · ln 0 is NaN", 1),
    ("08.6", heads_cut_out, "are cut out of the row", 1),
    ("08.6", heads_with_itself, "osition `from` itself is not excluded", 1),
    ("08.6", lambda w, *rest: heads_at_a_stroke(w.mT, *rest), "has the queries first", 1),
])
def test_a_slip_is_named_where_it_shows_first(number: str, answer, words: str, place: int) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback
    assert f'case("{number}", {place})' in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("08.1", lambda t, s, d, w, m: (w, t.masked_fill(~s, -100)), "oken of an unselected position has changed"),
    ("08.2", lambda h, e, b, t: (h @ e.T + b).log_softmax(-1).mean(), "it is not a mean"),
    ("08.3", lambda *args: embed_by_hand(*args) + 1, "position's vector is not 0"),
    ("08.5", lost(lambda joint, product: (joint ** 2 / product).nansum()), "lies between 0 and"),
    ("08.6", lambda w, special, links: w.mean((0, 2, 3)), "is not a multiple of"),
])
def test_what_no_mistake_names_is_told_by_what_must_hold(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert not feedback.mistake and words in repr(feedback), feedback
