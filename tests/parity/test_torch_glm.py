"""Our GLM against ``nn.TransformerEncoder`` with the norm first, both positions added and an additive mask."""

from functools import partial
from random import Random

import pytest
import torch
from alike import gradients, put_attention, same, shaken
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import Batch, Example
from plmlab.models.glm import GLM, GLMConfig, GLMPretraining
from plmlab.objectives.blanks import append_blank, blank_infilling, document_infilling, sentence_infilling
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(70)
SIZES = [(8, 2, 16, 2), (12, 3, 20, 3), (16, 1, 64, 1)]
"""Width, heads, inner width, layers."""


class Theirs(nn.Module):
    """torch's layers between an embedding, two tables of positions, and the embedding again; all of it written here."""

    def __init__(self, model: int, heads: int, inner: int, layers: int) -> None:
        super().__init__()
        self.token, self.place, self.in_blank = (nn.Embedding(count, model) for count in (70, 21, 21))
        layer = nn.TransformerEncoderLayer(model, heads, inner, dropout=0.0, batch_first=True, norm_first=True,
                                           activation=partial(F.gelu, approximate="tanh"), layer_norm_eps=1e-5)
        self.heads = heads
        self.stack = nn.TransformerEncoder(layer, layers, nn.LayerNorm(model), enable_nested_tensor=False)

    def forward(self, tokens: Tensor, position_ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The hidden states and the logits; ``mask`` is 0 where a position may look, and −∞ elsewhere."""
        x = self.token(tokens) + self.place(position_ids[:, 0]) + self.in_blank(position_ids[:, 1])
        x = self.stack(x, mask.repeat_interleave(self.heads, 0))
        return x, x @ self.token.weight.T


def copied(theirs: Theirs, model: int, heads: int, inner: int, layers: int) -> GLMPretraining:
    """Ours, with their weights."""
    ours = GLMPretraining(GLMConfig(70, 20, layers, model, heads, inner)).double().eval()
    glm = ours.encoder
    for table, other in ((glm.embeddings.token, theirs.token), (glm.embeddings.position, theirs.place),
                         (glm.embeddings.position_in_blank, theirs.in_blank), (glm.final_norm, theirs.stack.norm)):
        table.load_state_dict(other.state_dict())
    for layer, other in zip(glm.layers, theirs.stack.layers, strict=True):
        put_attention(layer.attention, other.self_attn)
        for part, its in ((layer.feed_forward.up, other.linear1), (layer.feed_forward.down, other.linear2),
                          (layer.attention_residual.norm, other.norm1),
                          (layer.feed_forward_residual.norm, other.norm2)):
            part.load_state_dict(its.state_dict())
    return ours


def examples(batch: int) -> list[Example]:
    """Texts of odd and even lengths under all objectives."""
    texts = [list(range(40, 40 + count)) for count in (7, 1, 12, 3, 10)][:batch]
    whole = partial(blank_infilling, spans=())
    makes = (blank_infilling, document_infilling, sentence_infilling, whole, blank_infilling)
    return [make(text, vocab=VOCAB, rng=Random(i)) for i, (make, text) in enumerate(zip(makes, texts, strict=False))]


def additive(batch: Batch, made: list[Example]) -> Tensor:
    """By GLM's definition, from the second position alone: Part A is where it is 0, and what follows is Part B. Padding
    looks at itself, so that torch's softmax has something to look at."""
    size, time = batch.size
    mask = torch.full((size, time, time), float("-inf"), dtype=torch.float64)
    for row, one in enumerate(made):
        inside = one.position_ids[1].tolist()
        for query, where in enumerate(inside):
            for key, other in enumerate(inside):
                if other == 0 or (where > 0 and key <= query):
                    mask[row, query, key] = 0.0
        for position in range(len(inside), time):
            mask[row, position, position] = 0.0
    return mask


@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("size", SIZES)
def test_outputs_and_gradients(size: tuple[int, int, int, int], batch: int) -> None:
    theirs = shaken(Theirs(*size)).train()
    ours = copied(theirs, *size)
    made = examples(batch)
    together = Batch.of(made, pad=0)
    real = torch.arange(together.size[1])[None] < torch.tensor([len(one.tokens) for one in made])[:, None]
    hidden, logits = theirs(together.tokens, together.position_ids, additive(together, made))
    same(ours.encoder(together)[real], hidden[real])
    same(ours(together)[real], logits[real])
    expected = F.cross_entropy(logits.flatten(0, 1), together.targets.flatten())
    loss = ours.loss(together)
    same(loss, expected)
    first, other = ours.encoder.layers[0], theirs.stack.layers[0]
    embeddings, norm = ours.encoder.embeddings, ours.encoder.final_norm
    pairs = [(embeddings.token.weight, theirs.token.weight), (embeddings.position.weight, theirs.place.weight),
             (embeddings.position_in_blank.weight, theirs.in_blank.weight), (norm.weight, theirs.stack.norm.weight),
             (first.attention.out.weight, other.self_attn.out_proj.weight),
             (first.feed_forward.up.weight, other.linear1.weight),
             (first.feed_forward.down.bias, other.linear2.bias),
             (first.attention_residual.norm.weight, other.norm1.weight),
             (first.feed_forward_residual.norm.bias, other.norm2.bias)]
    for a, b in zip(gradients(loss, *[a for a, _ in pairs]), gradients(expected, *[b for _, b in pairs]), strict=True):
        same(a, b)
        assert bool(b.any())


def test_plain_text_is_read_to_both_sides() -> None:
    """A text with a blank behind: torch's encoder with no mask, but for [START], which nobody sees."""
    theirs = shaken(Theirs(8, 2, 16, 2))
    ours = copied(theirs, 8, 2, 16, 2).encoder
    assert type(ours) is GLM
    one = append_blank([40, 41, 42, 43, 44], None, VOCAB)
    batch = Batch.of([one], pad=0)
    hidden, _ = theirs(batch.tokens[:, :-1], batch.position_ids[:, :, :-1], torch.zeros(1, 6, 6, dtype=torch.float64))
    same(ours(batch)[:, :-1], hidden)
