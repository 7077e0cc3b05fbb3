"""The table of questions about real text."""

from pathlib import Path

import pytest

from plmlab.retrieval import wikipedia_questions


def test_a_row_that_is_not_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / wikipedia_questions.TABLE).write_text(
        "\t".join(wikipedia_questions.COLUMNS) + "\none-hop\twhat ?\tit\tAlberta => it | Alberta\tis it\n",
        encoding="utf-8")
    monkeypatch.setattr(wikipedia_questions, "DATA", tmp_path)
    with pytest.raises(ValueError, match=r"page => what is found there.*row 2"):
        wikipedia_questions.questions.__wrapped__()
