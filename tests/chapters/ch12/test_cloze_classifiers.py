"""The class from one position: the words' own logits, the loss by hand, and what stands beside a text changes
nothing."""

from typing import Any

import pytest
import torch
from small_models import cloze_reader

from plmlab.chapters.ch12.cloze_classifiers import ClozeClassifier, PositionClassifier
from plmlab.chapters.ch12.cloze_tasks import TASKS, Agreeing, read_by_bert, read_by_glm
from plmlab.example import Batch
from plmlab.models.task_heads import SentenceClassifier
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

ROWS = (Agreeing(("the", "cups", "near", "the", "wall"), ("wet", "."), True, 1),
        Agreeing(("the", "cup"), ("expensive", "."), False, 0), Agreeing(("the", "balls"), ("wet", "."), True, 0))
WORDS = ids(("is", "are"))


def made(kind: str) -> Any:
    """A GLM or a BERT with random weights."""
    return cloze_reader(kind, len(world_tokenizer()), seed=1)


def batch(kind: str, rows: tuple[Agreeing, ...] = ROWS) -> Batch:
    read = read_by_glm if kind == "GLM" else read_by_bert
    return Batch.of([read(TASKS["number agreement"], row) for row in rows], pad=0)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["GLM", "BERT"])
def test_the_class_is_said_by_the_models_own_logits_of_two_words(kind: str) -> None:
    model, read = made(kind), batch(kind)
    found = ClozeClassifier(model, WORDS)(read)
    positions = {"GLM": [8, 5, 5], "BERT": [6, 3, 3]}[kind]
    logits = torch.stack([model(read)[row, position] for row, position in enumerate(positions)])
    torch.testing.assert_close(found, torch.stack([logits[:, WORDS[0]], logits[:, WORDS[1]]], 1))
    right = found.gather(1, torch.tensor([[1], [0], [1]]))
    by_hand = -(right.exp() / found.exp().sum(1, keepdim=True)).log().mean()
    torch.testing.assert_close(ClozeClassifier(model, WORDS).loss(read), by_hand)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["GLM", "BERT"])
def test_texts_beside_it_change_nothing(kind: str) -> None:
    model = made(kind)
    heads = [(PositionClassifier if kind == "BERT" else SentenceClassifier).from_pretrained(model.encoder)]
    for classifier in (ClozeClassifier(model, WORDS), *heads):
        alone = torch.cat([classifier(batch(kind, (row,))) for row in ROWS])
        torch.testing.assert_close(classifier(batch(kind)), alone)
        assert (alone[0] - alone[1]).abs().max() > 1e-3


@torch.no_grad()
def test_the_heads_stand_on_the_vector_that_says_the_word() -> None:
    glm, bert = made("GLM"), made("BERT")
    read = batch("GLM")
    head = SentenceClassifier.from_pretrained(glm.encoder)
    torch.testing.assert_close(head(read), head.output(glm.encoder(read)[torch.arange(3), torch.tensor([8, 5, 5])]))
    read, on_mask = batch("BERT"), PositionClassifier.from_pretrained(bert.encoder)
    torch.testing.assert_close(on_mask(read),
                               on_mask.output(bert.encoder(read)[torch.arange(3), torch.tensor([6, 3, 3])]))


def test_what_was_pretrained_stays_as_it_was_and_nothing_is_new() -> None:
    model = made("GLM")
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    classifier = ClozeClassifier(model, WORDS)
    assert sum(weight.numel() for weight in classifier.parameters()) == sum(map(torch.numel, before.values()))
    classifier.loss(batch("GLM")).backward()
    torch.optim.SGD(classifier.parameters(), lr=1.0).step()
    assert all(torch.equal(weight, before[name]) for name, weight in model.named_parameters())
    token = classifier.pretrained.encoder.embeddings.token.weight
    assert not torch.equal(token, before["encoder.embeddings.token.weight"])
