"""The Attention Lab's map of the words over entity-spans, against KnowBERT run on its own."""

import pytest
import torch
from entity_lab_models import ENTITIES, SENSES, SENTENCE, WORDS, knowbert, spans
from small_models import weights_of

from plmlab.candidates import NULL, LinkedBatch
from plmlab.interpret.attention_maps import attention_maps
from plmlab.interpret.watching import watch
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig
from plmlab.objectives.entity_linking import linked


def test_rows_are_words_and_columns_are_mentions_with_their_entities() -> None:
    lab, ids = spans(), WORDS.encode(SENTENCE)
    mentions = [[mention.shifted(1) for mention in base.mentions(ids)] for base in (ENTITIES, SENSES)]
    batch = LinkedBatch.of([linked(ENCODER.example(ids, None, WORDS.vocab), mentions)], pad=0)
    with torch.no_grad(), watch(knowbert(), "*word_layer*") as seen:
        _, scores = knowbert().linked_states(batch)
    named = ["Flora (position 1)", "Flora Farrow", "Dusk", "Flora (position 7)", "Alder"], ["lives"]
    for number, (names, base) in enumerate(zip(named, (ENTITIES, SENSES), strict=True)):
        lab.shown = 1 + number
        best = knowbert().kars[number].linker.predicted(scores[number], batch.mentions[number])[0].tolist()
        assert lab.state["keys"] == [f"{name} → {base.key(id) or 'NULL'}" for name, id in zip(names, best, strict=True)]
        assert lab.state["queries"] == ["[CLS]", *SENTENCE.split(), "[SEP]"]
        torch.testing.assert_close(weights_of(lab).float(), seen[f"kars.{number}.word_layer.to_spans.weights"], rtol=0,
                                   atol=1e-5)
        assert NULL in best or number
    lab.set_state({"shown": 1, "closed": [["spans 1", 3, 2]]})
    assert float(weights_of(lab)[:, :, 3, 2].max()) == 0 and lab.state["change"]["whole"] > 0
    changed = spans(off=[["spans 1", 0, 1]]).state["change"]
    assert changed["tokens"] == lab.state["queries"] and min(changed["positions"]) > 0


def test_a_text_without_names_and_a_model_without_knowledge() -> None:
    lab = spans()
    state = lab.state
    lab.text = "the dog"
    assert "has no entity-span to attend to" in lab.message and lab.stale and lab.state == state
    lab.shown = 0
    assert not lab.stale and lab.state["map"] == "self"
    pair = attention_maps(knowbert(), WORDS, "the dog", "Dusk", knowledge=[ENTITIES, SENSES])
    assert [len(one.keys) for one in pair] == [6, 1, 0] and pair[1].keys[0].startswith("Dusk → ")
    assert [one.name for one in attention_maps(knowbert(), WORDS, SENTENCE)] == ["self"]
    with pytest.raises(ValueError, match="a BERT has no attention to entity-spans"):
        attention_maps(BERT(BERTConfig.tiny(len(WORDS))), WORDS, SENTENCE, knowledge=[ENTITIES])
