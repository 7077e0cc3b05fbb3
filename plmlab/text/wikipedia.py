"""A sample of English Wikipedia, cleaned: about a hundred articles that ship with gensim (CC BY-SA 3.0).

Wiki markup is recursive (a link in a caption in a template), so it is resolved from the inside out: markup that
contains no other markup is replaced by its text, until no markup is left.
"""

import bz2
import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from plmlab.text.wikipedia_templates import SUBSCRIPT, SUPERSCRIPT, template_text

SAMPLE = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
LEAST_WORDS = 6

HIDDEN = re.compile(
    r"<!--.*?-->|<ref\b[^<>]*/>|<ref\b.*?</ref\s*>"
    r"|<(gallery|source|timeline|syntaxhighlight|references)\b[^<>]*>.*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
FORMULA = re.compile(r"<math\b.*?</math\s*>", re.DOTALL | re.IGNORECASE)
NOWIKI = re.compile(r"</?nowiki\s*/?>", re.IGNORECASE)
BREAK = re.compile(r"<(?:br|hr)\s*/?\s*>", re.IGNORECASE)
BLOCK = re.compile(r"</?(?:blockquote|poem|div|center|p|ol|ul|li)\b[^<>]*>", re.IGNORECASE)
RAISED = re.compile(r"<(su[bp])\b[^<>]*>([^<>]*)</\1\s*>", re.IGNORECASE)
TAG = re.compile(r"</?[a-zA-Z][^<>]*>")

PLAIN = r"(?:[^\[\]{}]|\[[^\[\]{}]*\]|\[(?!\[)|\](?!\])|\{(?![{|])|\}(?!\})|(?<!\|)\}(?!\}))*?"
LINK = re.compile(rf"\[\[({PLAIN})\]\]")
TEMPLATE = re.compile(rf"\{{\{{({PLAIN})\}}\}}")
TABLE = re.compile(r"^[:*\s]*\{\|(?:(?!\{\|).)*?^\s*\|\}", re.DOTALL | re.MULTILINE)
OUTWARD = re.compile(r"\[(?:https?:|ftp:)?//[^\s\[\]]+ *([^\[\]]*)\]")
NOT_A_WORD = re.compile(r"\s*(?:(?i:file|image|category|media)|[a-z]{2,3}(?:-[a-z]+)*)\s*:")

POSSESSIVE = re.compile(r"(?<!')''([^'\n]+)'''s\b")
QUOTES = re.compile(r"'{2,5}")
HEADING = re.compile(r"(={2,6})\s*(.*?)\s*\1\s*$")
BACK_MATTER = re.compile(
    r"(?:see also|references?|notes?|footnotes|citations|sources|external links|further reading|bibliography|"
    r"works cited|literature|publications|selected works|filmography|gallery|notes and references|"
    r"(?:cited |general |primary |secondary )?(?:references|sources|works)|explanatory notes)\b.*", re.IGNORECASE
)
HOLES = (
    (re.compile(r"[ \t\u00a0\u2000-\u200b]+"), " "),
    (re.compile(r"(?<=[(\[]) ?(?:[;,:/–] ?|(?:or|and) (?=[)\]]))+"), ""),
    (re.compile(r"(?: ?[;,:/])+ ?(?=[)\]])"), ""),
    (re.compile(r" ?(?:\( ?\)|\[ ?\]|\"\"|“”)"), ""),
    (re.compile(r"([;,])(?: ?[;,])+"), r"\1"),
    (re.compile(r" ?[;,](?= ?[.](?:\s|$))"), ""),
    (re.compile(r"(?<=[(\[]) | (?=[)\],.;:!?](?![.\w]))"), ""),
    (re.compile(r" {2,}"), " "),
)
SENTENCE_END = re.compile(r"[.!?:…][\"'”’)\]]*$")
LEFTOVER = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||\|\}|^[|!]|https?://|\x00")


@dataclass(frozen=True)
class Article:
    """A Wikipedia article: its title and its paragraphs of running text."""

    title: str
    paragraphs: tuple[str, ...]

    @property
    def text(self) -> str:
        """The article's paragraphs as one text, separated by empty lines."""
        return "\n\n".join(self.paragraphs)


def articles() -> list[Article]:
    """The articles of the sample that contain running text, in the order of the file.

    Paragraphs and list items that are sentences are kept. Tables, captions, headings, footnotes, the sections at the
    end (references, external links, …) and paragraphs with a formula are left out, so nothing remains of disambiguation
    pages. The file is parsed once per process, in about a second.
    """
    return list(_articles())


def paragraphs() -> list[str]:
    """All paragraphs of running text in the sample, article by article."""
    return [paragraph for article in _articles() for paragraph in article.paragraphs]


@cache
def markup() -> Mapping[str, str]:
    """Title → wiki markup of every page of the sample that is not a redirect."""
    from gensim.corpora.wikicorpus import extract_pages
    from gensim.test.utils import datapath

    with bz2.open(datapath(SAMPLE)) as file:
        return {title: text for title, text, _ in extract_pages(file, ["0"])
                if ":" not in title and not text.lower().startswith("#redirect")}


@cache
def _articles() -> tuple[Article, ...]:
    cleaned = (Article(title, tuple(clean(text))) for title, text in markup().items())
    return tuple(article for article in cleaned if article.paragraphs)


def link_text(found: re.Match[str]) -> str:
    """The displayed text of a link matched by `LINK`: [[page|text]] → text. It is an empty string for a picture, a
    category or a page in another language."""
    target, _, text = found[1].rpartition("|")
    return "" if NOT_A_WORD.match(target or text) else text.removeprefix(":")


def clean(markup: str, shown: Callable[[re.Match[str]], str] = link_text) -> list[str]:
    """The paragraphs of running text in a page of wiki markup; ``shown`` maps a link to the text that replaces it."""
    return [paragraph for line in _body(_without_markup(markup, shown)) if (paragraph := _paragraph(line))]


def _without_markup(markup: str, shown: Callable[[re.Match[str]], str]) -> str:
    """The text without markup other than headings and line breaks; NUL marks a formula."""
    text = HIDDEN.sub("", markup)
    text = FORMULA.sub("\x00", text)
    text = NOWIKI.sub("", BLOCK.sub("\n", BREAK.sub(" ", text)))
    text = RAISED.sub(_raised, text)
    text = OUTWARD.sub(r"\1", text)
    before = None
    while before != text:
        before = text
        text = TEMPLATE.sub(lambda found: template_text(found[1]), LINK.sub(shown, text))
    while before != (text := TABLE.sub("", text)):
        before = text
    text = TAG.sub("", RAISED.sub(_raised, text))
    text = QUOTES.sub("", POSSESSIVE.sub(r"\1's", text))
    return html.unescape(html.unescape(text))


def _raised(found: re.Match[str]) -> str:
    return found[2].translate(SUPERSCRIPT if found[1].lower() == "sup" else SUBSCRIPT)


def _body(text: str) -> Iterator[str]:
    """Yield the lines of a page without headings and without the final sections."""
    skipped = 0
    for line in text.split("\n"):
        if heading := HEADING.match(line.strip()):
            level = len(heading[1])
            if not skipped or level <= skipped:
                skipped = level if BACK_MATTER.fullmatch(heading[2]) else 0
        elif not skipped:
            yield line


def _paragraph(line: str) -> str:
    """The paragraph on a line; an empty string if the line is not running text."""
    text = line.strip().lstrip("*#:; ")
    for hole, filling in HOLES:
        text = hole.sub(filling, text)
    text = text.strip()
    whole = len(text.split()) >= LEAST_WORDS and SENTENCE_END.search(text) and text.count("(") == text.count(")")
    return "" if not whole or LEFTOVER.search(text) else text
