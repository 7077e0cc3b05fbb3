"""Readers of whole texts: inputs by hand, the Transformer-XL against XLNet and its memory, the study at toy size."""

from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from plmlab.chapters.ch15.long_texts import headings
from plmlab.example import Batch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogltx import reasoner_example
from plmlab.models.cogltx_training import LongText, texts_of_update
from plmlab.models.memory_recall import BlockSpan, MemoryBlock, Window
from plmlab.models.task_heads import SpanClassifier
from plmlab.models.xlnet import XLNet, XLNetConfig
from plmlab.recipes.study import NO_EFFECT
from plmlab.world.datasets.long_documents import long_documents
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch15 import selection, whole_texts
from studies.ch15.whole_texts import FULL, LEFT_TO_RIGHT

pytestmark = pytest.mark.usefixtures("one_thread")
CLS, SEP, SHAPE = 2, 3, {"layers": 2, "model": 16, "heads": 2, "inner": 32, "dropout": 0.0}
TEXTS = [LongText((CLS, 8, 9, SEP), tuple(MemoryBlock(number, (*range(20 + 7 * number, 20 + 7 * number + size), SEP))
                                          for number, size in enumerate(sizes)), BlockSpan(1, 0, 1), [0] * len(sizes))
         for sizes in ((4, 7, 3), (6, 5, 1, 7, 2, 4, 7, 7))]


@pytest.fixture(scope="module")
def documents(full):
    return tuple(islice(long_documents(full, "test", 1, lengths=(500, 600)), 4))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pretrained models have two layers of width 16, with weights large enough that positions differ."""
    vocab = len(world_tokenizer())
    bert, xlnet = BERT(BERTConfig(vocab, 192, attention_dropout=0.0, **SHAPE)), XLNet(XLNetConfig(vocab, **SHAPE))
    generator = torch.Generator().manual_seed(0)
    for weight in (*bert.parameters(), *xlnet.parameters()):
        nn.init.normal_(weight, std=0.3, generator=generator)
    monkeypatch.setattr(whole_texts, "pretrained", lambda: bert)
    trained = SimpleNamespace(reasoner=SpanClassifier.from_pretrained(bert))
    study = SimpleNamespace(seeds=(0, 1, 2), trained=lambda folder, variant, updates, seed: trained)
    monkeypatch.setattr(selection, "STUDY", study)
    monkeypatch.setattr(whole_texts, "load", lambda name, expect: (SimpleNamespace(encoder=xlnet), None))
    monkeypatch.setattr(whole_texts, "SIZE", 2)


def batch(*texts: LongText) -> Batch:
    return Batch.of([reasoner_example(Window(text.query, text.blocks), *text.answer) for text in texts], pad=0)


def test_an_input_is_the_question_and_the_document_in_blocks_with_titles(documents) -> None:
    """Each batch has one of the texts of CogLTX's update, which are whole in the second half of four updates."""
    texts = whole_texts.texts_of(documents)
    for index in range(4, 8):
        text, one = texts_of_update(texts, index // 2, 2, 3)[1][index % 2], whole_texts.text_batches(texts, 3, 4)(index)
        document, tokens = documents[texts.index(text)], one.tokens[0].tolist()
        assert tokens[one.labels["start"]:one.labels["end"] + 1] == [*document.tokens[slice(*document.answer)]]
        query, *blocks, last = "".join(f" {token} " for token in tokens).split(f" {SEP} ")
        heads = ["".join(f" {token} " for token in head) for head in headings(document)]
        words = [next(block.removeprefix(head) for head in heads if block.startswith(head)) for block in blocks]
        assert query.split() == [*map(str, (CLS, *document.query))] and not last
        assert "".join(words).split() == [*map(str, document.tokens)]


def test_texts_grow_from_the_relevant_blocks_to_all_blocks(documents) -> None:
    texts = whole_texts.texts_of(documents)
    lengths = []
    for index in range(0, 16, 2):
        text, one = texts_of_update(texts, index // 2, 2, 3)[1][0], whole_texts.text_batches(texts, 3, 8)(index)
        kept = [block for block in text.blocks if "".join(f" {token} " for token in block.ids) in
                "".join(f" {token} " for token in one.tokens[0].tolist())]
        assert text.relevant <= {block.position for block in kept}
        assert one.tokens[0].tolist() == [*text.query, *(token for block in kept for token in block.ids)]
        lengths.append(len(kept) / len(text.blocks))
    assert lengths[0] < 0.3 and lengths[2] == pytest.approx(0.5, abs=0.15) and lengths[4:] == [1] * 4


def test_the_transformer_xl_is_xlnet_with_a_causal_mask() -> None:
    """In one segment; and one pass equals segments of 5 tokens with a memory that holds the text."""
    xlnet = whole_texts.load("", expect="")[0].encoder.double().eval()
    made, causal = whole_texts.left_to_right(xlnet, 64).double(), Batch.continuing(batch(TEXTS[1]).tokens, 0)
    hidden = made.hidden_states(causal)
    torch.testing.assert_close(hidden, xlnet(causal))
    torch.testing.assert_close(made.remembering(segment=5, memory=64).hidden_states(causal), hidden)
    assert not torch.allclose(made.remembering(segment=5, memory=5).hidden_states(causal), hidden)


@pytest.mark.parametrize("variant", [FULL, LEFT_TO_RIGHT])
def test_outputs_depend_on_later_tokens_only_with_full_attention_and_never_on_padding(variant: str) -> None:
    model, both = whole_texts.build("", variant, 0).double().eval(), batch(*TEXTS)
    logits, alone = model(both), model(batch(TEXTS[0]))[0]
    torch.testing.assert_close(logits[0], F.pad(alone, (0, 0, 0, len(logits[0]) - len(alone)), value=-torch.inf))
    changed = model(replace(both, tokens=torch.cat([both.tokens[:, :30], both.tokens[:, 30:] + 1], 1)))
    same = torch.isclose(changed, logits)[1]
    assert same[:30].all() == (variant == LEFT_TO_RIGHT) and not same[30:].any()


def test_an_answer_lies_within_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Higher sums in the question, at [SEP], across blocks and of more than 10 tokens do not count."""
    blocks = *TEXTS[0].blocks, MemoryBlock(3, (*range(90, 103), SEP))
    model, text, logits = whole_texts.build("", FULL, 0), replace(TEXTS[0], blocks=blocks), torch.zeros(1, 35, 2)
    for column, values in enumerate(({2: 9, 8: 9, 7: 5, 10: 4, 21: 5}, {3: 9, 8: 9, 10: 3, 12: 4, 16: 9, 33: 5})):
        logits[0, [*values], column] = torch.tensor([*map(float, values.values())])
    monkeypatch.setattr(model, "forward", lambda batch: logits)
    assert whole_texts.read(model, text) == text.blocks[1].ids[1:4]


@pytest.mark.parametrize("variant", [FULL, LEFT_TO_RIGHT])
def test_the_study_at_toy_size(documents, variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"training_documents": lambda: documents[:2], "SHORT": 4, "DEVELOPMENT": 2, "DISTANCES": (601,),
                        "evaluation_documents": lambda split, number, lengths: documents[:number]}.items():
        monkeypatch.setattr(whole_texts, name, value)
    run = whole_texts.study("").learned(variant, updates=2, lr=1e-3, seed=0, show=False)
    assert len(run.history.losses) == 2
    assert not all(map(torch.equal, run.model.parameters(), whole_texts.build("", variant, 0).parameters()))
    assert -20 < whole_texts.development_score(run) < 0 and whole_texts.test(run)["distance below 601"] >= 0


def test_figures_and_verdicts_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_texts, "DISTANCES", (150, 400))
    given = (5, 9, 149), (9, 5, 150), (5, 9, 399), (5, 9, 0)
    chosen = [SimpleNamespace(supports=supports, distance=distance) for *supports, distance in given]
    names = "exact match", "answer after", "answer before", "distance below 150", "distance below 400"
    assert [*whole_texts.figures([True, False, False, True], chosen).items()] == [
        *zip(names, (0.5, 2 / 3, 0, 1, 0), strict=True)]
    runs = {variant: {name: {"low": low, "high": low + 0.05} for name, low in zip(names, lows, strict=False)}
            for variant, lows in {FULL: (0.42, 0.5), LEFT_TO_RIGHT: (0.44, 0.36, 0.2)}.items()}
    assert whole_texts.verdicts(runs, {"low": 0.5, "high": 0.55}) == {
        FULL: "supported", LEFT_TO_RIGHT: NO_EFFECT, "order": "supported"}
