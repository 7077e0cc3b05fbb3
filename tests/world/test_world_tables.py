"""An edited table with a gap, a duplicate, an unknown reference or an ambiguity: which file, which rows."""

import re

import pytest

from plmlab.world import World
from plmlab.world.tables import TableError, read_table

BROKEN = [
    # file, the new row (or what replaces what), what the error says
    ("nouns.tsv", "spade\t*\ttool\t\t把", None, r"'chinese' is empty \(nouns.tsv, row \d+\)"),
    ("nouns.tsv", "key\t*\tthing\t钥匙\t把", None,
     r"'key.noun' occurs twice.*\(nouns.tsv, row \d+; nouns.tsv, row \d+\)"),
    ("nouns.tsv", "a\tb\tc\td\te\tf\tg", None, r"7 cells, but the header names 6 columns \(nouns.tsv, row \d+\)"),
    ("people.tsv", "Anna\twoman\t安娜二", None,
     r"'Anna' occurs twice \(people.tsv, row \d+; people.tsv, row \d+\)"),
    ("people.tsv", "Hannah\twoman\t安娜", None, r"'安娜 woman' occurs twice \(people.tsv"),
    ("relations.tsv", "rules\tperson\tplanet\tone\tno\truler\t统治者", None,
     r"unknown kind 'planet'.*relations.tsv, row \d+"),
    ("relations.tsv", "born_in\tperson\ttown\tone\tno\tbirth\t出生", None, r"'born_in' occurs twice"),
    ("relations.tsv", "taller_than\tperson\tperson\tmany\tno\ttaller\t高\theight <", None,
     r"compares 'height'"),
    ("pattern_facts.tsv", "x.1\t1\tthe {n:spaceship} waits .\t{n} 。", None,
     r"unknown class 'spaceship'.*pattern_facts.tsv"),
    ("pattern_facts.tsv", "x.1\t1\tthe zebra sleeps .\t斑马 睡觉 。", None,
     r"no word 'zebra' \(pattern_facts.tsv, row \d+\)"),
    ("pattern_facts.tsv", "x.1\t1\tthe bank is here .\t银行 在 这里 。", None,
     r"several readings: write bank/bank.money or bank/bank.river \(pattern_facts.tsv.*nouns.tsv, row \d+; nouns.tsv"),
    ("pattern_facts.tsv", "x.1\t1\t{s:person} is here .\t{t} 在 这里 。", None, r"'{t}' in the Chinese template"),
    ("pattern_facts.tsv", "x.1\t1\t{s:person} is here .\t{s} 在 这里 。\tborn_in(s,t)", None,
     r"'t' has no placeholder"),
    ("pattern_facts.tsv", "x.1\t1\t{s:person} and {t:person} .\t{s} {t} 。\tborn_in(s,t)", None,
     r"born_in leads from"),
    ("pattern_facts.tsv", "x.1\t1\t{s:person} and {t:person} .\t{s} {t} 。\thates(s,t)", None,
     r"unknown relation 'hates'"),
    ("pattern_facts.tsv", "x.1\t0\t{s:person} is here .\t{s} 在 这里 。", None, r"weight '0'"),
    ("pattern_facts.tsv", "x.1\t1\t{s:person is here .\t{s} 在 这里 。", None, r"is not a placeholder"),
    ("pattern_facts.tsv", "x.1\t1\t{s} is here .\t{s} 在 这里 。", None, r"before it is introduced"),
    ("pattern_facts.tsv", "x.1\t1\t{s:person} {seems@s} here .\t{s} 在 这里 。", None,
     r"'seems' is not a word that agrees"),
    ("pattern_facts.tsv", "born_in.1\t1\t{s:person} is here .\t{s} 在 这里 。", None,
     r"'born_in.1' occurs twice"),
    ("sizes.toml", "held = { facts = 0.1,", "held_out = { facts = 0.1,", r"'small' has no key 'held_out'"),
    ("sizes.toml", 'words = [\n  "unicorn",', "words = [", r"unknown words: unicorn"),
    ("sizes.toml", 'patterns = [\n  "no.such",', "patterns = [", r"unknown patterns for 'small': no.such"),
    ("sizes.toml", "person = 80000, town = 4,", "person = 8, town = 4,", r"80000 people are requested"),
    ("sizes.toml", "film = 900, cafe = 3", "film = 3, cafe = 3", r"900 entities of kind 'film' are requested"),
    ("sizes.toml", "dragon = 3, cafe = 3", "film = 3, cafe = 3", r"unknown kind 'dragon'"),
]


@pytest.mark.parametrize("file, new, old, message", BROKEN, ids=lambda value: None)
def test_a_broken_table_names_its_rows(edited, file: str, new: str, old: str | None, message: str):
    folder = edited(file, new, old)
    with pytest.raises(TableError) as caught:
        World("small", folder=folder)
    assert re.search(message, str(caught.value), re.DOTALL), str(caught.value)


def test_a_sentence_with_two_readings_is_shown_with_its_rows(edited):
    """A second row for one English surface: by the patterns alone it cannot be seen, the proof finds it."""
    folder = edited("pattern_facts.tsv", "double.1\t1\t{q:person} lives in {t:town} .\t{q} 住 在 {t} 。\tlives_in(q,t)")
    edited("sizes.toml", 'patterns = [\n  "double.1",', "patterns = [")
    with pytest.raises(TableError) as caught:
        World("small", folder=folder).prove_unambiguous()
    message = str(caught.value)
    assert re.search(r"two readings of '\w+ \w+ lives in .*', by the patterns (double.1|lives_in.1)", message)
    assert message.count("pattern_facts.tsv, row") == 2


def test_a_word_that_meets_no_cue_is_shown(edited):
    """'the girl found the old bat' could be either, once the animal is a toy too."""
    folder = edited("nouns.tsv", "bat\t*\ttoy\t球棒\t根\tbat.club", "bat\t*\t\t球棒\t根\tbat.club")
    edited("sizes.toml", 'words = [\n  "bat",', "words = [")
    assert World("small", folder=folder).prove_unambiguous() > 0, "a club alone is a toy"
    edited("nouns.tsv", "bat\t*\ttoy\t蝙蝠\t只\tbat.animal", "bat\t*\tanimal\t蝙蝠\t只\tbat.animal")
    readings = r"two readings of '.*\bbats? .*'bats?' is bat\.(club|animal) or bat\.(animal|club)"
    with pytest.raises(TableError, match=readings + r".*nouns.tsv, row \d+; nouns.tsv, row \d+"):
        World("small", folder=folder).prove_unambiguous()


def test_tables_that_are_not_there_or_not_text(tmp_path, edited):
    with pytest.raises(TableError, match=r"nouns.tsv cannot be read"):
        read_table("nouns.tsv", folder=tmp_path)
    folder = edited("nouns.tsv", "x")
    (folder / "nouns.tsv").write_bytes(b"word\tplural\n\xff\xfe\t*\n")
    with pytest.raises(TableError, match=r"not UTF-8"):
        read_table("nouns.tsv", folder=folder)
    (folder / "nouns.tsv").write_text("word\nkey\n")
    with pytest.raises(TableError, match=r"column 'plural' is missing"):
        World("small", folder=folder)
    with pytest.raises(TableError, match=r"unknown size 'huge'; sizes.toml has full, medium, small"):
        World("huge")
