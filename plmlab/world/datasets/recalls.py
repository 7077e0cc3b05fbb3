"""Long texts in which what was told is asked again: after how many words, is known for every question.

A story asks once, at its end. Here deeds are told, a sentence each (recall_plots.tsv), or plots of the stories, and
asked for again and again, between scenes in which nothing of it is said.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random

from plmlab.draws import randint, shuffled
from plmlab.world.documents.plots import THREADS, draw_threads, read_plots
from plmlab.world.documents.scenes import Scenery
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.world import World

Words = tuple[str, ...]


@dataclass(frozen=True)
class Recall:
    """A question inside a text.

    Attributes:
        plot: a row of recall_plots.tsv or story_plots.tsv.
        told: the position where it was said last: of the full stop of the first sentence that the answer needs, or,
            where it was asked before, of the answer's last word then.
        start: the position of the answer's first word.
        answer: its words.
        options: what a reader may choose from who remembers nothing: with one thread of a plot all answers of that
            kind, with several the answers of these threads. The right one is among them.
    """

    plot: str
    told: int
    start: int
    answer: Words
    options: tuple[Words, ...]

    @property
    def distance(self) -> int:
        """From ``told`` to ``start``, in positions."""
        return self.start - self.told


@dataclass(frozen=True)
class RecallText:
    """The words of a text, and the questions in it."""

    words: Words
    recalls: tuple[Recall, ...]


class RecallTexts:
    """Writes such texts with the people, scenes and plots of a world's stories; all is training text.

    Args:
        world: whose tables are used.
        words: how long a text is; the last sentence is cut off there.
        distances: how many words lie between what was told and the question, at least and at most; each number is aimed
            at as often, and a question waits until what is being said has ended.
        plots: rows of recall_plots.tsv or story_plots.tsv; None: all deeds of recall_plots.tsv.
        threads: how many threads of each plot are told, 1 to 3. A story has three.
        scenes: the chance that a scene follows, where something could be told. Where nothing is to be told or asked,
            one always does.

    Raises:
        ValueError: no such plot, no such number of threads; a distance that no text of that length has.
    """

    def __init__(self, world: World, words: int = 160, distances: tuple[int, int] = (1, 128),
                 plots: Sequence[str] | None = None, threads: int = 1, scenes: float = 0.0) -> None:
        self.teller = world.storyteller
        deeds = read_plots(self.teller.lexicon, world.folder, "recall")
        known = {plot.name: plot for plot in (*deeds, *self.teller.plots)}
        chosen = [plot.name for plot in deeds] if plots is None else list(plots)
        if not chosen or not set(chosen) <= set(known):
            raise ValueError(f"plots={plots} was given; the plots are {', '.join(known)}")
        if threads not in range(1, THREADS + 1):
            raise ValueError(f"threads={threads} was given; a plot has {THREADS} threads: give 1 to {THREADS}")
        if not 0 < distances[0] <= distances[1] < words:
            raise ValueError(f"distances={distances} in texts of {words} words: give at least 1, and less than the "
                             "text has words")
        self.plots = [known[name] for name in chosen]
        self.words, self.distances, self.threads, self.scenes = words, distances, threads, scenes

    def draw(self, rng: Random) -> RecallText:
        """One text."""
        return _Writing(self, rng).text()

    def texts(self, seed: int = 0) -> Iterator[RecallText]:
        """Texts without end; same seed, same texts."""
        rng = Random(f"recalls:{seed}")
        while True:
            yield self.draw(rng)


class _Writing:
    """One text in the making. ``waiting`` holds the threads that were told: (position from which on it is asked,
    position where it was told, its number)."""

    def __init__(self, how: RecallTexts, rng: Random) -> None:
        self.how, self.rng = how, rng
        cast = how.teller.cast(how.teller.people(rng), rng)
        self.threads = [thread for plot in shuffled(rng, how.plots)
                        for thread in draw_threads(plot, cast, rng, how.threads)]
        self.scenes = Scenery(how.teller.scenes, cast, None, rng).days()
        self.told = 0
        self.waiting: list[tuple[int, int, int]] = []
        self.words: list[str] = []
        self.recalls: list[Recall] = []

    def text(self) -> RecallText:
        """Sentence after sentence until the text is long enough."""
        whole = self.how.words
        while len(self.words) < whole:
            if self.told < len(self.threads) and self.rng.random() >= self.how.scenes:
                self.tell()
            elif self.told == len(self.threads) and self.waiting[0][0] <= len(self.words):
                self.ask(*heappop(self.waiting)[1:])
            else:
                self.say(*next(self.scenes))
        return RecallText(tuple(self.words[:whole]), tuple(
            recall for recall in self.recalls if recall.start + len(recall.answer) <= whole))

    def tell(self) -> None:
        """Tell the next thread."""
        first, *more = self.threads[self.told].told
        self.say(first)
        self.wait(len(self.words) - 1, self.told)
        self.say(*more)
        self.told += 1

    def wait(self, told: int, number: int) -> None:
        """Ask for a thread some words after it was told."""
        least, most = self.how.distances
        heappush(self.waiting, (told + least + randint(self.rng, most - least + 1), told, number))

    def ask(self, told: int, number: int) -> None:
        """Ask and answer."""
        thread = self.threads[number]
        self.say(thread.question)
        rivals = tuple(other.answer.words for other in self.threads if other.plot == thread.plot)
        self.recalls.append(Recall(thread.plot.name, told, len(self.words), thread.answer.words,
                                   thread.options if len(rivals) == 1 else rivals))
        self.words += [*thread.answer.words, "."]
        self.wait(len(self.words) - 2, number)

    def say(self, *sentences: Sentence) -> None:
        """Append the words of some sentences."""
        for sentence in sentences:
            self.words += sentence.words
