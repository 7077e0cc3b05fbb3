"""Our BERT against ``BertModel`` and ``BertForPreTraining``."""

import pytest
import torch
from alike import same, shaken
from torch import Tensor
from transformers import BertConfig, BertForPreTraining, BertModel

from plmlab.example import IGNORE, Batch
from plmlab.hf import convert
from plmlab.hf.bert import FOLLOWS, POOLER, WORDS, encoder_links, whole
from plmlab.hf.links import read
from plmlab.visibility import AttentionMask
from plmlab.watching import watch

SIZES = [
    {"vocab_size": 31, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 12},
    {"vocab_size": 50, "hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 48},
    {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 20,
     "hidden_act": "gelu_new", "type_vocab_size": 3, "max_position_embeddings": 17, "layer_norm_eps": 1e-3},
]


def text(vocab: int, lengths: list[int], segments: int = 2) -> tuple[Batch, dict[str, Tensor]]:
    """Random texts of these lengths, for both; padding is never looked at."""
    generator = torch.Generator().manual_seed(5)
    time = max(lengths)
    tokens = torch.randint(1, vocab, (len(lengths), time), generator=generator)
    real = torch.arange(time)[None] < torch.tensor(lengths)[:, None]
    tokens[~real] = 0
    sides = torch.randint(0, segments, tokens.shape, generator=generator)
    targets = torch.where(real & (torch.rand(tokens.shape, generator=generator) < 0.5), tokens, IGNORE)
    targets[:, 0] = tokens[:, 0]
    place = torch.arange(time).expand(len(lengths), 1, -1)
    batch = Batch(tokens, place, sides, AttentionMask(keys=None if real.all() else real), targets,
                  {"next_sentence": torch.arange(len(lengths)) % 2})
    return batch, {"input_ids": tokens, "attention_mask": real.long(), "token_type_ids": sides}


@pytest.mark.parametrize("lengths", [[1], [9, 9], [17, 4, 11]])
@pytest.mark.parametrize("size", SIZES)
def test_encoder(size: dict, lengths: list[int]) -> None:
    theirs = shaken(BertModel(BertConfig(**size, attn_implementation="eager")))
    ours = convert(theirs)
    batch, given = text(size["vocab_size"], lengths, size.get("type_vocab_size", 2))
    expected = theirs(**given, output_hidden_states=True, output_attentions=True)
    with watch(ours) as seen:
        same(ours(batch), expected.last_hidden_state)
    for mine, other in zip(seen.hidden(), expected.hidden_states, strict=True):
        same(mine, other)
    for mine, other in zip(seen.attention(), expected.attentions, strict=True):
        same(mine, other)
    hidden = ours(batch)
    same(hidden, expected.last_hidden_state)
    same(ours.pool(hidden), expected.pooler_output)


@pytest.mark.parametrize("lengths", [[1], [9, 9], [17, 4, 11]])
@pytest.mark.parametrize("size", SIZES)
def test_pretraining_loss_and_gradients(size: dict, lengths: list[int]) -> None:
    theirs = shaken(BertForPreTraining(BertConfig(**size)))
    ours = convert(theirs)
    batch, given = text(size["vocab_size"], lengths, size.get("type_vocab_size", 2))
    expected = theirs(**given, labels=batch.targets, next_sentence_label=batch.labels["next_sentence"])
    same(ours(batch), expected.prediction_logits)
    same(ours.follows(ours.bert(batch)), expected.seq_relationship_logits)
    loss = ours.loss(batch)
    same(loss, expected.loss)
    loss.backward()
    expected.loss.backward()
    # their embedding of id 0 is declared padding, and takes no gradient from where it is read
    links = [*whole(encoder_links(size["num_hidden_layers"])), *whole(POOLER), *WORDS, *FOLLOWS]
    others = read(links, {name: p.grad for name, p in theirs.named_parameters()})
    for name, parameter in ours.named_parameters():
        rows = slice(1, None) if name == "bert.embeddings.token.weight" else slice(None)
        same(parameter.grad[rows], others[name][rows])
    assert set(others) == {name for name, _ in ours.named_parameters()}
