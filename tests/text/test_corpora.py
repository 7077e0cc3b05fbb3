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
    ("a.txt", b"cafe one\n" + "caf\u00e9".encode("cp1252"), r"byte 12 \(line 2\) is 0xe9.*as cp1252 'caf\u00e9'"),
    ("a.txt", "\ufeffone\n".encode() + b"\xff", r"byte 7 \(line 2\) is 0xff"),
    ("a.txt", "one".encode("utf-16"), "is UTF-16, not UTF-8.*encoding='utf-16'"),
    ("a.txt", "one".encode("utf-32"), "is UTF-32, not UTF-8"),
    ("a.txt", b"\xff\xfeone", "is UTF-16, not UTF-8.*damaged"),
    ("a.txt", "one".encode("utf-16-le"), "zero byte at byte 1, line 1.*'utf-16-le'"),
    ("a.txt", "one".encode("utf-16-be"), "zero byte at byte 0, line 1.*'utf-16-be'"),
    ("a.txt", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n", "a git LFS pointer.*git lfs pull"),
    ("a.jsonl", '{"text": "a"}\n{"text": "b"', r"line 2 is not JSON .*'\{\"text\": \"b\"'"),
    ("a.jsonl", '{"text": "a"}\n["b"]', "line 2 is a JSON list, not an object"),
    ("a.jsonl", '{"body": "a", "id": 3}', r"line 1 has no field 'text'; it has body, id.*field="),
    ("a.jsonl", json.dumps({f"field {i}": 0 for i in range(9999)}), r"it has field 0, field 1.{,300}$"),
    ("a.jsonl", json.dumps({"text": [*range(9999)]}), r"is not text but \[0, 1.{,60}$"),
    ("a.jsonl", '{"text": 3}', "field 'text' is not text but 3"),
    ("a.jsonl", "[" * 100_000, "line 1 is not JSON"),
    ("a.pdf", "%PDF", r"\.pdf is not supported; give plain text"),
    ("a", "one", "without extension is not supported"),
])
def test_what_is_wrong_with_a_file_is_said(tmp_path, name, content, says):
    with pytest.raises(CorpusError, match=says):
        read_texts(put(tmp_path / name, content))


SOUND = "Gr\u00fc\u00dfe.\n\n"
RUSSIAN, CHINESE = "\u043f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440\n", "\u4e2d\u6587\n"


@pytest.mark.parametrize("content, says", [
    ((SOUND + "reson").encode() + b"\xd0\n", r"byte 15 \(line 3\) is 0xd0\. The characters before it are valid UTF-8"),
    ((SOUND + "\u6865").encode()[:-1], r"byte 10 \(line 3\) is 0xe6\. The characters before it are valid UTF-8.*cut"),
    ("\ufeffone\n".encode() + b"\xd0\n", "The characters before it are valid UTF-8"),
    (b"one\0", "zero byte at byte 3, line 1. If it is a text file, remove that byte in a copy$"),
    (b"one two\n\0", "zero byte at byte 8, line 2. If"),
    (CHINESE.encode("gb18030") + b"\xff\n\x81\n\x98\n", r"is 0x\w\w\. The byte is damaged, or the file is not text"),
])
def test_a_file_that_is_damaged_is_not_said_to_be_in_another_encoding(tmp_path, content, says):
    file = put(tmp_path / "a.txt", content)
    with pytest.raises(CorpusError, match=says) as error:
        read_texts(file)
    assert "open(" not in str(error.value) and "cp1252" not in str(error.value) and "utf-16" not in str(error.value)


@pytest.mark.parametrize("encoding, text, shown", [
    ("utf-16", "caf\u00e9", None), ("utf-16-le", "caf\u00e9\n" * 999, None),
    ("utf-16-be", "caf\u00e9 \u201cx\u201d", None),
    ("cp1252", "un caf\u00e9 noir\n", "un caf\u00e9 noir"), ("cp1251", "one\n\n" + RUSSIAN, RUSSIAN),
    ("gb18030", "one\n\n" + CHINESE, CHINESE),
])
def test_the_advice_for_another_encoding_makes_a_copy_and_leaves_every_file_as_it_is(tmp_path, encoding, text, shown):
    file = put(tmp_path / "a.txt", text.encode(encoding))
    with pytest.raises(CorpusError) as error:
        read_texts(file)
    told, command = str(error.value).split("write a copy in UTF-8: ")
    assert shown is None or f"as {encoding} {shown.strip()!r}" in told
    command = command.replace("ENCODING", repr(encoding))
    exec(command)
    copy = tmp_path / "a.utf-8.txt"
    assert copy.read_text("utf-8") == text and file.read_bytes() == text.encode(encoding)
    copy.write_text("mine")
    with pytest.raises(FileExistsError):
        exec(command)
    assert copy.read_text() == "mine"


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
