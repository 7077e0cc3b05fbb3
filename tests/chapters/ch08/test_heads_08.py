"""Chapter 08's relations lead where the grammar says, and the follower of each stands beside rules that are right."""

from collections.abc import Iterator
from functools import cache

import pytest
import torch
from toy_size import changed

from plmlab.chapters.ch08 import heads, presets
from plmlab.interpret import intervene
from plmlab.models.bert import BERT, BERTConfig
from plmlab.world import World
from plmlab.world.datasets.tokenizer import ids, world_tokenizer


@pytest.fixture(scope="module", autouse=True)
def few_texts() -> Iterator[None]:
    with changed((heads, "SENTENCES", 250), (heads, "COUPLES", 100), forget=[heads.relations]):
        yield


@pytest.fixture(scope="module")
def bert() -> BERT:
    torch.manual_seed(0)
    return BERT(BERTConfig(len(world_tokenizer()), time=64, layers=2, model=24, heads=3, inner=48)).eval()


def words(texts, row: int, start: int, end: int) -> list[str]:
    return world_tokenizer().tokens(texts.tokens[row, start:end].tolist())


def test_the_links_lead_where_their_names_say(full: World) -> None:
    relations = {relation.name: relation for relation in heads.relations()}
    assert len(relations) == 5
    subjects, verbs = {"NOUN"}, {"VERB", "AUX"}

    @cache
    def tags(said: tuple[str, ...]) -> tuple[str, ...]:
        return full.parse(said, "test").tags

    for name, source, goal in (("subject → its verb", subjects, verbs), ("verb → its subject", verbs, subjects)):
        _, texts, links = relations[name]
        assert len(links) > 200
        for link in links:
            told = tags(tuple(word for word in words(texts, link.row, 1, 64) if not word.startswith("[")))
            assert told[link.source - 1] in source and told[link.start - 1] in goal and link.end == link.start + 1
    _, texts, links = relations["name in B → the same name in A"]
    for link in links:
        named = words(texts, link.row, link.start, link.end)
        assert words(texts, link.row, link.source, link.source + 1)[0] and named
        assert texts.segments[link.row, link.source] == 1
        assert not texts.segments[link.row, link.start:link.end].any()
    for name, step in (("the previous word", -1), ("the next word", 1)):
        _, texts, links = relations[name]
        assert {link.start - link.source for link in links} == {step}
        for link in links:
            assert not {link.source, link.start} & {position for position,
                                                    token in enumerate(texts.tokens[link.row].tolist())
                                                    if token in heads.special()}


def test_a_fixed_offset_is_the_best_rule_of_neighbours_and_only_of_these(bert: BERT) -> None:
    before, behind, subject = heads.relations()[:3]
    assert (heads.best_head(bert, before).offset, heads.best_head(bert, behind).offset) == (-1, 1)
    assert heads.best_head(bert, before).best_baseline == heads.best_head(bert, behind).by_offset == 1
    assert heads.best_head(bert, subject).by_offset < 0.9


def test_an_untrained_head_follows_no_grammar(bert: BERT) -> None:
    best = heads.best_head(bert, heads.relations()[2])
    assert best.score < best.best_baseline + 0.2 and 0 <= best.at_source <= 1
    assert best.heads.shape == (2, 3) and best.score == pytest.approx(best.heads[best.layer, best.head].item())


def test_of_a_head_that_works_from_one_position_whoever_stands_there_finds_the_goal(bert: BERT) -> None:
    subject = heads.relations()[2]
    goal = {link.row: link.start for link in subject.links}
    ends = [tokens.index(world_tokenizer().vocab.need("sep")) - 1 for tokens in subject.texts.tokens.tolist()]

    def from_position_2(weights: torch.Tensor) -> torch.Tensor:
        to = torch.zeros_like(weights)
        to[torch.arange(len(to)), :, :, ends] = 0.5
        for row, start in goal.items():
            to[row, :, 2, start] = 1
        return to

    with intervene(bert, {"layers.1.attention.weights": from_position_2}):
        best = heads.best_head(bert, subject)
    assert (best.layer, best.source) == (1, 2) and best.score > 0.8 and best.others < 0.2
    assert best.at_source > 0.8 and best.best_baseline == best.at_source


def test_a_row_has_the_head_and_its_baselines(bert: BERT) -> None:
    relation = heads.relations()[0]
    best = heads.best_head(bert, relation)
    links, head, score, others, _, offset, position = best.row()
    assert (links, head, score, others) == (len(relation.links), f"{best.layer}.{best.head}", best.score, best.others)
    assert offset == "1.00 (-1)" and position == f"{best.by_position:.2f} ({best.position})"
    assert list(heads.best_heads(bert)) == [relation.name for relation in heads.relations()]


def test_the_presets_name_words_of_their_sentences(bert: BERT) -> None:
    best = heads.best_head(bert, heads.relations()[2])
    for preset in presets.position_head(best):
        assert {preset.query, preset.key} <= {*preset.text.split()}
        assert (preset.layer, preset.head) == (best.layer, best.head)
        assert world_tokenizer().vocab.need("unk") not in ids(preset.text.split())
