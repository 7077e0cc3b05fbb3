"""Links in wiki markup: cases by hand, a reader that counts brackets, and what can be reached by trying every way."""

import pytest

from plmlab.text.wikipedia import articles, markup
from plmlab.text.wikipedia_links import link_graph, linked, links_by_article, reached

CASES = {
    "The [[state (polity)|state]] of [[ohio]] and [[Ohio]].": ["State (polity)", "Ohio"],
    "See [[Apollo_8#Crew|the crew]], [[Apollo  8]], [[#Crew]] and [[ ]].": ["Apollo 8"],
    "[[File:A.jpg|thumb|A [[bridge]] of [[stone|stones]]]] [[Image:B.png]]": ["Bridge", "Stone"],
    "[[Category:Bridges]] [[:Category:Bridges]] [[de:Brücke]] [[wikt:bridge]] [[WP:NPOV]] [[s:A Modest Proposal]]": [],
    "[[2001: A Space Odyssey]]<ref>[[Arthur C. Clarke]]</ref><!-- [[hidden]] -->": ["2001: A Space Odyssey"],
    "{| class=x\n| [[Albania]] || {{flag|[[Andorra]]}}\n|}": ["Albania", "Andorra"],
    "no link, [http://example.org one outside], [brackets]": [],
}


@pytest.mark.parametrize("text", CASES)
def test_links_of_a_text(text: str) -> None:
    assert linked(text) == CASES[text]


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
