"""GLM compared with torch's layers under the same mask, and infilling with a cache.

``python benchmarks/glm.py [rounds]``. 4 layers × 128, 4 heads, vocabulary 2,000, on the CPU with two threads: 32 texts
of 64 words, with 15 % of the words in blanks, or one blank of at least half of them; loss and gradients of an update.
Theirs is a pre-norm ``nn.TransformerEncoder`` between the same embeddings. Then a blank in each of 32 texts is filled
with 20 tokens, with cached keys and values, and with the whole sequence recomputed for each word.
"""

import sys
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import torch
from rounds import race, table
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.decode import greedy
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.glm import GLMConfig, GLMPretraining
from plmlab.models.infilling import BlankInfiller
from plmlab.objectives.blanks import blank_infilling, document_infilling, infilled
from plmlab.text.vocabulary import Vocabulary

TEXTS, WORDS, VOCAB = 32, 64, Vocabulary(2000)
WIDTH, HEADS, LAYERS = 128, 4, 4
LENGTH = 20


def rows(words: int) -> list[list[int]]:
    """`TEXTS` random texts of ``words`` words each, as token ids."""
    rng = Random(0)
    return [[VOCAB.words[int(rng.random() * len(VOCAB.words))] for _ in range(words)] for _ in range(TEXTS)]


def torch_layers(model: GLMPretraining) -> Any:
    """torch's layers with the weights of ours."""
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True,
                                       activation=partial(F.gelu, approximate="tanh"))
    theirs: Any = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(WIDTH), enable_nested_tensor=False)
    ours: Any
    for its, ours in zip(theirs.layers, model.encoder.layers, strict=True):
        attention = ours.attention
        parts = (attention.q, attention.k, attention.v)
        its.self_attn.in_proj_weight.data = torch.cat([part.weight.data for part in parts])
        its.self_attn.in_proj_bias.data = torch.cat([part.bias.data for part in parts])
        for one, other in ((its.self_attn.out_proj, attention.out), (its.linear1, ours.feed_forward.up),
                           (its.linear2, ours.feed_forward.down), (its.norm1, ours.attention_residual.norm),
                           (its.norm2, ours.feed_forward_residual.norm)):
            one.load_state_dict(other.state_dict())
    theirs.norm.load_state_dict(model.encoder.final_norm.state_dict())
    return theirs


def update(name: str, objective: Callable[..., Example], model: GLMPretraining, rounds: int) -> None:
    """Print the table of one objective, after checking that both implementations have the same loss."""
    batch = Batch.of([objective(row, vocab=VOCAB, rng=Random(i)) for i, row in enumerate(rows(WORDS))], pad=0)
    looks = batch.visible.dense(*[batch.size[1]] * 2)
    assert looks is not None
    looks |= torch.eye(looks.shape[-1], dtype=torch.bool)  # padding attends to itself: torch's softmax has no empty row
    bias = torch.zeros(looks.shape).masked_fill(~looks, float("-inf")).expand(-1, HEADS, -1, -1).flatten(0, 1)
    theirs, asked = torch_layers(model), batch.targets != IGNORE

    def their_loss() -> Tensor:
        hidden = theirs(model.encoder.embeddings(batch), bias)[asked]
        return F.cross_entropy(model.token_logits(hidden), batch.targets[asked])

    assert torch.allclose(model.loss(batch), their_loss(), atol=1e-4)
    seconds = race({"our GLM": lambda: model.loss(batch).backward(),
                    "torch's layers": lambda: their_loss().backward()}, rounds=rounds)
    print(f"\nan update, {name}\n\n{table(seconds, int(batch.padding_mask.sum()))}")


@torch.no_grad()
def recomputed(model: GLMPretraining, texts: list[list[int]]) -> list[list[int]]:
    """Fill the first blank of each text; the whole sequence is recomputed for each word."""
    allowed = torch.tensor([token not in VOCAB.special for token in range(VOCAB.size)])
    written: list[list[int]] = [[] for _ in texts]
    for _ in range(LENGTH):
        batch = Batch.of([infilled(text, [words], [0], VOCAB) for text, words in zip(texts, written, strict=True)],
                         pad=0)
        said = model.token_logits(model.encoder(batch)[:, -1]).masked_fill(~allowed, -torch.inf).argmax(-1).tolist()
        for text, token in zip(written, said, strict=True):
            text.append(token)
    return written


def main(rounds: int) -> None:
    """Print all tables."""
    torch.set_num_threads(2)
    torch.manual_seed(0)
    model = GLMPretraining(GLMConfig(VOCAB.size, 2 * WORDS, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                     attention_dropout=0.0))
    update("15 % of the words in blanks", blank_infilling, model, rounds)
    update("one blank of half the words or more", document_infilling, model, rounds)
    texts = [[*row[:20], VOCAB.need("mask"), *row[20:]] for row in rows(40)]
    model.eval()
    filler = BlankInfiller(model, texts, VOCAB)
    unending = {*filler.banned, VOCAB.need("start")}

    def with_cache() -> list[list[int]]:
        return [[token for token in text.tokens if token != VOCAB.end]
                for text in greedy(filler, filler.prompt, VOCAB, length=LENGTH, banned=unending)]

    assert with_cache() == recomputed(model, texts)
    seconds = race({"BlankInfiller": with_cache, "without a cache": lambda: recomputed(model, texts)}, rounds=rounds)
    print(f"\n{TEXTS} blanks of {LENGTH} tokens in 40 words\n\n{table(seconds, TEXTS * LENGTH)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
