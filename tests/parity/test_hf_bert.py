"""Our BERT against ``BertModel`` and ``BertForPreTraining``."""

import pytest
from alike import same, shaken
from texts import SIZES, text
from transformers import BertConfig, BertForPreTraining, BertModel

from plmlab.hf import convert
from plmlab.hf.bert import BERTS
from plmlab.hf.links import to_ours, within
from plmlab.interpret import watch


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
    same(ours.next_sentence_logits(ours.encoder(batch)), expected.seq_relationship_logits)
    loss = ours.loss(batch)
    same(loss, expected.loss)
    loss.backward()
    expected.loss.backward()
    # their embedding of id 0 is declared padding, and takes no gradient from where it is read
    links = [*within("encoder", [*BERTS.links(ours.config), *BERTS.pooler]), *BERTS.head, *BERTS.others]
    others = to_ours(links, {name: p.grad for name, p in theirs.named_parameters()})
    for name, parameter in ours.named_parameters():
        rows = slice(1, None) if name == "encoder.embeddings.token.weight" else slice(None)
        same(parameter.grad[rows], others[name][rows])
    assert set(others) == {name for name, _ in ours.named_parameters()}
