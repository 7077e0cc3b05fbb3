"""A reader's own files: what is read, and what is said of a file that cannot be."""

import json
import os
import sys
from types import SimpleNamespace

import pytest

from plmlab.text import CorpusError, each, hub, read_texts


def put(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_text_is_paragraphs_set_apart_by_blank_lines(tmp_path):
    file = put(tmp_path / "a.txt", "\n\none\ntwo\r\n \r\n\tthree\n\n\nfour 桥😀")
    assert read_texts(file) == read_texts(str(file)) == ["one\ntwo", "\tthree", "four 桥😀"]


def test_a_jsonl_is_one_field_of_each_object(tmp_path):
    rows = [{"text": "one\n\ntwo", "say": "a"}, {"text": " ", "say": "b"}, {"text": "桥", "say": "c"}]
    file = put(tmp_path / "a.JSONL", "\n\n".join(json.dumps(row) for row in rows) + "\n")
    assert read_texts(file) == ["one\n\ntwo", "桥"]
    assert read_texts(file, field="say") == ["a", "b", "c"]


def test_a_utf8_mark_is_no_part_of_the_text(tmp_path):
    assert read_texts(put(tmp_path / "a.txt", "\ufeffone")) == ["one"]
    assert read_texts(put(tmp_path / "a.jsonl", '\ufeff{"text": "one"}')) == ["one"]


def test_a_file_is_read_as_it_is_asked_for(tmp_path):
    file = put(tmp_path / "a.jsonl", '{"text": "one"}\nbroken')
    texts = each(file)
    assert next(texts) == "one"
    with pytest.raises(CorpusError, match="line 2 is not JSON"):
        next(texts)


@pytest.mark.parametrize("name, content, says", [
    ("a.txt", "", "is empty"),
    ("a.txt", " \n\n\t\n", "is empty"),
    ("a.jsonl", "\n", "is empty"),
    ("a.jsonl", '{"text": ""}', "is empty"),
    ("a.txt", "caf\u00e9 one\n".encode() + "caf\u00e9".encode("cp1252"), r"byte 13 \(line 2\) is 0xe9.*cp1252"),
    ("a.txt", "\ufeffone\n".encode() + b"\xff", r"byte 7 \(line 2\) is 0xff"),
    ("a.txt", "one".encode("utf-16"), r"is UTF-16, not UTF-8.*read_text\('utf-16'\)"),
    ("a.txt", "one".encode("utf-32"), "is UTF-32, not UTF-8"),
    ("a.txt", "one".encode("utf-16-le"), "zero byte at byte 1"),
    ("a.jsonl", '{"text": "a"}\n{"text": "b"', r"line 2 is not JSON .*'\{\"text\": \"b\"'"),
    ("a.jsonl", '{"text": "a"}\n["b"]', "line 2 is a JSON list, not an object"),
    ("a.jsonl", '{"body": "a", "id": 3}', r"line 1 has no field 'text'; it has body, id.*field="),
    ("a.jsonl", '{"text": 3}', "field 'text' is not text but 3"),
    ("a.jsonl", "[" * 100_000, "line 1 is not JSON"),
    ("a.pdf", "%PDF", r"a \.pdf is not read; give plain text"),
    ("a", "one", "without ending is not read"),
])
def test_what_is_wrong_with_a_file_is_said(tmp_path, name, content, says):
    with pytest.raises(CorpusError, match=says):
        read_texts(put(tmp_path / name, content))


def test_the_advice_for_another_encoding_works(tmp_path):
    file = put(tmp_path / "a.txt", "caf\u00e9".encode("utf-16"))
    with pytest.raises(CorpusError) as error:
        read_texts(file)
    exec(str(error.value).split("or: ")[1])
    assert read_texts(file) == ["caf\u00e9"]


def test_a_folder_and_a_missing_file_are_told_apart(tmp_path):
    with pytest.raises(CorpusError, match=r"is a folder; give one file"):
        each(tmp_path)
    with pytest.raises(CorpusError, match="there is no file"):
        each(tmp_path / "none.txt")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(tmp_path):
    file = put(tmp_path / "a.txt", "one")
    file.chmod(0)
    with pytest.raises(CorpusError, match="cannot be opened"):
        read_texts(file)


def stand_in(monkeypatch, load):
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load))


def test_a_hub_data_set_is_one_column_of_it(monkeypatch):
    class Table(dict):
        column_names = ("body", "id")

    def load(name, config, split):
        assert (name, config, split) == ("someone/set", "small", "test")
        return Table(body=["a", "b"], id=[1, 2])

    stand_in(monkeypatch, load)
    assert hub("someone/set", "test", "body", config="small") == ["a", "b"]
    with pytest.raises(CorpusError, match="no column 'text'; it has body, id"):
        hub("someone/set", "test", config="small")


def test_a_data_set_on_this_machine_is_read_by_the_real_library(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    (tmp_path / "set").mkdir()
    put(tmp_path / "set" / "train.jsonl", '{"text": "one"}\n{"text": "two"}\n')
    assert list(hub(str(tmp_path / "set"))) == ["one", "two"]


def test_without_network_or_package_it_says_what_to_do(monkeypatch):
    def offline(name, config, split):
        raise ConnectionError("no route")

    stand_in(monkeypatch, offline)
    with pytest.raises(CorpusError, match=r"'someone/set'.*ConnectionError: no route.*you are online"):
        hub("someone/set")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(CorpusError, match=r'pip install "plmlab\[hub\]"'):
        hub("someone/set")
