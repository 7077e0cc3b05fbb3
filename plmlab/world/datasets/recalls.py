"""Long texts that repeatedly query facts stated earlier; the distance from statement to question is known for every
question.

A story has only one question, at its end. In these texts, single-sentence facts (recall_plots.tsv) or plots of the
stories are stated and then queried again and again, between scenes that do not mention them.
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
    """A question within a text.

    Attributes:
        plot: a row of recall_plots.tsv or story_plots.tsv.
        fact_position: the position of the last mention: the full stop of the first sentence that the answer needs or,
            if it was queried before, the last word of the previous answer.
        start: the position of the answer's first word.
        answer: the words of the answer.
        options: the candidates for a model without memory. With one thread per plot these are all answers of that kind;
            with several, the answers of these threads. The correct answer is among them.
    """

    plot: str
    fact_position: int
    start: int
    answer: Words
    options: tuple[Words, ...]

    @property
    def distance(self) -> int:
        """The number of positions from ``fact_position`` to ``start``."""
        return self.start - self.fact_position


@dataclass(frozen=True)
class RecallText:
    """The words of a text, and the questions that it contains."""

    words: Words
    recalls: tuple[Recall, ...]


class RecallTexts:
    """Generates recall texts with the people, scenes and plots of a world's stories; all of them count as training
    text.

    Args:
        world: the world whose tables are used.
        words: the length of a text; the last sentence is truncated there.
        distances: minimum and maximum number of words between a statement and its question. The target distance is
            uniform over this range; the question is asked once the sentences begun before that point are complete.
        plots: rows of recall_plots.tsv or story_plots.tsv; None: all rows of recall_plots.tsv.
        threads: the number of threads per plot, 1 to 3. A story has three.
        scenes: the probability of inserting a scene before the next statement. If nothing is due to be stated or
            queried, a scene always follows.

    Raises:
        ValueError: for an unknown plot, an invalid number of threads, or a distance that does not fit into a text of
            this length.
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
            raise ValueError(f"threads={threads} was given; a plot has {THREADS} threads, so give 1 to {THREADS}")
        if not 0 < distances[0] <= distances[1] < words:
            raise ValueError(f"distances={distances} was given with words={words}; give 0 < minimum ≤ maximum < words")
        self.plots = [known[name] for name in chosen]
        self.words, self.distances, self.threads, self.scenes = words, distances, threads, scenes

    def draw(self, rng: Random) -> RecallText:
        """Sample one text."""
        return _Writing(self, rng).text()

    def texts(self, seed: int = 0) -> Iterator[RecallText]:
        """Endless iterator over texts; the same seed gives the same texts."""
        rng = Random(f"recalls:{seed}")
        while True:
            yield self.draw(rng)


class _Writing:
    """State of one text during generation. ``waiting`` is a heap of the threads already stated: (earliest position of
    the question, position of the statement, index of the thread)."""

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
        """Add sentences until the text is long enough."""
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
        """State the next thread."""
        first, *more = self.threads[self.told].told
        self.say(first)
        self.wait(len(self.words) - 1, self.told)
        self.say(*more)
        self.told += 1

    def wait(self, told: int, number: int) -> None:
        """Schedule the question about a thread that was stated at position ``told``."""
        least, most = self.how.distances
        heappush(self.waiting, (told + least + randint(self.rng, most - least + 1), told, number))

    def ask(self, told: int, number: int) -> None:
        """Append a question and its answer."""
        thread = self.threads[number]
        self.say(thread.question)
        candidates = tuple(other.answer.words for other in self.threads if other.plot == thread.plot)
        self.recalls.append(Recall(thread.plot.name, told, len(self.words), thread.answer.words,
                                   thread.options if len(candidates) == 1 else candidates))
        self.words += [*thread.answer.words, "."]
        self.wait(len(self.words) - 2, number)

    def say(self, *sentences: Sentence) -> None:
        """Append the words of the given sentences."""
        for sentence in sentences:
            self.words += sentence.words
