"""Entity linking on real text: the links of the Wikipedia sample as mentions, with priors counted from other pages."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from plmlab.text.wikipedia import HIDDEN, NOWIKI, markup
from plmlab.text.wikipedia_links import linked

LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]")
"""A link with its target and, if it is not the same, its displayed text."""

Priors = Mapping[str, Counter[str]]
"""Name, in lower case → how often it links to each page."""


class Link(NamedTuple):
    """A link: the displayed ``name`` in lower case, and the title of the page."""

    name: str
    page: str


def links(text: str) -> list[Link]:
    """The links to encyclopedia pages in the markup of a page, in order."""
    shown = NOWIKI.sub("", HIDDEN.sub("", text))
    found = ((linked(one[0]), (one[2] or one[1]).replace("_", " ").strip().lower()) for one in LINK.finditer(shown))
    return [Link(name, pages[0]) for pages, name in found if pages and name]


def halves() -> tuple[list[Link], list[Link]]:
    """The links of every second page of the sample, and those of the other pages."""
    pages = [links(text) for text in markup().values()]
    return ([link for page in pages[::2] for link in page], [link for page in pages[1::2] for link in page])


def priors(found: Iterable[Link]) -> Priors:
    """Count how often each name links to each page, as in KnowBERT's candidate lists."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, page in found:
        counts[name][page] += 1
    return counts


def first(counts: Priors, name: str) -> str | None:
    """The page that a name links to most often; of equal counts, the one counted first. None for an unknown name."""
    return next((page for page, _ in counts.get(name, Counter[str]()).most_common(1)), None)


def titled(link: Link) -> bool:
    """Whether a name is linked correctly by a rule without counts: to the page that has it as its title."""
    return link.name == link.page.lower()
