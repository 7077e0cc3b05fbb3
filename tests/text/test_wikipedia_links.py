"""Links in wiki markup: cases by hand, a reader that counts brackets, and what can be reached by trying every way."""

import re

import pytest

from plmlab.text import wikipedia_links
from plmlab.text.text import Named
from plmlab.text.wikipedia import Article, articles, clean, markup, paragraphs
from plmlab.text.wikipedia_links import link_graph, linked, linked_paragraphs, links_by_article, reached

CASES = {
    "The [[state (polity)|state]] of [[ohio]] and [[Ohio]].": ["State (polity)", "Ohio"],
    "See [[Apollo_8#Crew|the crew]], [[Apollo  8]], [[#Crew]] and [[ ]].": ["Apollo 8"],
    "[[File:A.jpg|thumb|A [[bridge]] of [[stone|stones]]]] [[Image:B.png]]": ["Bridge", "Stone"],
    "[[Category:Bridges]] [[:Category:Bridges]] [[de:Brücke]] [[wikt:bridge]] [[WP:NPOV]] [[s:A Modest Proposal]]": [],
    "[[2001: A Space Odyssey]]<ref>[[Arthur C. Clarke]]</ref><!-- [[hidden]] -->": ["2001: A Space Odyssey"],
    "{| class=x\n| [[Albania]] || {{flag|[[Andorra]]}}\n|}": ["Albania", "Andorra"],
    "no link, [http://example.org one outside], [brackets]": [],
}
SHOWN = dict(zip(CASES, (["state", "ohio", "Ohio"], ["the crew", "Apollo 8"], [], [], ["2001: A Space Odyssey"]),
                 strict=False))


@pytest.mark.parametrize("text", CASES)
def test_links_of_a_text(text: str) -> None:
    assert linked(text) == CASES[text]


@pytest.mark.parametrize("text", CASES)
def test_what_is_shown_of_links_is_named(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many entities as there are links in running text, which is what it is without."""
    running = f"{text} It is a sentence of some seven words."
    monkeypatch.setattr(wikipedia_links, "markup", lambda: {"page": running})
    monkeypatch.setattr(wikipedia_links, "articles", lambda: [Article("page", tuple(clean(running)))])
    assert linked_paragraphs.__wrapped__() == tuple(clean(running))
    found = [paragraph[start:end] for paragraph in linked_paragraphs.__wrapped__() for start, end in paragraph.entities]
    assert found == SHOWN.get(text, []), running


def test_the_sample_s_paragraphs_name_what_their_links_show() -> None:
    assert list(linked_paragraphs()) == paragraphs()
    named = [paragraph for paragraph in linked_paragraphs() if isinstance(paragraph, Named)]
    assert len(named) > 0.999 * len(paragraphs())
    shown = {re.split(r"[|\[]", piece)[-1] for article in articles() for piece in markup()[article.title].split("]]")}
    found = [paragraph[start:end] for paragraph in named for start, end in paragraph.entities]
    assert len(found) > 15_000 and sum(name in shown for name in found) > 0.97 * len(found)


def by_brackets(text: str, titles: set[str]) -> set[str]:
    """The titles that stand right behind two brackets, up to a stroke, a # or the two that close."""
    found = set()
    for piece in text.split("[[")[1:]:
        target = piece.replace("#", "|").replace("]]", "|").split("|")[0].strip()
        found |= {target[:1].upper() + target[1:]} & titles
    return found


def test_links_inside_the_sample() -> None:
    """The reader that counts brackets does not know footnotes, which may have one more."""
    titles = {article.title for article in articles()}
    graph, more = link_graph(), 0
    assert set(graph) == titles and len(titles) == 104
    for title in titles:
        simple = by_brackets(markup()[title], titles) - {title}
        assert set(graph[title]) <= simple
        more += len(simple - set(graph[title]))
    assert more == 1 and graph.number_of_edges() == 85
    assert sum(count for _, count in graph.nodes(data="links")) == 22522


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_what_is_reached(hops: int) -> None:
    """Against walks: all ways of so many links, one by one."""
    graph = link_graph()
    for title in graph:
        distance, rim = dict[str, int](), {title}
        for step in range(1, hops + 1):
            rim = {target for one in rim for target in graph[one]}
            for target in rim - {title}:
                distance.setdefault(target, step)
        assert reached(title, hops) == distance


def test_a_row_for_each_article() -> None:
    rows = {title: rest for title, *rest in links_by_article()}
    assert list(rows) == [article.title for article in articles()]
    assert sum(count for count, *_ in rows.values()) == 22522 and sum(len(near) for _, near, _ in rows.values()) == 85
    assert rows["Anarchism"][1:] == [["Agriculture"], ["Agricultural science"]]
    for title, (_, near, further) in rows.items():
        assert set(further) == {two for one in near for two in rows[one][1]} - {title, *near}


def test_a_title_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="no article 'Narnia' in the sample"):
        reached("Narnia", 2)
