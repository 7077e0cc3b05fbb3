"""The language of the course: no file breaks more rules than it did, and a chapter uses the terms of its subject."""

import json
from pathlib import Path

import language
import pytest

NOW = language.now()
STORED = json.loads(language.COUNTS.read_text(encoding="utf-8"))


def test_no_file_breaks_more_rules_than_it_did() -> None:
    stored = STORED["sentences"]
    more = {name: levels for name, levels in NOW["sentences"].items()
            if any(levels[level] > stored.get(name, {}).get(level, 0) for level in "ET")}
    assert more == {}, "python tests/language.py FILE names the sentences and what to write instead"


def test_a_chapter_uses_the_terms_of_its_subject() -> None:
    lost = {chapter: sorted({*terms} - {*STORED["missing terms"][chapter]})
            for chapter, terms in NOW["missing terms"].items()}
    assert not any(lost.values()), lost


def test_what_was_gained_is_kept() -> None:
    if any(levels[level] > STORED["sentences"].get(name, {}).get(level, 0)
           for name, levels in NOW["sentences"].items() for level in "ET"):
        pytest.skip("a file breaks more rules than it did")
    assert NOW == STORED, "fewer faults than are stored: run python tests/language.py --update, and commit the file"


@pytest.mark.parametrize("kind", ["screen", "docstrings", "page"])
def test_what_is_always_wrong_is_in_no_screen_docstring_or_page(kind: str) -> None:
    assert {name: levels for name, levels in NOW["sentences"].items() if name.startswith(kind) and levels["E"]} == {}


@pytest.mark.parametrize("key", language.RULES)
def test_each_rule_refuses_its_example(key: str) -> None:
    _, advice, example = language.RULES[key]
    assert key in language.broken(example) and advice


@pytest.mark.parametrize("sentence", [
    "The model predicts the next token; its loss is 0.42 nats per word, 0.02 nats above the floor.",
    "Each position attends to all positions before it, because the mask is causal.",
    "Raises ValueError if the batch has no targets.", "The test set has 300 sentences, all of whose words are known.",
    "We fine-tune BERT on 64 labels with three seeds; accuracy on the test set is 99 % for every seed.",
    "Here `slot` and $slot$ are code and a formula.", "A slot machine is a machine. <!-- lang: ok -->",
])
def test_plain_sentences_break_no_rule(sentence: str) -> None:
    assert [key for one in language.sentences(sentence) for key in language.broken(one)] == []


def test_what_is_read_of_each_kind_of_text(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text('"""A slot."""\nX = 1\n"""An exam."""\nprint("a rival", f"no {X} by heart")\n', encoding="utf-8")
    assert [*language.docstrings(file)] == ["A slot.", "An exam."]
    assert sorted(language.strings(file)) == ["a rival", "no X by heart"]
    script = tmp_path / "one.js"
    script.write_text('// a slot\nconst a = "the " +\n  "exam"; f(`rival ${b ? `by ${c} heart` : "a push"}`);\n',
                      encoding="utf-8")
    assert [text for text in language.script_strings(script) if text] == [
        "the exam", "rival X", "by X heart", "a push"]
