"""ERNIE 1.0 is ``ErnieForPreTraining`` of transformers without task-type embeddings, through the links of BERT."""

import pytest
from alike import same, shaken
from texts import SIZES, text
from transformers import ErnieConfig, ErnieForPreTraining

from plmlab.hf.bert import BERTS, our_size
from plmlab.hf.links import filled, to_ours, within
from plmlab.models.ernie import ERNIEPretraining


@pytest.mark.parametrize("lengths", [[1], [9, 9], [17, 4, 11]])
@pytest.mark.parametrize("size", SIZES)
def test_without_task_types_it_is_ours(size: dict, lengths: list[int]) -> None:
    theirs = shaken(ErnieForPreTraining(ErnieConfig(**size, use_task_id=False)))
    ours = ERNIEPretraining(our_size(theirs.config)).eval()
    links = [*within("encoder", [*BERTS.links(ours.config), *BERTS.pooler]), *BERTS.head, *BERTS.others]
    filled(ours, to_ours(links, {name.replace("ernie.", "bert."): tensor
                                 for name, tensor in theirs.state_dict().items()}))
    batch, given = text(size["vocab_size"], lengths, size.get("type_vocab_size", 2))
    expected = theirs(**given, labels=batch.targets, next_sentence_label=batch.labels["next_sentence"])
    same(ours(batch), expected.prediction_logits)
    same(ours.next_sentence_logits(ours.encoder(batch)), expected.seq_relationship_logits)
    same(ours.loss(batch), expected.loss)


def test_with_task_types_it_is_ernie_2() -> None:
    """One embedding matrix more, added to the input."""
    one, two = (ErnieForPreTraining(ErnieConfig(**SIZES[0], use_task_id=use)).state_dict() for use in (False, True))
    assert set(two) - set(one) == {"ernie.embeddings.task_type_embeddings.weight"} and not set(one) - set(two)
