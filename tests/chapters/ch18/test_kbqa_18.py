"""The stages of the question answerer against brute force over texts, tags and triples."""

from itertools import product
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from plmlab.chapters.ch18 import kbqa
from plmlab.chapters.ch18.kbqa import KBQA, LINKING, NER, RELATION, STAGES, MeanHidden, Relations, Tagger, word_counts
from plmlab.example import IGNORE, Batch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.objectives import cls_first
from plmlab.world.datasets.entity_questions import one_hop_questions, with_surnames
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from plmlab.world.world import World

WORLD = World("medium", TEST_WORLDS[0])
QUESTIONS = with_surnames(one_hop_questions(WORLD))
VOCAB = world_tokenizer().vocab
ROWS = [(40, 41, 42), (50,), (60, 61, 62, 63, 64), (70, 71)]
MENTIONS = {tuple(ids(one.words)): one.mention for one in QUESTIONS}
pytestmark = pytest.mark.usefixtures("one_thread")


def answerer(find: Any = lambda rows: [MENTIONS[row] for row in rows]) -> KBQA:
    """With gold mentions, and random similarities, which differ for each text."""
    names = tuple(dict.fromkeys(one.relation for one in QUESTIONS))
    relations: Any = SimpleNamespace(similarities=lambda row: {
        name: Random(f"{row} {name}").random() * 2 - 1 for name in names})
    return KBQA(WORLD, relations, find)


def test_the_first_mention_of_the_most_likely_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all sequences of tags in which no I follows an O; [CLS], [SEP] and padding have no tag."""
    torch.manual_seed(0)
    monkeypatch.setattr(kbqa, "CHUNK", 3)
    logits = {row: torch.randn(len(row), 3) for row in ROWS + [(at, at + 1, at + 2) for at in range(100, 200, 3)]}
    begins = torch.tensor([[0.0, 5, 5]])
    model: Any = SimpleNamespace(eval=lambda: lambda batch: torch.stack([
        torch.cat([begins, logits[tuple(t for t in row.tolist() if t > VOCAB.end)], begins.repeat(9, 1)])
        [:batch.size[1]] for row in batch.tokens]))
    expected = list[Any]()
    for row in logits:
        legal = (tags for tags in product(range(3), repeat=len(row))
                 if not any(pair == (0, 2) for pair in zip((0, *tags), tags, strict=False)))
        best = max(legal, key=lambda tags: sum(logits[row][i, tag].item() for i, tag in enumerate(tags)))
        start = best.index(1) if 1 in best else None
        expected.append(None if start is None else (start, next(
            (i for i in range(start + 1, len(row)) if best[i] != 2), len(row))))
    assert Tagger(model)([*logits]) == expected
    assert None in expected and {end - start for start, end in filter(None, expected)} >= {1, 2, 3}


def test_the_labels_of_the_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    given = list[Any]()
    monkeypatch.setattr(kbqa, "fit_rows", lambda model, examples, *others, **options: given.extend(examples))
    kbqa.train_tagger(torch.nn.Linear(1, 1), QUESTIONS, 0, updates=1, lr=1.0)  # type: ignore[arg-type]
    for example, one in zip(given, QUESTIONS, strict=True):
        names = [kbqa.TAGS[tag] for tag in example.labels["tags"].tolist() if tag != IGNORE]
        assert names == ["B-name" if i == one.mention[0] else "I-name" if i in range(*one.mention) else "O"
                         for i in range(len(one.words))]


def test_the_longest_name() -> None:
    find = answerer(None).find
    assert find([*MENTIONS]) == [*MENTIONS.values()]
    texts = ["is Quinn the teacher of Mary Harlow ?", "Mary Harlow and Karl Harlow", "who is she ?"]
    assert find([tuple(ids(text.split())) for text in texts]) == [(5, 7), (0, 2), None]


def test_vectors_of_texts_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text by itself, without padding; [CLS] and [SEP] do not count."""
    monkeypatch.setattr(kbqa, "CHUNK", 3)
    model = BERT(BERTConfig(90, time=9, layers=2, model=12, heads=2, inner=12, dropout=0.5)).eval()
    for layer in range(3):
        alone = [[*model.all_hidden_states(Batch.of([cls_first(row, None, VOCAB)], pad=0))][layer] for row in ROWS]
        torch.testing.assert_close(MeanHidden(model, layer)(ROWS), torch.stack([x[0, 1:-1].mean(0) for x in alone]),
                                   rtol=1e-4, atol=1e-5)
    counts = word_counts([(40, 41, 40), (9,)])
    assert counts.shape == (2, len(world_tokenizer())) and counts.nonzero().tolist() == [[0, 40], [0, 41], [1, 9]]
    assert counts[0, 40] == 2


@pytest.mark.parametrize("statements", [{}, {"a": [(40, 42, 71, 83), (80, 81)], "b": [(9,)], "c": [(84,)]}])
def test_similarities_by_brute_force(statements: Any) -> None:
    """Both directions of a relation have the same statements."""
    questions: Any = {"~a": [ROWS[2], (40, 42)], "c": [ROWS[3]], "a": [ROWS[1]]}
    both = questions, {name: statements.get(name.strip("~"), []) for name in questions}
    kinds = [[row for some in kind.values() for row in some] for kind in both]
    means = [word_counts(kind or [(9,)]).mean(0) for kind in kinds]
    query = word_counts([(40, 42, 71)])[0] - means[0]
    for name, found in Relations(word_counts, questions, statements).similarities((40, 42, 71)).items():
        vectors = [word_counts([one])[0] - mean for kind, mean in zip(both, means, strict=True) for one in kind[name]]
        assert found == pytest.approx(max(float(torch.cosine_similarity(query, one, 0)) for one in vectors), abs=1e-5)


def test_linking_and_relation_are_the_most_similar_pair_with_a_fact() -> None:
    """Among all candidates and relations of the triples, in both directions; the answers are a set."""
    whole, cases, triples = answerer(), set(), WORLD.triples()
    for trace, one in zip(whole.traces(QUESTIONS), QUESTIONS, strict=True):
        candidates = [entity.key for entity in WORLD.facts.entities.values() if entity.named and one.name in [
            entity.words, *((word,) for word in entity.words if entity.kind == "person")]]
        scores = whole.relations.similarities(kbqa.masked(one.words, [one.mention]))
        pairs = {(key, name): {t.object for t in triples if (t.subject, t.relation) == (key, name)}
                 | {t.subject for t in triples if (t.object, f"~{t.relation}") == (key, name)}
                 for key in candidates for name in scores}
        facts = {pair: objects for pair, objects in pairs.items() if objects}
        assert (trace.entity, trace.relation) == (best := max(facts, key=lambda pair: scores[pair[1]]))
        assert [*trace.candidates] == candidates and {*trace.answers} == facts[best]
        assert [*trace.similarities.items()] == sorted(
            ((name, scores[name]) for key, name in facts if key == best[0]), key=lambda item: -item[1])
        cases |= {(len(candidates) > 1, trace.entity == one.entity), len(trace.answers) > 1}
    assert cases == {(False, True), (True, True), (True, False), False, True}


@pytest.mark.parametrize("gold, failed", [((), {NER}), ((NER,), {LINKING, RELATION, None}),
                                          ((NER, LINKING), {RELATION, None}), (STAGES[:3], {None})])
def test_gold_outputs_and_the_first_stage_that_fails(gold: tuple[str, ...], failed: set[str | None]) -> None:
    """Nothing is found in any question. The look-up never fails first."""
    traces = answerer(lambda rows: [None] * len(rows)).traces(QUESTIONS, gold)
    assert {trace.failed(one) for trace, one in zip(traces, QUESTIONS, strict=True)} == failed
    for trace, one in zip(traces, QUESTIONS, strict=True):
        equal = [trace.mention == one.mention, trace.entity == one.entity, trace.relation == one.relation]
        assert all(equal[:len(gold)]) and (trace.failed(one) is None) == (trace.answers == (one.answer,))
        assert trace.failed(one) in (None, *STAGES[:3]) and (trace.failed(one) is None or not equal[
            STAGES.index(str(trace.failed(one)))])


@pytest.mark.parametrize("question, message", [
    ("", "the question is empty"), (" \n\t", "the question is empty"), ("<img onerror=alert(1)>", "'<img', 'onerror="),
    ("where was [MASK] born ?", r"unknown words '\[MASK\]'"), ("玛丽 😀", "unknown words '玛丽', '😀'"),
    ("where is it ?", r"no name was found in 'where is it \?'; name an entity, such as")])
def test_questions_that_cannot_be_answered(question: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        answerer(None).answer(question)


def test_a_typed_question() -> None:
    found = answerer().answer(f" {' '.join(QUESTIONS[0].words[:-1])}?\n")
    assert found == answerer().traces(QUESTIONS[:1])[0] and found.entity == QUESTIONS[0].entity
    with pytest.raises(ValueError, match="'where' was found as the name, but the knowledge base has no entity of this"):
        answerer(lambda rows: [(0, 1)]).answer("where was Mary Harlow born ?")
