"""Samples of the Small World as a Markdown page; ``python -m plmlab.world.page`` writes it to the end of
data/README.md."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from plmlab.paths import DATA
from plmlab.text.spacing import readable
from plmlab.world.documents.stories import Story
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.world import World, full

README = DATA / "README.md"
START = "## Samples of the Small World\n"
SEED = 11


def page(world: World) -> str:
    """The page as Markdown: random samples (not selected by hand) of sentences, articles, a story, questions and
    clozes."""
    return "\n".join([START, *sentences(world), *articles(world), *story(world), *questions(world), *clozes(world)])


def sentences(world: World) -> Iterator[str]:
    """Markdown lines: 24 training sentences with their translations, as a table."""
    yield f"Random samples of `world.full()`, seed {SEED} (`python -m plmlab.world.page`); checked by a test.\n"
    yield "### Sentences and their translations\n"
    yield "| English | Chinese | sense, relation |\n|---|---|---|"
    for sentence in islice(world.sentences("train", SEED), 24):
        senses = ", ".join(sorted({sense for sense in sentence.senses if sense}))
        facts = ", ".join(f"{triple.relation}" for triple in sentence.facts)
        labels = "; ".join(filter(None, (senses, facts)))
        yield f"| {readable(sentence.words)} | {''.join(sentence.chinese)} | {labels} |"


def articles(world: World) -> Iterator[str]:
    """Markdown lines: the first article of each kind of entity, with the sentences of its gist in bold."""
    yield "\n### One article per kind of entity (the gist in bold)\n"
    seen: set[str] = set()
    for article in world.articles():
        kind = article.entity.split(":")[0]
        if kind in seen:
            continue
        seen.add(kind)
        yield f"**{' '.join(article.title)}** ({kind}). {marked_text(article.sentences, article.gist)}\n"


def story(world: World) -> Iterator[str]:
    """Markdown lines: the first short story with its question; the sentences that the answer needs are in bold."""
    first: Story = next(world.stories(SEED, words=(500, 560)))
    yield f"### A story of {len(first.words)} words (sentences needed for the answer in bold)\n"
    yield marked_text(first.sentences, first.needed)
    yield f"\n*{readable(first.question)}* {readable(first.answer)}.\n"


def questions(world: World) -> Iterator[str]:
    """Markdown lines: eight training questions of each kind, with answer and path, as a table."""
    yield "### Questions\n\n| question | Chinese | answer | articles |\n|---|---|---|---|"
    for kind in ("one-hop", "bridge", "comparison"):
        for question in islice(world.questions(kind, "train", SEED), 8):
            way = " → ".join(world.facts[key].name for key in question.needed)
            yield f"| {readable(question.words)} | {''.join(question.chinese)} | {readable(question.answer)} | {way} |"


def clozes(world: World) -> Iterator[str]:
    """Markdown lines: eight statements with a masked salient span, and the masked words."""
    yield "\n### Masked salient spans\n"
    for cloze in islice(world.cloze("train", SEED), 8):
        yield f"- {readable(cloze.masked)} → {readable(cloze.answer)}"


def marked_text(sentences: Sequence[Sentence], marked: Iterable[int]) -> str:
    """Join the sentences into one line of Markdown; those whose index is in ``marked`` are bold."""
    bold = set(marked)
    return " ".join(f"**{readable(s.words)}**" if i in bold else readable(s.words) for i, s in enumerate(sentences))


def main() -> None:
    """Regenerate the last section of data/README.md; everything before its heading is kept."""
    before = README.read_text(encoding="utf-8").split(START)[0].rstrip()
    README.write_text(f"{before}\n\n{page(full())}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
