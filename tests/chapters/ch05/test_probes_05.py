"""The probes of layers: known answers are found, noise is not, and words never labelled are really that."""

from collections.abc import Iterator, Sequence
from statistics import fmean

import numpy as np
import pytest
import torch
from toy_size import changed

from plmlab.chapters.ch05.probes import READERS, above_cove, rows_by_layer, verdict
from plmlab.recipes import Parts, recorded
from plmlab.world import World
from plmlab.world.datasets.occurrences import other_patterns, other_sentences
from studies.ch05 import probes, sense_probes, tag_probes
from studies.ch05.pretrained import build
from studies.ch05.readers import of_elmo, reader


@pytest.fixture(scope="module")
def short() -> Iterator[None]:
    """Few sentences, so that a test takes a second."""
    few = {"KNOWN": 60, "DEVELOPMENT": 20, "ASKED": 60, "SEVERAL": 40, "STRENGTHS": (0.3, 3.0)}
    with changed(*((tag_probes, name, value) for name, value in few.items()), forget=[tag_probes.tagged]):
        yield


def shares(told: dict[str, tag_probes.Right]) -> dict[str, float]:
    return {test_set: tag_probes.share(one) for test_set, one in told.items()}


def test_vectors_that_tell_the_tag_are_read_and_noise_is_not(short: None) -> None:
    parts = tag_probes.tagged()
    names = sorted({tag for part in parts for tag in part.tags})
    telling = shares(tag_probes.read_tags([torch.eye(len(names))[[names.index(tag) for tag in part.tags]]
                                           for part in parts]))
    assert telling["all"] > 0.99 and telling["several"] > 0.99 and telling["unseen"] > 0.95
    rng = torch.Generator().manual_seed(0)
    noise = shares(tag_probes.read_tags([torch.randn(len(part.tags), 8, generator=rng) for part in parts]))
    usual = max(float((parts[2].tags == name).mean()) for name in names)
    assert noise["all"] < usual + 0.1 and noise["unseen"] < 0.5


def test_a_table_of_words_tells_nothing_of_words_that_were_never_labelled(short: None) -> None:
    """One number a word: the probe learns the table by heart, and of other words it can say the commonest tag."""
    parts = tag_probes.tagged()
    known = sorted({word for part in parts for word in part.words})
    one_hot = [torch.eye(len(known))[[known.index(word) for word in part.words]] for part in parts]
    told = shares(tag_probes.read_tags(one_hot))
    assert told["all"] > 0.7 and told["unseen"] < 0.5


def test_the_rule_counts_by_hand() -> None:
    words, tags = ["dog", "dogs", "runs", "The"], np.array(["NOUN", "NOUN", "VERB", "DET"])
    said = tag_probes.by_word_or_ending(words, tags, ["dog", "cogs", "suns", "Athe", "x"])
    assert said.tolist() == ["NOUN", "NOUN", "VERB", "DET", "NOUN"]


def test_forms_of_a_word_fall_to_one_part() -> None:
    for forms in (("bank", "banks"), ("teacher", "teachers"), ("borrow", "borrowed", "borrows")):
        assert len({tag_probes.fold(form) for form in forms}) == 1
    assert len({tag_probes.fold(word) for word in ("dog", "cat", "house", "river", "Anna", "red")}) > 1


def test_words_of_several_tags_are_no_parts_of_names() -> None:
    assert {"bear", "watch", "match"} <= tag_probes.several() and not {"in", "of", "from"} & tag_probes.several()


def test_what_is_asked_is_not_among_what_was_labelled(short: None, full: World) -> None:
    known, _, asked, others = tag_probes.tagged()
    kept = {one.words for one in known.sentences if one.pattern in full.open_patterns}
    for part in (asked, others):
        assert not kept & {one.words for one in part.sentences}
    assert all(tag_probes.several() & set(one.words) for one in others.sentences)


def test_an_unseen_word_counts_once_however_often_it_stands_there(short: None) -> None:
    asked = tag_probes.tagged()[2]
    words = [word for word, tag in zip(asked.words, asked.tags, strict=True) if tag in tag_probes.OPEN]
    told = tag_probes.guess_tags(tag_probes.by_word_or_ending)["unseen"]
    first = np.array([float(word == words[0]) for word in words])
    assert tag_probes.share(told._replace(right=first)) == pytest.approx(1 / len(set(words)))


def test_neighbours_tell_tags_that_the_word_alone_does_not(short: None) -> None:
    alone = shares(tag_probes.guess_tags(tag_probes.by_word_or_ending))
    beside = shares(tag_probes.examined(tag_probes.by_neighbours))
    assert beside["several"] > alone["several"] + 0.05 and beside["all"] > 0.8


def test_senses_are_found_where_vectors_tell_them_and_guessed_without() -> None:
    rows = sense_probes.all_rows()
    senses = sorted({row.sense for row in rows})
    told = sense_probes.read_senses(torch.eye(len(senses))[[senses.index(row.sense) for row in rows]])
    assert all(right.mean() == 1 for right in told.values())
    rng = torch.Generator().manual_seed(0)
    noise = sense_probes.read_senses(torch.randn(len(rows), 6, generator=rng))
    assert noise["15 labels"].mean() == pytest.approx(0.45, abs=0.1)
    assert {test_set: len(right) for test_set, right in told.items()} == {
        test_set: len(sense_probes.asked(test_set)) for test_set in sense_probes.EXAMS}


def test_one_vector_a_word_gives_its_most_frequent_sense() -> None:
    """All senses are equally near: nothing is read off rounding."""
    rows = sense_probes.all_rows()
    words = sorted({row.word for row in rows})
    told = sense_probes.read_senses(torch.eye(len(words))[[words.index(row.word) for row in rows]])
    assert told["15 labels"].mean() >= sense_probes.most_frequent()["15 labels"].mean() - 0.03


def test_the_nearest_mean_is_taken_by_hand() -> None:
    rows, others = other_sentences()
    pair = sorted({row.sense for row in rows if row.word == "bank"})
    some = [next(row for row in rows if row.sense == sense) for sense in pair]
    asked = [next(row for row in others if row.sense == sense) for sense in pair]
    known = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    assert sense_probes.nearest(known, some, known.flip(0), asked).tolist() == [0, 0]
    assert sense_probes.nearest(known, some, 5 * known, asked).tolist() == [1, 1]


def test_the_rules_without_a_network_are_told_for_every_exam() -> None:
    told = sense_probes.without_a_network()
    assert told["bag of words"]["15 labels"].mean() > 0.99 > 0.7 > told["most frequent"]["15 labels"].mean()
    assert all(set(exams) == set(sense_probes.EXAMS) for exams in told.values())
    assert len(told["most frequent"]["other patterns"]) == sum(len(part) for _, part in other_patterns())


@torch.no_grad()
def test_readers_give_a_row_a_word_of_the_sentence_itself() -> None:
    sentences = [["the", "bank", "closed", "."], ["a", "bank", "."]]
    model = build("characters", 0).eval()
    own, first, second = of_elmo(model)(sentences)
    assert own.shape == (7, 96) and first.shape == second.shape == (7, 192)
    torch.testing.assert_close(own[1], own[5])
    torch.testing.assert_close(second[5], model.layers(sentences)[2][1, 2])
    layers = reader("BERT", "", 0)(sentences)
    assert len(layers) == 4 and all(len(layer) == 7 for layer in layers)
    assert torch.equal(reader("word vectors", "", 0)(sentences)[0][1], reader("word vectors", "", 0)(sentences)[0][5])


def test_views_are_layers_and_a_mean_of_equal_weights() -> None:
    rng = torch.Generator().manual_seed(0)
    layers = [torch.randn(50, 4, generator=rng), 100 * torch.randn(50, 8, generator=rng),
              torch.randn(50, 8, generator=rng)]
    told = probes.views(layers, "biLM")
    assert set(told) == {"0", "1", "2", "mean"} and torch.equal(told["1"], layers[1])
    assert abs(float(torch.corrcoef(torch.stack([told["mean"].flatten(), layers[1].flatten()]))[0, 1]) - 0.58) < 0.1
    assert set(probes.views(layers[:1], "word vectors")) == {"0"}


def test_a_difference_has_the_error_of_its_patterns() -> None:
    rows = other_sentences()[1]
    upper, lower = np.ones(len(rows)), np.zeros(len(rows))
    assert probes.told_of(upper - lower, rows) == {"share": 1.0, "error": 0.0}
    half = np.array([row.pattern < "m" for row in rows], dtype=float)
    told = probes.told_of(half - lower, rows)
    assert told["share"] == pytest.approx(fmean(half)) and 0.03 < told["error"] < 0.15


@pytest.mark.parametrize(("values", "error", "said"), [
    ((0.05, 0.04, 0.06), 0.01, "supported"), ((0.05, 0.04, 0.06), 0.04, "inconclusive"),
    ((0.05, -0.01, 0.06), 0.01, "inconclusive"), ((-0.05, -0.04, -0.06), 0.01, "not supported")])
def test_a_rule_holds_fails_or_stays_open(values: tuple[float, ...], error: float, said: str) -> None:
    told = {"values": list(values), "mean": fmean(values), "error": error}
    opposite = {**told, "values": [-value for value in values], "mean": -fmean(values)}
    readers = {"biLM": {"2 − 1": {"senses": {"15 labels": told}, "tags": {"all": opposite}}}}
    assert verdict(readers, "senses") == said and verdict(readers, "tags") == said


def test_above_cove_asks_for_every_seed_and_both_exams() -> None:
    def layers(tags: float, senses: float) -> dict:
        told = {"tags": {"all": {"values": [tags] * 2}}, "senses": {"15 labels": {"values": [senses] * 2}}}
        return dict.fromkeys("12", told)

    assert above_cove({"biLM of words": layers(0.9, 0.8), "CoVe": layers(0.8, 0.7)})
    assert not above_cove({"biLM of words": layers(0.9, 0.6), "CoVe": layers(0.8, 0.7)})


def test_rows_name_the_layer_and_give_the_range_of_several_seeds() -> None:
    def point(*values: float) -> dict:
        return {"mean": fmean(values), "low": min(values), "high": max(values), "values": list(values)}
    told = {"rules": {"tags": {"by word or ending": {"all": {"share": 0.937}}}},
            "readers": {name: {layer: {"tags": {"all": point(0.5, 0.7) if name == "biLM" else point(0.81)}}
                               for layer in (*layers, "mean")} for name, (_, layers) in READERS.items()}}
    rows = rows_by_layer(told, "tags", ["all"])
    assert rows["no network: most frequent tag of the word or ending"] == ["94"]
    assert rows["ELMo, layer 2"] == ["60 (50–70)"]
    assert rows["ELMo, mean of the layers"] == ["60 (50–70)"] and rows["bert-world, layer 3"] == ["81"]
    assert len(rows) == 2 + sum(len(layers) for _, layers in READERS.values())


def by_last_letter(sentences: Sequence[Sequence[str]]) -> list[torch.Tensor]:
    letters = torch.tensor([ord(word[-1]) % 8 for words in sentences for word in words])
    return [torch.eye(8)[letters], torch.eye(8)[letters].repeat(1, 2), torch.eye(8)[letters].roll(1, 0).repeat(1, 2)]


def test_probes_tell_what_is_recorded(short: None, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("reader", lambda name, folder, seed: by_last_letter), ("READERS", ("biLM",)), ("SEEDS", (0,)),
                        ("read_before", lambda seed: 0.5)):
        monkeypatch.setattr(probes, name, value)
    told, known = probes.measure(parts), recorded("05")["numbers"]["probes"]
    assert set(told) == set(known) and set(told["asked"]) == set(known["asked"])
    found = told["readers"]["biLM"]
    assert {view: set(exams["tags"]) for view, exams in found.items()} == {
        view: set(exams["tags"]) for view, exams in known["readers"]["biLM"].items()}
    for what, test_set in (("tags", "all"), ("senses", "15 labels")):
        one, two = (found[layer][what][test_set]["mean"] for layer in "12")
        assert found["2 − 1"][what][test_set]["mean"] == pytest.approx(two - one)
        assert set(told["rules"][what]) == set(known["rules"][what])
