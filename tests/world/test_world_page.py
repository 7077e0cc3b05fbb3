"""The page in data/README.md is what the code generates."""

from plmlab.world.page import README, page


def test_the_page_is_true(full):
    assert README.read_text(encoding="utf-8").endswith(page(full) + "\n")
