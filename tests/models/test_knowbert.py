"""KnowBERT: BERT's layers and KARs in sequence, its losses, frozen vectors in training and in checkpoints."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from fake_gpu import fake_gpu
from realm_small import same, scattered

from plmlab.batches import ExampleBatches
from plmlab.candidates import NULL, LinkedBatch, LinkedExample
from plmlab.checkpoints import load, save
from plmlab.example import IGNORE, Batch
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.knowbert import KnowBERT, KnowBERTConfig, KnowBERTPretraining
from plmlab.objectives import always_mask, masked
from plmlab.objectives.entity_linking import drop_mention, linked, with_mentions
from plmlab.objectives.next_sentence import with_nsp
from plmlab.text.knowledge import KnowledgeBase
from plmlab.text.words import word_tokenizer
from plmlab.train import fit

WORDS = word_tokenizer(["ada", "bell", "saw", "the", "red", "bank", "of", "rome", "milton", "rang", "a"])
PEOPLE = KnowledgeBase(["ada", "other ada", "rome", "the saw"], {
    "ada bell": {"ada": 1}, "ada": {"ada": 2, "other ada": 1, None: 1}, "rome": {"rome": 1}, "saw": {"the saw": 1}},
    WORDS)
SENSES = KnowledgeBase(["bank.money", "bank.river"], {"bank": {"bank.money": 3, "bank.river": 1}}, WORDS)
LINKS = [{(0, 2): "ada", (7, 8): "rome"}, {(5, 6): "bank.river"}]
TEXTS = ["ada bell saw the red bank of rome", "a red bank", "the bell rang", "ada saw milton"]
SMALL: dict[str, Any] = {"time": 32, "layers": 4, "model": 12, "heads": 3, "inner": 20, "dropout": 0.0,
                         "attention_dropout": 0.0}
CONFIG = KnowBERTConfig(len(WORDS), **SMALL, after=(2, 3), entities=(len(PEOPLE), len(SENSES)), widths=(8, 4),
                        kar_heads=2, kar_inner=6)
BERTS = BERTConfig(len(WORDS), **SMALL)
VECTORS = [torch.randn(size, width, generator=torch.Generator().manual_seed(size))
           for size, width in zip(CONFIG.entities, CONFIG.widths, strict=True)]


def ids(text: str) -> list[int]:
    return WORDS.encode(text, plain=True)


def example(text: str, select: tuple[int, ...] = ()) -> LinkedExample:
    """With gold entities for the first text, where no other name is a mention."""
    plain, tokens = masked(ids(text), vocab=WORDS.vocab, rng=Random(0), select=select), ids(text)
    links = LINKS if text == TEXTS[0] else [{}, {}]
    found = [base.mentions(tokens, some, NULL if base is PEOPLE and some else IGNORE)
             for base, some in zip((PEOPLE, SENSES), links, strict=True)]
    return linked(plain, [[mention.shifted(1) for mention in some] for some in found])


def batch(*select: tuple[int, ...]) -> LinkedBatch:
    return LinkedBatch.of([example(text, some) for text, some in zip(TEXTS, select or [()] * 4, strict=True)], pad=0)


def knowbert(kind: type = KnowBERTPretraining, config: KnowBERTConfig = CONFIG, seed: int = 3) -> Any:
    made = scattered(kind(config), seed)
    encoder = made if kind is KnowBERT else made.encoder
    for kar, vectors in zip(encoder.kars, VECTORS, strict=True):
        kar.linker.vectors.copy_(vectors)
    return made


@pytest.mark.parametrize("after", [(2, 3), (1, 1), (4, 4), (1, 4)])
@torch.no_grad()
def test_layers_and_kars_in_sequence(after: tuple[int, ...]) -> None:
    model, given = knowbert(KnowBERT, replace(CONFIG, after=after)), batch()
    x, states, scores = model.embeddings(given), [], []
    for number, layer in enumerate(model.layers, 1):
        x = layer(x, given.visible)
        for i in (0, 1):
            if after[i] == number:
                x, found = model.kars[i](x, given.mentions[i])
                scores.append(found)
        states.append(x)
    output, linking = model.linked_states(given)
    same(output, x)
    same(model(given), x)
    for ours, expected in zip(list(model.all_hidden_states(given))[1:], states, strict=True):
        same(ours, expected)
    for ours, expected in zip(linking, scores, strict=True):
        same(ours, expected)


@torch.no_grad()
def test_each_text_alone_gives_the_same() -> None:
    """Also the third text, which has no mentions; with a plain batch, none has."""
    model, together = knowbert(KnowBERT), batch()
    output, plain = model(together), model(Batch.of([example(text) for text in TEXTS], pad=0))
    for i, text in enumerate(TEXTS):
        alone = model(LinkedBatch.of([example(text)], pad=0))[0]
        same(output[i, :len(alone)], alone)
    same(plain[2], output[2])
    assert all((plain[i, 1] - output[i, 1]).abs().max() > 1e-3 for i in (0, 1, 3))


@torch.no_grad()
def test_its_loss_is_the_sum_of_all_losses() -> None:
    model = knowbert()
    pairs = [with_nsp(with_mentions(masked, PEOPLE, SENSES))(
        ids(first), ids(second), follows, vocab=WORDS.vocab, rng=Random(0), select=(2, 6)) for first, second, follows
        in ((TEXTS[0], TEXTS[1], True), (TEXTS[3], TEXTS[0], False))]
    given = LinkedBatch.of(pairs, pad=0)
    hidden = model.encoder(given)
    lm = [float(-model.token_logits(hidden[i, t]).log_softmax(0)[given.targets[i, t]]) for i in (0, 1) for t in (2, 6)]
    nsp = -model.next_sentence_logits(hidden).log_softmax(1)[[0, 1], [0, 1]].mean()
    assert float(model.loss(given)) == pytest.approx(sum(lm) / 4 + float(nsp))
    labelled = batch((), (1,), (), (3,))
    hidden, scores = model.encoder.linked_states(labelled)
    linking = [float(kar.linker.loss(*some)) for kar, *some in zip(model.encoder.kars, scores, labelled.mentions,
                                                                   strict=True)]
    tokens = [float(-model.token_logits(hidden[i, t]).log_softmax(0)[labelled.targets[i, t]]) for i, t in
              ((1, 1), (3, 3))]
    assert min(linking) > 0.01 and [some.gold[0].tolist() for some in labelled.mentions] == [[NULL, 2, NULL, 4],
                                                                                             [3]]
    assert float(model.loss(labelled)) == pytest.approx(sum(tokens) / 2 + sum(linking))
    assert float(model.loss(batch())) == pytest.approx(sum(linking)), "without masked tokens, the linkers' alone"


def test_it_starts_from_a_copy_of_a_bert() -> None:
    bert = scattered(BERTPretraining(BERTS))
    made = KnowBERTPretraining.from_pretrained(bert, VECTORS, after=(2, 3), kar_heads=2, kar_inner=6)
    assert made.config == CONFIG and not made.training
    own, copied = dict(bert.named_parameters()), dict(made.named_parameters())
    for name, weight in own.items():
        assert torch.equal(copied[name], weight) and copied[name] is not weight, name
    assert {name.split(".")[1] for name in copied if name not in own} == {"kars"}
    for kar, vectors in zip(made.encoder.kars, VECTORS, strict=True):
        same(kar.linker.vectors, vectors.double())
        same(kar.linker.project.weight @ kar.back.weight, torch.eye(len(kar.back.weight.T)).double(), 1e-4)


def test_training_changes_all_but_the_vectors_which_a_checkpoint_keeps(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = KnowBERTPretraining.from_pretrained(BERTPretraining(BERTS), VECTORS, after=(2, 3), kar_heads=2,
                                                kar_inner=6)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    batches = ExampleBatches(lambda rng: [example(text, (len(text.split()),)) for text in TEXTS], 0, 0)
    fit(model, batches, steps=2, lr=1e-2, warmup=1, show=False)
    same_as_before = {name for name, tensor in model.state_dict().items() if torch.equal(tensor, before[name])}
    assert {name for name in same_as_before if "vectors" in name} == {
        f"encoder.kars.{i}.linker.vectors" for i in (0, 1)}
    assert all("vectors" in name or name.startswith(("encoder.pooler", "next_sentence", "encoder.kars.1."))
               for name in same_as_before), "with one mention of one token, the attention of the second is constant"
    save(tmp_path / "some", model, WORDS, command="x", figures={})
    again, _ = load(tmp_path / "some", expect="knowbert-pretraining")
    assert again.config == model.config
    same(again.encoder(batch()), model.eval().encoder(batch()))


def test_masked_candidates_reveal_a_name_and_dropped_mentions_nothing() -> None:
    model = knowbert(KnowBERT)
    for hide, differ in ((None, True), (drop_mention, False)):
        objective = with_mentions(masked, PEOPLE, SENSES, **({"hide": hide} if hide else {}))
        made = [objective(ids(text), vocab=WORDS.vocab, rng=Random(0), select=(4,), corrupt=always_mask)
                for text in ("a red bell rome", "a red bell milton")]
        assert torch.equal(made[0].tokens, made[1].tokens)
        with torch.no_grad():
            one, other = (model(LinkedBatch.of([some], pad=0)) for some in made)
        assert (float((one - other).abs().max()) > 1e-3) == differ


def test_parameters_of_the_paper_s_size_by_hand() -> None:
    """A KAR has two projections, two Transformer layers, a scorer, and small vectors. The vectors are no parameters."""
    with torch.device("meta"):
        model, bert = KnowBERT(KnowBERTConfig.base()), BERT(BERTConfig.base())
    sizes = [sum(weight.numel() for weight in some.parameters()) for some in (model, bert)]

    def kar(width: int, hidden: int = 768, inner: int = 1024, scorer: int = 100) -> int:
        layer = 4 * (width * width + width) + 2 * width * inner + inner + width + 4 * width
        return (hidden * width + width + width * hidden + hidden + 2 * layer + width + 1 + 3 * 2 * width + 2 * hidden
                + 3 * scorer + scorer + 1)
    assert sizes[0] - sizes[1] == kar(300) + kar(200)
    assert [round(kar(width) / 1e6, 1) for width in (300, 200)] == [2.4, 1.5]
    assert [tuple(some.linker.vectors.shape) for some in model.kars] == [(470_002, 300), (117_661, 200)]


def test_it_runs_where_the_model_is() -> None:
    model = knowbert()
    with fake_gpu():
        loss = model.to("cuda").loss(batch((), (1,), (), (3,)).to("cuda"))
        plain = model.encoder(Batch.of([example(TEXTS[0])], pad=0).to("cuda"))
        assert loss.is_cuda and plain.is_cuda


@pytest.mark.parametrize(("wrong", "message"), [
    ({"after": (3, 2)}, "ascending"), ({"after": (2, 5)}, "from 1 to 4"),
    ({"after": (2,)}, r"places 1 KARs, but entities="), ({"widths": (8,)}, r"but widths=\(8,\)"),
    ({"linkers": ("margin", "hinge")}, "unknown linker 'hinge'; choose one of margin, log-likelihood"),
])
def test_what_a_configuration_and_a_batch_must_have(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KnowBERT(replace(CONFIG, **wrong))
    one = with_mentions(masked, PEOPLE)(ids("ada"), vocab=WORDS.vocab, rng=Random(0), select=())
    with pytest.raises(ValueError, match="mentions for 1 knowledge bases, but the model has 2"):
        knowbert(KnowBERT)(LinkedBatch.of([one], pad=0))
