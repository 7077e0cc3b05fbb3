"""Names and pages of the Wikipedia sample: links by hand, and priors counted by brute force."""

from collections import Counter

from plmlab.chapters.ch18.wikipedia import Link, first, halves, links, priors, titled
from plmlab.text.wikipedia import markup


def test_links_by_hand() -> None:
    """Displayed text is in lower case; the target begins with a capital letter; a section belongs to its page."""
    text = ("[[Paris]] and [[paris|the City]], [[Iran#History|history]], <ref>[[note]]</ref> "
            "[[File:a.png|a [[picture]]]] [[Category:Towns]] [[fr:Paris]] [[ |x]] [[new_York]]")
    assert links(text) == [Link("paris", "Paris"), Link("the city", "Paris"), Link("history", "Iran"),
                           Link("picture", "Picture"), Link("new york", "New York")]
    assert links("") == []


def test_each_page_is_in_one_half() -> None:
    """The halves have the links of all pages; no page has links in both."""
    one, other = halves()
    assert Counter(one) + Counter(other) == Counter(link for text in markup().values() for link in links(text))
    assert links(next(iter(markup().values()))) == one[:len(links(next(iter(markup().values()))))]
    assert len(one) > 10_000 < len(other)


def test_the_most_frequent_page_of_a_name() -> None:
    found = [Link("georgia", "Georgia (country)"), Link("georgia", "Georgia (U.S. state)"), Link("ur", "Ur"),
             Link("georgia", "Georgia (U.S. state)")]
    counts = priors(found)
    assert counts["georgia"] == {"Georgia (country)": 1, "Georgia (U.S. state)": 2}
    assert first(counts, "georgia") == "Georgia (U.S. state)" and first(priors(found[:2]), "georgia") == found[0].page
    assert first(counts, "iran") is None and "iran" not in counts
    assert [titled(link) for link in found] == [False, False, True, False]
