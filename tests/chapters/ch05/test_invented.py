"""Invented names: new, in the place of old ones, and the same name for the same name."""

from plmlab.chapters.ch05.invented import WAYS, parts, renamed
from plmlab.world import World


def test_every_word_of_a_person_s_name_is_new_and_all_else_stays(full: World) -> None:
    known, plain = set(full.vocabulary), renamed("as it is")
    assert len(plain) == 60
    for way in WAYS:
        exchanged: dict[tuple[bool, str], str] = {}
        for old, new in zip(plain, renamed(way), strict=True):
            assert old.labels == new.labels
            for place, label in enumerate(old.labels):
                if label == "O":
                    assert old.words[place] == new.words[place]
                else:
                    assert new.words[place] not in known
                    assert new.words[place][0].isupper() == (way != "small letters")
                    where = label == "B-person", old.words[place]
                    assert exchanged.setdefault(where, new.words[place]) == new.words[place]
        assert len(set(exchanged.values())) > len(exchanged) / 2 > 5


def test_alike_means_made_of_beginnings_and_ends_of_names() -> None:
    pool = [word for words in parts().values() for word in words]
    for old, new in zip(renamed("as it is"), renamed("alike"), strict=True):
        for one, other in zip(old.words, new.words, strict=True):
            if one != other:
                assert any(other.startswith(word[:2]) for word in pool)
                assert any(other.endswith(word[-2:]) for word in pool)
