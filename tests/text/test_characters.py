"""Words as codes: the frame, what is cut, the shift, several sentences."""

import pytest

from plmlab.text.characters import CODES, LONGEST, batch_codes, sentence_codes, word_codes


def test_a_word_by_hand() -> None:
    assert word_codes("cat", 7) == [259, 100, 98, 117, 260, 261, 261]
    assert word_codes("", 4) == [259, 260, 261, 261]


@pytest.mark.parametrize("word", ["a", "naïve", "猫", "🐈", "a" * 48, "a" * 49, "猫" * 20, "\ud800"])
def test_any_word_is_framed_and_has_its_bytes(word: str) -> None:
    codes = word_codes(word)
    end = codes.index(260)
    assert len(codes) == LONGEST and codes[0] == 259 and set(codes[end + 1:]) <= {261} and max(codes) < CODES
    assert bytes(code - 1 for code in codes[1:end]) == word.encode("utf-8", "ignore")[:48]


def test_sentences_stand_between_their_signs_and_are_filled_up_with_nothing() -> None:
    codes = batch_codes([["the", "cat"], []], 6)
    assert codes.shape == (2, 4, 6)
    assert codes[0, 0].tolist() == [259, 257, 260, 261, 261, 261]
    assert codes[0, 3].tolist() == [259, 258, 260, 261, 261, 261]
    assert codes[0, 1].tolist() == word_codes("the", 6)
    assert codes[1, :2].tolist() == sentence_codes([], 6).tolist() and not codes[1, 2:].any()


def test_what_has_no_room_is_refused() -> None:
    with pytest.raises(ValueError, match="longest=2"):
        word_codes("cat", 2)
    with pytest.raises(ValueError, match="sentences is empty"):
        batch_codes([])
