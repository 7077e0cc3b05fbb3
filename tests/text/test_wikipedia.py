"""The Wikipedia sample: markup undone case by case, and no trace of it in the whole."""

import bz2
import re

import pytest
from gensim.corpora.wikicorpus import extract_pages
from gensim.test.utils import datapath

from plmlab.text import Article, articles, paragraphs
from plmlab.text.wikipedia import SAMPLE, clean

CASES = {
    "A '''bold''' and ''slanted'' word, ''GQ'''s view.": "A bold and slanted word, GQ's view.",
    "The [[state (polity)|state]]s of [[Ohio]]n rivers are there.": "The states of Ohion rivers are there.",
    "He said so.<ref name=x>{{cite web|a=[[b]]}}</ref> And<ref name=y/> she said more.":
        "He said so. And she said more.",
    "Apollo ({{IPAc-en|a|b}}; {{lang-el|Ἀπόλλων}}, ''Apollōn'') is a god.": "Apollo (Ἀπόλλων, Apollōn) is a god.",
    "Achilles ({{IPAc-en|a}}; {{respell|b}}) was a Greek hero there.": "Achilles was a Greek hero there.",
    "It stands ( , {{x}}) on the hill [ ] of the town.": "It stands on the hill of the town.",
    "It is {{convert|8|mi|km|abbr=on}} from a {{convert|300|m|ft|adj=on}} tower.": "It is 8 miles from a 300-m tower.",
    "Depths run from {{convert|3700|-|15500|m|fathom ft}} out to sea.": "Depths run from 3700–15,500 m out to sea.",
    "{{as of|2014|6|lc=y}} some [[a|{{lang|fr|''bon'' mot}}]] was known.": "as of June 2014 some bon mot was known.",
    "Water, H<sub>2</sub>O, holds {{chem|SO|4|2-}} at 10<sup>−6</sup> now.": "Water, H₂O, holds SO₄²⁻ at 10⁻⁶ now.",
    "Caf&eacute;s &amp; bars&nbsp;are &lt;open&gt; all night long.": "Cafés & bars are <open> all night long.",
    "See [http://example.org/a?b=c the whole record] of it all, [http://x.org].":
        "See the whole record of it all.",
    "[[File:A.jpg|thumb|A [[bridge]] in {{x|y}} [1904]]]The bridge was mended in the spring.":
        "The bridge was mended in the spring.",
    "<!-- hidden -->The bridge <span style='x'>was mended</span> in the spring.":
        "The bridge was mended in the spring.",
    "* It was ''mended'' in the spring, once.": "It was mended in the spring, once.",
    "The [[:Category:Bridges|list of bridges]] is not a short one.": "The list of bridges is not a short one.",
    "{{nowrap|{{convert|5|km}}}} of {{small|[[road|roads]]}} lead to the town.": "5 km of roads lead to the town.",
}


@pytest.mark.parametrize("markup", CASES)
def test_markup_becomes_text(markup):
    assert clean(markup) == [CASES[markup]]


@pytest.mark.parametrize("markup", [
    "{{Infobox|name=A|text=This here is a sentence of some words.}}",
    "{|\n|-\n| This here is a cell with a sentence. || x\n{|\n| an inner table with words in it.\n|}\n|}",
    "== This heading ends with a full stop. ==",
    "The area is <math>\\pi r^2</math> for every circle in the plane.",
    "<gallery>\nFile:a.jpg|This here is a caption of many words.\n</gallery>",
    "[[Category:This here is a category of words.]]",
    "* [[Ada, Ohio]]\n* Ada, a river",
    "== See also ==\nThis here is a pointer of many words.\n=== More ===\nThis here is another one of them.",
])
def test_what_is_no_running_text_is_left_out(markup):
    assert clean(markup) == []


def test_the_text_goes_on_after_a_section_that_is_left_out():
    page = "== References ==\nThis here is a note of many words.\n== Life ==\nShe was born beside the old bridge."
    assert clean(page) == ["She was born beside the old bridge."]


@pytest.fixture(scope="module")
def sample():
    return articles()


def test_the_sample_is_titled_paragraphs(sample):
    assert len(sample) >= 100 and all(isinstance(article, Article) and article.paragraphs for article in sample)
    assert 2_500_000 < sum(len(article.text) for article in sample) < 3_200_000
    titles = {article.title for article in sample}
    assert {"Anarchism", "Abraham Lincoln", "Alabama", "Algorithm"} <= titles and len(titles) == len(sample)
    assert [p for article in sample for p in article.paragraphs] == paragraphs()


def test_the_list_can_be_changed_without_harm(sample):
    articles().clear()
    assert len(articles()) == len(sample)


def test_first_sentences_read_as_they_should(sample):
    begins = {article.title: article.paragraphs[0] for article in sample}
    assert begins["Anarchism"].startswith(
        "Anarchism is a political philosophy that advocates self-governed societies based on voluntary institutions. "
        "These are often described as stateless societies, although several authors")
    assert begins["Albert Einstein"].startswith("Albert Einstein (14 March 1879 – 18 April 1955) was a German-born")


@pytest.mark.parametrize("trace", [
    r"\[\[|\]\]", r"\{\{|\}\}", r"''", r"^\s*[|!*#:;=]", r"</?(?:ref|br|sub|sup|small|div|span)\b", r"&[a-z]+;|&#",
    r"\bthumb\||\dpx\b|\bcellpadding|\bstyle=", r"https?://", r"\(\s*[;,)]", r"[;,]\s*\)", r"\( | \)", r" [,;]", r"  ",
    r"^\s|\s$|\n|\x00|\xa0",
])
def test_no_trace_of_markup_is_left(trace):
    assert [p[:80] for p in paragraphs() if re.search(trace, p)] == []


def test_no_words_are_glued_together_or_made_up(sample):
    with bz2.open(datapath(SAMPLE)) as file:
        raw = {title: text for title, text, _ in extract_pages(file, ["0"])}
    strange = total = 0
    for article in sample:
        known = set(re.findall(r"[a-z]+", raw[article.title].lower().replace("'", "")))
        words = re.findall(r"[a-z]+", article.text.lower().replace("'", ""))
        total += len(words)
        strange += sum(word not in known for word in words)
    assert total > 400_000
    assert strange / total < 0.01   # a link's ending joins its word (state|s), a unit is written out
