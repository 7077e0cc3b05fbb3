"""The Attention Lab's map of the words over entity-spans, against the KAR run on its own."""

import pytest
import torch
from entity_lab_models import ENTITIES, SENSES, SENTENCE, WORDS, knowbert, spans
from small_models import weights_of

from plmlab.candidates import NULL, LinkedBatch
from plmlab.interpret.attention_maps import attention_maps
from plmlab.interpret.watching import watch
from plmlab.labs import AttentionLab
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig
from plmlab.objectives.entity_linking import linked


def test_rows_are_words_and_columns_are_mentions_with_their_entities() -> None:
    lab, ids = spans(), WORDS.encode(SENTENCE)
    mentions = [[mention.shifted(1) for mention in base.mentions(ids)] for base in (ENTITIES, SENSES)]
    batch = LinkedBatch.of([linked(ENCODER.example(ids, None, WORDS.vocab), mentions)], pad=0)
    with torch.no_grad(), watch(knowbert(), "*word_layer*") as seen:
        _, scores = knowbert().linked_states(batch)
    linkers = [kar.linker.predicted(*each) for kar, *each in zip(knowbert().kars, scores, batch.mentions, strict=True)]
    named = ["Flora (position 1)", "Flora Farrow", "Dusk", "Flora (position 7)", "Alder"], ["lives"]
    for number, names in enumerate(named):
        lab.shown = 1 + number
        base, best = (ENTITIES, SENSES)[number], linkers[number][0].tolist()
        assert lab.state["keys"] == [f"{name} → {base.key(entity) or 'NULL'}"
                                     for name, entity in zip(names, best, strict=True)]
        assert lab.state["queries"] == ["[CLS]", *SENTENCE.split(), "[SEP]"]
        torch.testing.assert_close(weights_of(lab).float(), seen[f"kars.{number}.word_layer.to_spans.weights"], rtol=0,
                                   atol=1e-5)
        assert lab.detail["count"] == [len(lab.state["queries"]), len(names)]
    assert {*linkers[0][0].tolist()} > {NULL}
    lab.shown = 1
    q, k = lab.state["start"]
    assert float(weights_of(lab)[0, 0, q, k]) == float(weights_of(lab)[0, 0, 1:-1].max())


def test_heads_and_pairs_are_switched_off_as_in_any_map() -> None:
    lab = spans(closed=[["spans 1", 3, 2]])
    assert float(weights_of(lab)[:, :, 3, 2].max()) == 0 and lab.state["change"]["whole"] > 0
    changed = spans(off=[["spans 1", 0, 1]]).state["change"]
    assert changed["tokens"] == lab.state["queries"] and min(changed["positions"]) > 0
    lab.shown, lab.closed = 0, []
    plain = AttentionLab(knowbert(), WORDS, SENTENCE)
    assert [one["name"] for one in plain.state["maps"]] == ["self"], "without knowledge bases no mention is found"
    assert lab.state["map"] == "self" and lab.state["size"] == [3, 3] and lab.state["change"] is None


def test_a_text_without_names_and_a_model_without_knowledge() -> None:
    lab = spans()
    state = lab.state
    lab.text = "the dog"
    assert "has no entity-span to attend to" in lab.message and lab.stale and lab.state == state
    lab.shown = 0
    assert not lab.stale and lab.state["map"] == "self"
    pair = attention_maps(knowbert(), WORDS, "the dog", "Dusk", knowledge=[ENTITIES, SENSES])
    assert [len(one.keys) for one in pair] == [6, 1, 0] and pair[1].keys[0].startswith("Dusk → ")
    bert = BERT(BERTConfig.tiny(len(WORDS)))
    with pytest.raises(ValueError, match="a BERT has no attention to entity-spans"):
        attention_maps(bert, WORDS, SENTENCE, knowledge=[ENTITIES])
    with pytest.raises(ValueError, match="mentions for 1 knowledge bases, but the model has 2"):
        attention_maps(knowbert(), WORDS, SENTENCE, knowledge=[ENTITIES])
