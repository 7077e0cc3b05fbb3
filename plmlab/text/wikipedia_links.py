"""The links between the pages of the Wikipedia sample, from their markup, [[page]] or [[page|displayed text]]; and the
paragraphs of the sample with links as entities."""

import re
from functools import cache
from typing import TYPE_CHECKING

from plmlab.text.text import Named
from plmlab.text.wikipedia import HIDDEN, NOT_A_WORD, NOWIKI, articles, clean, link_text, markup

if TYPE_CHECKING:
    import networkx

MARK = re.compile("\ue000")
"""Marks both ends of a link while a page is cleaned; no page contains this character."""
TARGET = re.compile(r"\[\[([^\[\]|#]+)")
ELSEWHERE = re.compile(r"\s*(?::|(?:[swq]|wikt|wiktionary|wikiquote|wikipedia|wp|template)\s*:)", re.IGNORECASE)
"""Link targets outside the encyclopedia: notes for its authors, and other projects."""


@cache
def linked_paragraphs() -> tuple[str, ...]:
    """The sample's `plmlab.text.paragraphs`, each as a `Named` whose entities are the links to encyclopedia pages, or
    as a plain string if its links were lost in cleaning."""
    found = [(article, {str(one): one for one in map(_named, clean(markup()[article.title], _marked))})
             for article in articles()]
    return tuple(named.get(paragraph, paragraph) for article, named in found for paragraph in article.paragraphs)


def _marked(found: re.Match[str]) -> str:
    text = link_text(found)
    return f"{MARK.pattern}{text}{MARK.pattern}" if text and linked(found[0]) else text


def _named(paragraph: str) -> Named:
    """A paragraph whose link markers are replaced by entity spans."""
    places = [found.start() - before for before, found in enumerate(MARK.finditer(paragraph))]
    return Named(MARK.sub("", paragraph), zip(places[::2], places[1::2], strict=True))


def linked(text: str) -> list[str]:
    """The titles that a page of wiki markup links to, each once, in order; links in tables and captions are included.

    Links to pictures, categories, other languages and other projects, and links in footnotes, are left out.
    """
    targets = [target for target in TARGET.findall(NOWIKI.sub("", HIDDEN.sub("", text)))
               if not NOT_A_WORD.match(target) and not ELSEWHERE.match(target)]
    titles = (" ".join(target.replace("_", " ").split()) for target in targets)
    return list(dict.fromkeys(title[0].upper() + title[1:] for title in titles if title))


@cache
def link_graph() -> "networkx.DiGraph":
    """The graph of the sample's articles, with an edge for each link from one to another. A node's attribute ``links``
    is the number of pages it links to, including pages outside the sample."""
    import networkx

    graph = networkx.DiGraph()
    found = {article.title: linked(markup()[article.title]) for article in articles()}
    for title, targets in found.items():
        graph.add_node(title, links=len(targets))
    graph.add_edges_from((title, target) for title, targets in found.items() for target in targets
                         if target in found and target != title)
    return graph


def reached(title: str, hops: int) -> dict[str, int]:
    """The articles reachable from an article in at most ``hops`` links → the minimum number of links. Raises ValueError
    for a title that is not in the sample."""
    import networkx

    graph = link_graph()
    if title not in graph:
        raise ValueError(f"there is no article {title!r:.60} in the sample; plmlab.text.articles() lists the titles")
    found = networkx.single_source_shortest_path_length(graph, title, cutoff=hops)
    return {other: count for other, count in found.items() if count}


def links_by_article() -> list[tuple[str, int, list[str], list[str]]]:
    """One row per article: its title, the number of pages it links to, the articles of the sample among them, and those
    two links away."""
    graph = link_graph()
    return [(title, count, list(graph[title]), [other for other, hops in reached(title, 2).items() if hops == 2])
            for title, count in graph.nodes(data="links")]
