"""The four tasks: what is asked is what is labelled, who knows everything scores 1, and tuning touches a copy."""

from typing import Any

import pytest
import torch

from plmlab.example import IGNORE, Batch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.mpnet import MPNet, MPNetConfig
from plmlab.models.registry import type_of
from plmlab.models.task_heads import SpanClassifier, TaskHead
from plmlab.models.unilm import UniLM, UniLMConfig
from plmlab.models.xlnet import XLNet, XLNetConfig
from plmlab.objectives.layouts import Layout
from plmlab.transfer import (
    KINDS,
    TAGS,
    TASKS,
    batch_of,
    development,
    fine_tune,
    read_by,
    score,
    training_rows,
)
from plmlab.transfer import (
    test_set as evaluation_set,
)
from plmlab.world import World
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from studies.ch08.labels import PILOTS, SEEDS

NAMES = tuple(TASKS)
DRAWN = (SEEDS[0], PILOTS[0])
"""Of each kind of seed one: a thousand rows drawn by it would hit what is held out, were it not."""


def small_bert(seed: int = 0) -> BERT:
    torch.manual_seed(seed)
    return BERT(BERTConfig(len(world_tokenizer()), time=64, layers=1, model=16, heads=2, inner=32, dropout=0.0,
                           attention_dropout=0.0))


def small_xlnet() -> XLNet:
    return XLNet(XLNetConfig(len(world_tokenizer()), layers=1, model=16, heads=2, inner=32, dropout=0.0))


def small_mpnet() -> MPNet:
    return MPNet(MPNetConfig(len(world_tokenizer()), time=64, layers=1, model=16, heads=2, inner=32, dropout=0.0,
                             attention_dropout=0.0))


def small_unilm() -> UniLM:
    return UniLM(UniLMConfig(len(world_tokenizer()), time=64, layers=1, model=16, heads=2, inner=32, dropout=0.0,
                             attention_dropout=0.0))


ENCODERS = {"bert": small_bert, "xlnet": small_xlnet, "mpnet": small_mpnet, "unilm": small_unilm}


def knowing(name: str, encoder: BERT, wrong: bool = False) -> TaskHead:
    """A head that says the labels of whatever batch it is shown, or always something else."""
    class Knowing(TASKS[name].head):  # type: ignore[misc]
        def forward(self, batch: Batch) -> torch.Tensor:
            if isinstance(self, SpanClassifier):
                logits = torch.zeros(*batch.size, 2)
                for row, ends in enumerate(zip(batch.labels["start"], batch.labels["end"], strict=True)):
                    for which, position in enumerate(ends):
                        logits[row, (int(position) - 1 if wrong else int(position)), which] = 9
                return logits
            gold = batch.labels["class" if "class" in batch.labels else "tags"]
            said = gold.clamp(min=0) if not wrong else (gold == 0).long() * (name != "NER")
            return torch.nn.functional.one_hot(said, TASKS[name].labels).float()
    return Knowing.from_pretrained(encoder, TASKS[name].labels)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("name", NAMES)
def test_who_knows_everything_is_always_right_and_who_errs_never(name: str, encoder: str, monkeypatch) -> None:
    """Sixty rows are enough to tell."""
    monkeypatch.setattr("plmlab.transfer.test_set", lambda name: evaluation_set(name)[:60])
    assert score(knowing(name, ENCODERS[encoder]()), name) == 1
    assert score(knowing(name, ENCODERS[encoder](), wrong=True), name) < 0.02


@pytest.mark.parametrize("seed", DRAWN)
@pytest.mark.parametrize("name", NAMES)
def test_no_row_of_the_exam_is_learned_from(name: str, seed: int) -> None:
    def key(row: Any) -> tuple:
        return tuple(getattr(row, field) for field in ("question", "first", "second", "words") if hasattr(row, field))

    assert len(evaluation_set(name)) > 100 and len(training_rows(name, seed)) > 1000
    assert not {key(row) for row in evaluation_set(name)} & {key(row) for row in training_rows(name, seed)}


@pytest.mark.parametrize("seed", DRAWN)
def test_names_of_the_exam_stand_in_no_training_text(full: World, seed: int) -> None:
    held = [{mention.entity for mention in row.mentions} & full.held.entities for row in evaluation_set("NER")]
    assert all(held)
    assert not any({mention.entity for mention in row.mentions} & full.held.entities
                   for row in training_rows("NER", seed))


def test_tags_are_those_of_the_world(full: World) -> None:
    assert set(KINDS) == {entity.kind for entity in full.facts.entities.values() if entity.named}
    batch = batch_of(TASKS["NER"].example, rows := evaluation_set("NER")[:50])
    for row, tags in zip(rows, batch.labels["tags"].tolist(), strict=True):
        assert [TAGS[tag] for tag in tags if tag != IGNORE] == list(row.bio)


def test_what_is_read_is_the_row_and_the_answer_lies_where_the_labels_say() -> None:
    rows = evaluation_set("extractive QA")[:20]
    batch = batch_of(TASKS["extractive QA"].example, rows)
    for row, tokens, start, end in zip(rows, batch.tokens.tolist(), *map(torch.Tensor.tolist, (
            batch.labels["start"], batch.labels["end"])), strict=True):
        assert tokens[start:end + 1] == ids(row.text[row.start:row.end])
    batch = batch_of(TASKS["paraphrase"].example, rows := evaluation_set("paraphrase")[:20])
    for row, tokens, segments in zip(rows, batch.tokens, batch.segments, strict=True):
        assert tokens[segments == 1].tolist()[:-1] == ids(row.second)


@pytest.mark.parametrize("features", [False, True])
def test_tuning_leaves_the_model_that_it_is_given_as_it_was(features: bool) -> None:
    bert = small_bert()
    before = {name: weight.clone() for name, weight in bert.state_dict().items()}
    tuned, _ = fine_tune(bert, "NER", 32, 0, lr=1e-2, steps=4, features=features, show=False)
    assert all(torch.equal(weight, before[name]) for name, weight in bert.state_dict().items())
    same = [torch.equal(weight, before[name]) for name, weight in tuned.encoder.state_dict().items()
            if not name.startswith("pooler")]
    assert all(same) if features else not any(same)


@pytest.mark.parametrize("encoder", ["xlnet", "mpnet"])
@pytest.mark.parametrize("name", NAMES)
def test_other_encoders_are_tuned_with_their_own_heads(name: str, encoder: str) -> None:
    before = ENCODERS[encoder]()
    kept = {place: weight.clone() for place, weight in before.state_dict().items()}
    tuned, history = fine_tune(before, name, 32, 0, lr=1e-2, steps=3, show=False)
    assert type_of(tuned.encoder).name == encoder and len(history.losses) == 3
    assert all(torch.equal(weight, kept[place]) for place, weight in before.state_dict().items())
    assert not torch.equal(tuned.encoder.embeddings.token.weight, kept["embeddings.token.weight"])


def test_each_reads_a_task_in_its_own_layout() -> None:
    row, cls = training_rows("acceptability", 0)[0], world_tokenizer().vocab.cls
    first, last = (read_by(model, TASKS["acceptability"].example)(row).tokens.tolist()
                   for model in (small_bert(), small_xlnet()))
    assert first == [cls, *ids(row.words), world_tokenizer().vocab.sep] and last == [*first[1:], cls]


def test_of_frozen_features_of_an_xlnet_the_head_alone_is_trained() -> None:
    before = small_xlnet()
    tuned, history = fine_tune(before, "paraphrase", 32, 0, lr=1e-2, steps=40, features=True, show=False)
    assert all(torch.equal(weight, before.state_dict()[name]) for name, weight in tuned.encoder.state_dict().items())
    assert history.smoothed(5)[-1] < history.losses[0]


def test_fewer_labels_are_the_first_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()
    example = TASKS["acceptability"].example
    rows = training_rows("acceptability", 0)

    def noting(row: Any, layout: Layout) -> Any:
        seen.add(next(place for place, other in enumerate(rows) if other is row))
        return example(row, layout)
    task = TASKS["acceptability"]
    monkeypatch.setitem(TASKS, "acceptability", type(task)(**{**vars(task), "example": noting}))
    fine_tune(small_bert(), "acceptability", 8, 0, lr=1e-3, steps=6, show=False)
    assert seen == set(range(8))


@pytest.mark.parametrize("name", NAMES)
def test_development_rows_are_neither_of_the_exam_nor_learned_from(name: str) -> None:
    def key(row: Any) -> tuple:
        """All that is read of a row."""
        return tuple(tuple(getattr(row, field)) for field in ("question", "text", "first", "second", "words")
                     if hasattr(row, field))

    rows = {key(row) for row in development(name, 0)}
    assert len(development(name, 0)) == 200
    assert not rows & {key(row) for row in [*evaluation_set(name), *training_rows(name, 0)]}


def test_with_patience_the_best_weights_by_the_development_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plmlab.transfer.EVERY", 10)
    model, history = fine_tune(small_bert(), "NER", 64, 0, lr=3e-2, steps=400, patience=1, show=False)
    assert history.best is not None and history.best[1] == max(value for _, value in history.scores)
    with torch.no_grad():
        assert TASKS["NER"].score(model, development("NER", 0)) == pytest.approx(history.best[1])


class Topped(BERT):
    """A BERT with one layer more."""

    features = "below"

    def __init__(self, config: BERTConfig) -> None:
        super().__init__(config)
        self.top = torch.nn.Linear(config.model, config.model)

    def below(self, batch: Batch) -> torch.Tensor:
        return super().forward(batch)

    def forward(self, batch: Batch) -> torch.Tensor:
        return self.top(self.below(batch))


def test_of_frozen_features_only_the_head_and_the_top_are_trained() -> None:
    before = Topped(small_bert().config)
    kept = {name: weight.clone() for name, weight in before.state_dict().items()}
    model, _ = fine_tune(before, "NER", 32, 0, lr=1e-2, steps=4, features=True, show=False)
    for name, weight in model.encoder.state_dict().items():
        assert torch.equal(weight, kept[name]) != name.startswith("top."), name
