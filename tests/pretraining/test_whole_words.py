"""Objectives that need the words or the entities of a text: pretrained, drawn by the Mask Lab, and refused where a text
does not know them."""

from pathlib import Path
from random import Random

import pytest
from little_run import SIZE, made_by, refusal

from plmlab import checkpoints, world
from plmlab.example import IGNORE, Example
from plmlab.labs import MaskLab
from plmlab.models.bert_wwm import WholeWordBERTPretraining
from plmlab.objectives import entities_masked, whole_words
from plmlab.objectives.entities_masked import knowledge_units
from plmlab.text import Tokenizer
from plmlab.text.text import Named


def hidden(example: Example) -> list[int]:
    """The tokens that are asked for, by their places in the text."""
    return [position - 1 for position in (example.targets != IGNORE).nonzero().flatten().tolist()]


def test_pieces_of_a_word_are_hidden_together(corpus: Path, tmp_path: Path) -> None:
    small = [*SIZE, "--vocab", "100", "--time", "20", "--steps", "2"]
    made_by("bert-wwm", "--corpus", str(corpus), *small, "--out", str(tmp_path / "made"))
    model, tokenizer = checkpoints.load(tmp_path / "made")
    assert type(model) is WholeWordBERTPretraining
    text = tokenizer.text("the bird hears the garden.")
    assert any(end - start > 1 for start, end in text.words)
    for seed in range(10):
        places = hidden(whole_words(text, vocab=tokenizer.vocab, rng=Random(seed)))
        assert places and all(len({place in places for place in range(*word)}) == 1 for word in text.words)


@pytest.mark.parametrize("name", ["bert-wwm", "ernie", "nezha"])
def test_the_world_is_read_so_and_has_its_floor(name: str, small_as_full: world.World, tmp_path: Path, capsys) -> None:
    made_by(name, "--corpus", "world", *SIZE, "--time", "16", "--steps", "2", "--out", str(tmp_path / "made"))
    assert "its floor" in capsys.readouterr().out


def test_spans_are_read_from_the_world_and_their_loss_has_no_floor(small_as_full: world.World, tmp_path: Path,
                                                                   capsys) -> None:
    made_by("spanbert", "--corpus", "world", *SIZE, "--time", "16", "--steps", "2", "--out", str(tmp_path / "made"))
    assert "its floor" not in capsys.readouterr().out


def test_names_are_known_where_the_text_tells_them(tmp_path: Path, capsys, corpus: Path) -> None:
    assert "needs the entities of a text" in refusal(
        capsys, "ernie", "--corpus", str(corpus), *SIZE, "--steps", "2", "--out", str(tmp_path / "new"))
    paragraph = Named("the bird of Anna Bell hears the garden of Oakton", [(12, 21), (42, 48)])
    tokenizer = Tokenizer.wordpiece([paragraph] * 3, 80)
    text = tokenizer.text(paragraph)
    names = [knowledge_units(text).index(entity) for entity in text.entities]
    places = hidden(entities_masked(text, vocab=tokenizer.vocab, rng=Random(0), select=names))
    assert [text[place] for place in places] == [token for start, end in paragraph.entities
                                                 for token in tokenizer.encode(paragraph[start:end])]


def test_the_mask_lab_draws_it_and_says_what_is_not_known() -> None:
    tokenizer = Tokenizer.wordpiece(["the bird hears the garden"] * 3, 70)
    lab = MaskLab(tokenizer, "the bird hears the garden", "whole_words")
    assert lab.message == "" and "mask" in lab.state["marks"]
    lab.objective = "entities_masked"
    assert "needs the entities of a text" in lab.message and lab.stale
