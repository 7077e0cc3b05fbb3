"""An objective that needs to know the words of a text, and one that hides what is named: pretrained, drawn by the Mask
Lab and refused, without a line elsewhere."""

from functools import partial
from pathlib import Path
from random import Random

import pytest
from little_run import SIZE, made_by, refusal

from plmlab import checkpoints, world
from plmlab.draws import shuffled
from plmlab.example import IGNORE, Example
from plmlab.labs import MaskLab
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.registry import MODELS, ModelType, Pretraining
from plmlab.objectives import OBJECTIVES, Objective, always_mask, masked
from plmlab.text import Text, Tokenizer, Vocabulary
from plmlab.text.text import Named, spans


def whole(tokens, *, vocab: Vocabulary, rng: Random, rate: float = 0.15, what: str = "words") -> Example:
    """As ``masked``, all pieces of a word are hidden or none is; words are drawn until ``rate`` of the positions
    are."""
    select: list[int] = []
    for start, end in shuffled(rng, spans(tokens, what, "whole-word masking")):
        if len(select) < rate * len(tokens):
            select += range(1 + start, 1 + end)
    return masked(tokens, vocab=vocab, rng=rng, select=select, corrupt=always_mask)


named = partial(whole, what="entities")


class WholeWordBERT(BERTPretraining):
    """BERT with whole words hidden."""


class NameBERT(BERTPretraining):
    """BERT with names hidden."""


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, kind, objective in (("whole", WholeWordBERT, whole), ("named", NameBERT, named)):
        how = Pretraining(name, objective, Tokenizer.wordpiece, added=2)
        monkeypatch.setitem(MODELS, name, ModelType(name, BERTConfig, kind, ENCODER, how))
        monkeypatch.setitem(OBJECTIVES, name, Objective(name, "whole words", "全词掩码", "a test", objective))


def hidden(example: Example) -> list[int]:
    """The tokens that are asked for, by their places in the text."""
    return [position - 1 for position in (example.targets != IGNORE).nonzero().flatten().tolist()]


def test_pieces_of_a_word_are_hidden_together(corpus: Path, tmp_path: Path) -> None:
    small = [*SIZE, "--vocab", "100", "--time", "20", "--steps", "2"]
    made_by("whole", "--corpus", str(corpus), *small, "--out", str(tmp_path / "made"))
    model, tokenizer = checkpoints.load(tmp_path / "made")
    assert type(model) is WholeWordBERT
    text = tokenizer.text("the bird hears the garden.")
    assert any(end - start > 1 for start, end in text.words)
    for seed in range(10):
        places = hidden(whole(text, vocab=tokenizer.vocab, rng=Random(seed)))
        assert places and all(len({place in places for place in range(*word)}) == 1 for word in text.words)


@pytest.mark.parametrize("name", ["whole", "named"])
def test_the_world_is_read_so_and_has_its_floor(name: str, small_as_full: world.World, tmp_path: Path, capsys) -> None:
    made_by(name, "--corpus", "world", *SIZE, "--time", "16", "--steps", "2", "--out", str(tmp_path / "made"))
    assert "its floor" in capsys.readouterr().out


def test_names_are_known_where_the_text_tells_them(tmp_path: Path, capsys, corpus: Path) -> None:
    assert "needs the entities of a text" in refusal(
        capsys, "named", "--corpus", str(corpus), *SIZE, "--steps", "2", "--out", str(tmp_path / "new"))
    paragraph = Named("the bird of Anna Bell hears the garden of Oakton", [(12, 21), (42, 48)])
    tokenizer = Tokenizer.wordpiece([paragraph] * 3, 80)
    text = tokenizer.text(paragraph)
    places = hidden(named(text, vocab=tokenizer.vocab, rng=Random(0), rate=1.0))
    assert [text[place] for place in places] == [token for start, end in paragraph.entities
                                                 for token in tokenizer.encode(paragraph[start:end])]


def test_the_mask_lab_draws_it_and_says_what_is_not_known() -> None:
    tokenizer = Tokenizer.wordpiece(["the bird hears the garden"] * 3, 70)
    lab = MaskLab(tokenizer, "the bird hears the garden", "whole")
    assert lab.message == "" and "mask" in lab.state["marks"]
    lab.objective = "named"
    assert "needs the entities of a text" in lab.message and lab.stale


@pytest.mark.parametrize("ids", [[50, 51], (50, 51), Text([50, 51])])
def test_ids_without_words_are_refused(ids) -> None:
    with pytest.raises(ValueError, match=r"whole-word masking needs the words of a text.*Tokenizer\.text"):
        whole(ids, vocab=Vocabulary(60), rng=Random(0))
