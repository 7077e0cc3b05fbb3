"""GPT fine-tuned: equations 3 to 5 worked by hand, the classifiers of ``transformers``, copies, checkpoints."""

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from transformers import (
    GPT2Config,
    GPT2ForSequenceClassification,
    OpenAIGPTConfig,
    OpenAIGPTForSequenceClassification,
)

from plmlab.checkpoints import load, save
from plmlab.example import Batch
from plmlab.hf import to_hf
from plmlab.models.gpt import GPT, GPT2, GPTConfig
from plmlab.models.gpt_classifier import GPTClassifier, GPTClassifierConfig
from plmlab.models.registry import ModelSpec
from plmlab.objectives import gpt_classification, sequence_classification
from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit

VOCAB = Vocabulary(60)
SIZE = GPTConfig(60, time=16, layers=2, model=12, heads=3)
KINDS = pytest.mark.parametrize("reader", [GPT, GPT2])
BATCH = Batch.of([gpt_classification([40, 41, 42], 2, vocab=VOCAB), gpt_classification([43], 0, vocab=VOCAB),
                  gpt_classification([44, 45], 1, pair=[46, 47, 48], vocab=VOCAB)], pad=0)


def made(reader: type[GPT] = GPT, auxiliary: float = 0.5) -> GPTClassifier:
    torch.manual_seed(3)
    model = GPTClassifier(GPTClassifierConfig(ModelSpec(reader, SIZE), labels=3, auxiliary=auxiliary))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


def same(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


@KINDS
@pytest.mark.parametrize("auxiliary", [0.0, 0.5, 2.0])
def test_the_loss_is_equation_5_worked_by_hand(reader: type[GPT], auxiliary: float) -> None:
    """Text by text, without padding: log p(class) at [END] (eq. 3), log p(next token) everywhere before it (eq. 1)."""
    model = made(reader, auxiliary)
    assert type(model.gpt) is reader
    texts = [([5, 40, 41, 42, 6], 2), ([5, 43, 6], 0), ([5, 44, 45, 3, 46, 47, 48, 6], 1)]
    classes, words = [], []
    for tokens, kind_of in texts:
        hidden = model.gpt.hidden_states(Batch.causal(torch.tensor([[*tokens, 0]])))[0]
        classes.append((hidden[-1] @ model.output.weight.T).log_softmax(-1)[kind_of])
        logs = (hidden @ model.gpt.embeddings.token.weight.T).log_softmax(-1)
        words += [logs[t, token] for t, token in enumerate(tokens[1:])]
    assert len(words) == 4 + 2 + 7
    by_hand = -sum(classes) / 3 - auxiliary * sum(words) / len(words)
    same(model.loss(BATCH), by_hand)
    own = [p for p in model.parameters() if p is not model.output.weight]
    for mine, expected in zip(torch.autograd.grad(model.loss(BATCH), own), torch.autograd.grad(by_hand, own),
                              strict=True):
        same(mine, expected)


@pytest.mark.parametrize(("reader", "config", "theirs"), [
    (GPT, OpenAIGPTConfig, OpenAIGPTForSequenceClassification),
    (GPT2, GPT2Config, GPT2ForSequenceClassification),
])
def test_the_classes_are_those_of_transformers(reader: type[GPT], config: type, theirs: type) -> None:
    """Theirs reads the last token that is no padding, which here is [END]."""
    ours = made(reader, auxiliary=0.0)
    other = theirs(config(vocab_size=60, n_positions=16, n_layer=2, n_embd=12, n_head=3, num_labels=3,
                          bos_token_id=5, eos_token_id=6, pad_token_id=0)).double().eval()
    other.transformer.load_state_dict(to_hf(ours.gpt).transformer.state_dict())
    other.score.load_state_dict(ours.output.state_dict())
    expected = other(BATCH.tokens, attention_mask=(BATCH.tokens != 0).long(), labels=BATCH.labels["class"])
    same(ours(BATCH), expected.logits)
    same(ours.loss(BATCH), expected.loss)
    ours.loss(BATCH).backward()
    expected.loss.backward()
    same(ours.output.weight.grad, other.score.weight.grad)
    same(ours.gpt.layers[0].feed_forward.up.weight.grad, other.transformer.h[0].mlp.c_fc.weight.grad.T)


@KINDS
def test_padding_changes_nothing(reader: type[GPT]) -> None:
    model = made(reader)
    for row, example in zip(model(BATCH), [([40, 41, 42], ()), ([43], ()), ([44, 45], [46, 47, 48])], strict=True):
        same(row, model(Batch.of([gpt_classification(example[0], 0, pair=example[1], vocab=VOCAB)], pad=0))[0])


@KINDS
def test_on_a_pretrained_gpt_which_stays_as_it_is(reader: type[GPT]) -> None:
    torch.manual_seed(1)
    pretrained = reader(GPTConfig.tiny(60, 16)).eval()
    before = {name: tensor.clone() for name, tensor in pretrained.state_dict().items()}
    model = GPTClassifier.from_pretrained(pretrained, labels=3)
    assert (model.config.auxiliary, model.config.extract, model.config.labels) == (0.5, VOCAB.end, 3)
    torch.testing.assert_close(model.gpt(BATCH), pretrained(BATCH), rtol=0, atol=0)
    first = model.loss(BATCH)
    fit(model, [BATCH], steps=40, lr=3e-3, show=False)
    assert model.loss(BATCH) < 0.5 * first
    assert model(BATCH).argmax(-1).tolist() == [2, 0, 1]
    for name, tensor in pretrained.state_dict().items():
        assert torch.equal(tensor, before[name]), name
    assert not torch.equal(model.gpt.embeddings.token.weight, pretrained.embeddings.token.weight)


def test_a_text_without_its_extract_token_is_said() -> None:
    with pytest.raises(ValueError, match="does not contain token 6, from which the class is predicted"):
        made()(Batch.causal(torch.tensor([[5, 40, 41, 6], [5, 40, 41, 42]])))
    with pytest.raises(ValueError, match=r"does not contain token 6"):
        made().loss(Batch.of([sequence_classification([40], 0, vocab=VOCAB)], pad=0))
    model = GPTClassifier.from_pretrained(GPT(SIZE), extract=3).eval()
    pair = Batch.of([gpt_classification([40, 41], 0, pair=[42], vocab=VOCAB)], pad=0)
    torch.testing.assert_close(model(pair)[0], model.gpt.hidden_states(pair)[0, 3] @ model.output.weight.T)


def test_the_words_keep_their_loss_down() -> None:
    """With λ the fine-tuned model still says the next word; without, it forgets."""
    losses = {}
    for auxiliary in (0.0, 0.5):
        torch.manual_seed(0)
        model = GPTClassifier.from_pretrained(GPT2(GPTConfig(60, 16, 1, 16, 2, dropout=0.0)), labels=3,
                                              auxiliary=auxiliary)
        fit(model, [BATCH], steps=40, lr=0.02, show=False)
        logits = model.gpt(BATCH)
        losses[auxiliary] = F.cross_entropy(logits.flatten(0, 1), BATCH.targets.flatten()).item()
    assert losses[0.5] < 1 < losses[0.0]


@KINDS
def test_a_checkpoint_gives_it_back(reader: type[GPT], tmp_path: Path) -> None:
    model = made(reader, auxiliary=0.25).float()
    save(tmp_path / "head", model, Tokenizer.words(["the bank"], 60), command="x", figures={})
    again, _ = load(tmp_path / "head")
    assert type(again.gpt) is reader and again.config == model.config and again.config.auxiliary == 0.25
    assert torch.equal(again(BATCH), model(BATCH))
