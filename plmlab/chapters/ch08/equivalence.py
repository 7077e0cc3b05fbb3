"""Comparison of the code that chapter 08 writes with ``plmlab`` and ``transformers``, on random weights and inputs.

Each function takes the notebook's own function or class; most return name → whether the results are equal.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import torch
from torch import nn

from plmlab.checks import Checks, report
from plmlab.draws import randint
from plmlab.example import IGNORE, Batch
from plmlab.hf import to_hf
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.task_heads import SentenceClassifier, SpanClassifier, TokenClassifier
from plmlab.objectives import masked
from plmlab.text import Tokenizer, paragraphs
from plmlab.transfer import batch_of, extractive_qa_example, test_set
from plmlab.world.datasets.tokenizer import world_tokenizer

__all__ = ["changed_positions", "masking", "pretraining", "report", "task_heads", "wordpiece_splits"]

TEXTS, LENGTH = 300, 126
SHAPE = (60, 32, 3, 32, 4)
"""Vocabulary size, maximum length, layers, width and heads of the models that are compared."""
QUESTIONS = 20


def masking(mask_tokens: Callable[[Sequence[int], Random], tuple[list[int], list[int]]],
            ) -> tuple[Checks, dict[str, float]]:
    """Compare ``mask_tokens(tokens, rng)`` → (corrupted input, targets) with `masked` on 300 texts.

    Also returns how often each of the three cases occurs, as a fraction of all positions.
    """
    vocab, cases, equal, positions = world_tokenizer().vocab, Counter[str](), True, 0
    for seed in range(TEXTS):
        draw = Random(-1 - seed)
        tokens = [vocab.words[randint(draw, len(vocab.words))] for _ in range(LENGTH)]
        corrupted, targets = mask_tokens(tokens, Random(seed))
        example = masked(tokens, vocab=vocab, rng=Random(seed))
        equal &= (corrupted, targets) == (example.tokens.tolist(), example.targets.tolist())
        positions += len(corrupted)
        cases.update("replaced by [MASK]" if token == vocab.mask else "unchanged" if token == target
                     else "replaced by a random token"
                     for token, target in zip(corrupted, targets, strict=True) if target != IGNORE)
    return {f"equal to plmlab's masked on {TEXTS} texts": equal}, {
        case: cases[case] / positions for case in ("replaced by [MASK]", "replaced by a random token", "unchanged")}


def pair_batch() -> Batch:
    """Two pairs of texts of different lengths, without masking: a batch with padding."""
    vocab = world_tokenizer().vocab
    return Batch.of([masked(range(40, 40 + a), pair=range(45, 45 + b), vocab=vocab, rng=Random(0), select=())
                     for a, b in ((5, 8), (9, 2))], pad=vocab.need("pad"))


def randomized(model: nn.Module) -> nn.Module:
    """The model with normal random numbers in all parameters, those of LayerNorms and biases included, so that an error
    in any of them shows."""
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3, generator=generator)
    return model.eval()


@torch.no_grad()
def pretraining(mini_pretraining: Callable[..., nn.Module]) -> Checks:
    """Compare the logits of a BERT with both pretraining heads with `BERTPretraining` and with Hugging Face's
    ``BertForPreTraining``, all three with the same weights.

    ``mini_pretraining(vocab_size, time, layers, model, heads)`` is a module whose parameters are in the order of
    `BERTPretraining`; called with (tokens, segments, mask) it returns token logits and NSP logits.
    """
    vocab_size, time, layers, width, heads = SHAPE
    reference = BERTPretraining(BERTConfig(vocab_size, time=time, layers=layers, model=width, heads=heads,
                                           inner=4 * width))
    randomized(reference)
    mini = mini_pretraining(*SHAPE).eval()
    mini.load_state_dict(dict(zip(mini.state_dict(), reference.state_dict().values(), strict=True)))
    batch = pair_batch()
    real = batch.padding_mask
    logits, follows = mini(batch.tokens, batch.segments, batch.visible)
    hidden, theirs = reference.encoder(batch), to_hf(reference)(batch.tokens, real.long(), batch.segments)
    return {f"equal to {name}, {what} logits": torch.allclose(ours, other, atol=1e-4) for name, tokens, nsp in (
        ("plmlab's BERTPretraining", reference.token_logits(hidden), reference.next_sentence_logits(hidden)),
        ("transformers' BertForPreTraining", theirs.prediction_logits, theirs.seq_relationship_logits))
        for what, ours, other in (("token", logits[real], tokens[real]), ("NSP", follows, nsp))}


@torch.no_grad()
def changed_positions(mini_bert: Callable[..., nn.Module], position: int = 3) -> tuple[int, int]:
    """The number of positions whose final hidden state changes if the token at ``position`` is replaced, and the number
    of all positions of the text."""
    mini, batch = randomized(mini_bert(*SHAPE)), pair_batch()
    changed = batch.tokens.clone()
    changed[:, position] = SHAPE[0] - 1
    before, after = (mini(tokens, batch.segments, batch.visible)[0] for tokens in (batch.tokens, changed))
    moved = (before - after).abs().amax(1) > 1e-4
    return int(moved.sum()), len(moved)


@torch.no_grad()
def task_heads(bert: BERT, classify: Callable[..., Any], tag: Callable[..., Any], best_spans: Callable[..., Any],
               ) -> Checks:
    """Compare the three task heads, written as functions of the final hidden states, with the classes of `plmlab`, on
    twenty questions with their texts."""
    torch.manual_seed(0)
    batch = batch_of(extractive_qa_example, test_set("extractive QA")[:QUESTIONS])
    classifier, tagger = (kind.from_pretrained(bert, labels=2) for kind in (SentenceClassifier, TokenClassifier))
    reader = SpanClassifier.from_pretrained(bert, labels=2)
    h = bert(batch)
    checks = {
        "SentenceClassifier": torch.allclose(classify(h, bert.pooler, classifier.output), classifier(batch), atol=1e-5),
        "TokenClassifier": torch.allclose(tag(h, tagger.output), tagger(batch), atol=1e-5),
        "SpanClassifier": torch.equal(best_spans(h, reader.output, batch.segments == 1), reader.best(batch)),
    }
    return {f"equal to plmlab's {name}": equal for name, equal in checks.items()}


def wordpiece_splits(wordpiece: Callable[[str, set[str]], list[str]], tokenizer: Tokenizer) -> tuple[int, int]:
    """On how many distinct words of the Wikipedia sample ``wordpiece(word, vocabulary)`` gives the subwords of the
    library's tokenizer, and the number of all these words."""
    vocabulary = set(tokenizer.tokens(range(len(tokenizer))))
    words = sorted({word for text in paragraphs() for word in text.lower().split()
                    if word.isascii() and word.isalpha()})
    return sum(wordpiece(word, vocabulary) == tokenizer.tokens(tokenizer.encode(word)) for word in words), len(words)
