"""An index that was put away and fetched again is the same one, or is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import plmlab.atomic as folders
from plmlab.retrieval import DocumentIndex, FlatIndex, HNSWIndex, IVFIndex, StaleIndex, load_index, save_index

MAKE: list[Callable[[int], DocumentIndex]] = [FlatIndex, lambda width: IVFIndex(width, probes=3),
                                              lambda width: HNSWIndex(width, links=8, breadth=20)]
NAMES = ["flat", "ivf", "hnsw"]


def some_index(make: Callable[[int], DocumentIndex] = FlatIndex, count: int = 300) -> DocumentIndex:
    draw = torch.Generator().manual_seed(0)
    index = make(8)
    index.add([f"text {i} 银行 \ud83e" for i in range(count)], torch.randn(count, 8, generator=draw))
    index.remove([*range(0, count, 11)])
    index.replace([5], ["another text"], torch.randn(1, 8, generator=draw))
    return index


@pytest.mark.parametrize("make", MAKE, ids=NAMES)
def test_it_goes_on_as_if_it_had_never_been_away(make: Callable[[int], DocumentIndex], tmp_path: Path) -> None:
    index = some_index(make)
    save_index(tmp_path / "index", index, encoder="one")
    other = load_index(tmp_path / "index", index.texts, encoder="one")
    assert type(other) is type(index) and other.settings == index.settings and repr(other) == repr(index)
    assert other.texts == index.texts and {path.name for path in tmp_path.iterdir()} == {"index"}
    queries = torch.randn(5, 8, generator=torch.Generator().manual_seed(2))
    for changed in (False, True):
        if changed:
            for one in (index, other):
                assert one.add(["more", "and more"], torch.ones(2, 8)) == [300, 301]
                one.remove([1, 2, 300])
                one.replace([5], ["a third"], torch.ones(1, 8))
        mine, theirs = index.search(queries, 9), other.search(queries, 9)
        assert torch.equal(mine.numbers, theirs.numbers) and torch.equal(mine.scores, theirs.scores)
        assert torch.equal(index.vectors([*index.texts]), other.vectors([*index.texts]))


@pytest.mark.parametrize("make", MAKE, ids=NAMES)
def test_an_index_without_a_document(make: Callable[[int], DocumentIndex], tmp_path: Path) -> None:
    save_index(tmp_path / "index", make(8), encoder="one")
    index = load_index(tmp_path / "index", {}, encoder="one")
    assert index.add(["one"], torch.ones(1, 8)) == [0]
    assert index.search(torch.ones(1, 8), 2).numbers.tolist() == [[0, -1]]


def test_it_takes_the_place_of_an_older_one_whole_or_not_at_all(tmp_path: Path,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    index = some_index()
    save_index(tmp_path / "index", index, encoder="one")
    index.remove([1])

    def full(path: Path, data: bytes) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("plmlab.retrieval.stored_index.write", full)
        with pytest.raises(OSError, match="no space left"):
            save_index(tmp_path / "index", index, encoder="one")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert 1 in load_index(tmp_path / "index", some_index().texts, encoder="one").texts
    save_index(tmp_path / "index", index, encoder="one")
    assert 1 not in load_index(tmp_path / "index", index.texts, encoder="one").texts
    assert not folders.draft_of(tmp_path / "index").exists()


def test_other_texts_and_another_encoder_are_told(tmp_path: Path) -> None:
    index = some_index()
    save_index(tmp_path / "index", index, encoder="one")
    texts = dict(index.texts)
    texts[3], texts[4] = "changed", texts[4] + " "
    del texts[7]
    with pytest.raises(StaleIndex, match="272 documents, and 271 texts were given: 2 differ, 1 missing, 0 new"):
        load_index(tmp_path / "index", texts, encoder="one")
    with pytest.raises(StaleIndex, match="0 differ, 0 missing, 3 new"):
        load_index(tmp_path / "index", {**index.texts, 0: "zero", 900: "far", -1: "none"}, encoder="one")
    with pytest.raises(StaleIndex, match="0 differ, 272 missing, 0 new"):
        load_index(tmp_path / "index", {}, encoder="one")
    with pytest.raises(StaleIndex, match="made by another encoder"):
        load_index(tmp_path / "index", index.texts, encoder="two")
    assert len(load_index(tmp_path / "index", dict(sorted(index.texts.items(), reverse=True)), encoder="one")) == 272


@pytest.mark.parametrize("name", ["index.json", "vectors.faiss", "documents.safetensors"])
def test_a_file_that_is_missing_or_cut_short(name: str, tmp_path: Path) -> None:
    index = some_index()
    save_index(tmp_path / "index", index, encoder="one")
    file = tmp_path / "index" / name
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(ValueError, match=r"is not JSON|truncated since it was saved"):
        load_index(tmp_path / "index", index.texts, encoder="one")
    file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n")
    with pytest.raises(ValueError, match=f"{name} is a git LFS pointer"):
        load_index(tmp_path / "index", index.texts, encoder="one")
    file.unlink()
    with pytest.raises(ValueError, match=f"holds no index: it lacks {name}"):
        load_index(tmp_path / "index", index.texts, encoder="one")


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"lacks index\.json, vectors\.faiss, documents\.safetensors"):
        load_index(tmp_path / "nothing", {}, encoder="one")
    save_index(tmp_path / "index", some_index(), encoder="one")
    file = tmp_path / "index" / "index.json"
    told = json.loads(file.read_text())
    for content, complaint in (([1], "not written by plmlab"), ({"kind": "flat"}, "not written by plmlab"),
                               (told | {"format": 9}, "in format 9"), (told | {"kind": "tree"}, "of kind 'tree'")):
        file.write_text(json.dumps(content))
        with pytest.raises(ValueError, match=complaint):
            load_index(tmp_path / "index", some_index().texts, encoder="one")


def test_the_index_keeps_no_text(tmp_path: Path) -> None:
    save_index(tmp_path / "index", some_index(), encoder="one")
    assert not any(b"another text" in file.read_bytes() for file in (tmp_path / "index").iterdir())
