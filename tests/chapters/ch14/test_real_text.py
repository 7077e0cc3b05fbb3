"""CogQA on MiniLM: what it stands on, and that it learns from the world in pieces of words."""

import pytest
import torch

from plmlab.hf import minilm
from plmlab.hf.minilm_vectors import pieces
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogqa import CogQA, SelfLoopCogQA
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch14 import learning, real_text
from studies.ch14.real_text import fine_tuned, on_minilm


def test_it_stands_on_minilm() -> None:
    encoder, _ = minilm()
    for model, kind in ((on_minilm(), SelfLoopCogQA), (on_minilm(CogQA), CogQA)):
        assert type(model) is kind
        assert all(torch.equal(a, b) for a, b in zip(model.encoder.state_dict().values(), encoder.state_dict().values(),
                                                     strict=True))
        assert model.encoder.config.time == 512 and model.output.weight.shape == (4, 384)


def test_the_same_questions_in_other_tokens() -> None:
    """Read back as text, the batches are the same but for case and accents."""
    words, others = learning.batches(3, 512)(7), learning.batches(3, 512, pieces())(7)
    assert torch.equal(words.edges, others.edges) and torch.equal(words.answers, others.answers)
    vocab = pieces().vocab
    assert {vocab.need("cls")} == set(others.reading.tokens[:, 0].tolist())
    for ours, theirs in zip(words.reading.tokens.tolist(), others.reading.tokens.tolist(), strict=True):
        said = world_tokenizer().decode([one for one in ours if one not in world_tokenizer().vocab.special])
        read = pieces().decode([one for one in theirs if one not in vocab.special])
        assert read == said.lower().replace("é", "e")
    for column in range(4):
        assert int((words.reading.labels["pointers"][..., column] == 1).sum()) == int(
            (others.reading.labels["pointers"][..., column] == 1).sum())


@pytest.mark.usefixtures("one_thread")
def test_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a tiny BERT in MiniLM's place."""
    torch.manual_seed(0)
    encoder = BERT(BERTConfig(len(pieces()), 512, 2, 16, 2, 32))
    monkeypatch.setattr(real_text, "minilm", lambda: (encoder, pieces()))
    monkeypatch.setattr(learning, "BATCH", 2)
    one, other = (fine_tuned(seed, 10, 1e-2, show=False) for seed in (0, 1))
    assert not torch.equal(one.output.weight, other.output.weight)
    assert not torch.equal(one.encoder.layers[0].attention.q.weight, encoder.layers[0].attention.q.weight)
    batch = learning.batches(5, 512, pieces())(0)
    with torch.no_grad():
        assert float(one.loss(batch)) < 0.9 * float(on_minilm().loss(batch))
