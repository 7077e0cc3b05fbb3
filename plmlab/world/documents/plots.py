"""Plots: information that is given early in a story and needed late. A plot has three threads, and the question is
about one of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from plmlab.draws import choice, randint
from plmlab.world.documents.roles import Cast, Role, check_roles, parse_roles, roles_of
from plmlab.world.documents.templates import Bindings, Template, Thing, combines_held, parse_template, say
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.lexicon import Lexicon, Word
from plmlab.world.tables import TABLES, Row, TableError, clash, read_table, unique

THREADS = 3
TRIES = 50
TOLD = ("early", "middle", "late")
STEPS = (*TOLD, "question", "answer")


@dataclass(frozen=True)
class Plot:
    """One row of story_plots.tsv with its beats."""

    name: str
    own: tuple[Role, ...]                  # drawn again for each thread
    shared: tuple[Role, ...]
    late_for_all: bool                     # or only for the thread that the question is about
    uses: tuple[str, ...]                  # the steps needed for the answer
    beats: dict[str, list[Template]]       # step → its possible templates
    row: Row


@dataclass(frozen=True)
class Beat:
    """A sentence of a plot, and whether it is needed for the answer."""

    step: str
    sentence: Sentence
    needed: bool


@dataclass(frozen=True)
class Thread:
    """One thread of a plot: the sentences needed for the answer, the question and the answer. ``options`` are the
    answers that are possible from the question alone."""

    plot: Plot
    told: tuple[Sentence, ...]
    question: Sentence
    answer: Sentence
    options: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Drawn:
    """A plot with values for all variables."""

    plot: Plot
    beats: tuple[Beat, ...]
    question: Sentence
    answer: Sentence
    options: tuple[tuple[str, ...], ...]     # the answers of all threads, in the order of the threads


def read_plots(lexicon: Lexicon, folder: Path = TABLES, name: str = "story") -> list[Plot]:
    """Read the plots of story_plots.tsv and story_beats.tsv, or of the two tables of another ``name``.

    Raises:
        TableError: for a duplicate, an unknown plot, step, class or variable, or a plot that lacks a step; the message
            names the rows.
    """
    rows = read_table(f"{name}_plots.tsv", required=("plot", "own", "late", "uses"), folder=folder)
    unique(rows, "plot")
    beats = read_table(f"{name}_beats.tsv", required=("plot", "step", "english", "chinese"), folder=folder)
    unique(beats, "plot", "english")
    known = {row["plot"] for row in rows}
    for beat in beats:
        if beat["plot"] not in known or beat["step"] not in STEPS:
            raise clash(f"unknown plot or step '{beat['plot']} {beat['step']}'; the steps are {', '.join(STEPS)}", beat)
    return [_plot(row, [beat for beat in beats if beat["plot"] == row["plot"]], lexicon) for row in rows]


def _plot(row: Row, beats: list[Row], lexicon: Lexicon) -> Plot:
    own, shared = (tuple(parse_roles(row[column], row)) for column in ("own", "shared"))
    check_roles([*own, *shared], ("cast", "town"), lexicon, row)
    if row["late"] not in ("all", "one"):
        raise clash(f"'{row['late']}' in the column late; it must be all or one", row)
    named = {role.name for role in (*own, *shared)}
    steps: dict[str, list[Template]] = {}
    for beat in beats:
        template = _beat(beat, lexicon)
        loose = template.variables - named - {role.name for role in roles_of(template)}
        if loose:
            raise clash(f"the variables {', '.join(sorted(loose))} have no role in the plot", row, beat)
        steps.setdefault(beat["step"], []).append(template)
    missing = [step for step in ("early", "question", "answer", *row.items("uses")) if step not in steps]
    if missing:
        raise clash(f"the plot '{row['plot']}' has no row for {', '.join(missing)}", row)
    return Plot(row["plot"], own, shared, row["late"] == "all", row.items("uses"), steps, row)


def _beat(row: Row, lexicon: Lexicon) -> Template:
    name = f"{row['plot']}.{row['step']}"
    if row["step"] != "answer":
        return parse_template(name, row.words("english"), row.words("chinese"), row, lexicon)
    whole = parse_template(name, (*row.words("english"), "."), row.words("chinese"), row, lexicon)
    return Template(name, whole.english[:-1], whole.chinese, row)


def draw_plot(plot: Plot, cast: Cast, rng: Random) -> Drawn:
    """Sample who and what plays the roles of a plot: three threads, each with its own players, and a question about one
    of the threads.

    The plot's words are added to ``cast.taken``, so that scenes do not use them.

    Raises:
        TableError: if the cast has too few players.
    """
    threads = _threads(plot, cast, rng)
    queried = randint(rng, THREADS)
    beats = [beat for step in TOLD for beat in _told(plot, step, threads, queried, cast, rng)]
    question, *_ = plot.beats["question"]
    answer, *_ = plot.beats["answer"]
    _take(threads, cast)
    return Drawn(plot, tuple(beats), say(question, threads[queried], cast.lexicon),
                 say(answer, threads[queried], cast.lexicon),
                 tuple(say(answer, bound, cast.lexicon).words for bound in threads))


def draw_threads(plot: Plot, cast: Cast, rng: Random, count: int = THREADS) -> list[Thread]:
    """Sample threads of a plot, each with its sentences, question and answer.

    The plot's words are added to ``cast.taken``.

    Raises:
        TableError: if the cast has too few players.
    """
    threads = _threads(plot, cast, rng)[:count]
    drawn = [_thread(plot, bound, cast, rng) for bound in threads]
    _take(threads, cast)
    return drawn


def _thread(plot: Plot, bound: Bindings, cast: Cast, rng: Random) -> Thread:
    question, answer = plot.beats["question"][0], plot.beats["answer"][0]
    others = (bound | {role.name: thing} for role in (*plot.own, *plot.shared) if role.name in answer.variables
              for thing in (bound[role.name], *cast.pool(role)))
    return Thread(plot, tuple(_said(plot, step, bound, cast, rng) for step in plot.uses),
                  say(question, bound, cast.lexicon), say(answer, bound, cast.lexicon),
                  tuple(dict.fromkeys(say(answer, other, cast.lexicon).words for other in others)))


def _threads(plot: Plot, cast: Cast, rng: Random) -> list[Bindings]:
    shared = cast.fill(plot.shared, rng, {})
    used: list[Thing] = []
    threads = []
    for _ in range(THREADS):
        drawn = (cast.fill(plot.own, rng, shared or {}, used) for _ in range(TRIES))
        bound = next((one for one in drawn if one is not None and _can_be_told(plot, one, cast)), None)
        if shared is None or bound is None:
            raise clash(f"the plot '{plot.name}' has too few players for {THREADS} threads", plot.row)
        used += [bound[role.name] for role in plot.own]
        threads.append(bound)
    return threads


def _open(templates: list[Template], bound: Bindings, cast: Cast) -> list[Template]:
    """The templates that contain no held-out combination of words."""
    return [template for template in templates if not combines_held(template, bound, cast.lexicon, cast.held)]


def _can_be_told(plot: Plot, bound: Bindings, cast: Cast) -> bool:
    return all(_open(templates, bound, cast) for templates in plot.beats.values())


def _told(plot: Plot, step: str, threads: list[Bindings], queried: int, cast: Cast, rng: Random) -> Iterator[Beat]:
    if step not in plot.beats:
        return
    for place, bound in enumerate(threads):
        if step == "late" and place != queried and not plot.late_for_all:
            continue
        yield Beat(step, _said(plot, step, bound, cast, rng), place == queried and step in plot.uses)


def _said(plot: Plot, step: str, bound: Bindings, cast: Cast, rng: Random) -> Sentence:
    template = choice(rng, _open(plot.beats[step], bound, cast))
    filled = cast.fill(roles_of(template, bound), rng, bound)
    if filled is None:
        raise TableError(f"no player is left for '{template.id}' ({template.row.place})")
    return say(template, filled, cast.lexicon)


def _take(threads: list[Bindings], cast: Cast) -> None:
    cast.taken.update(form for bound in threads for thing in bound.values() if isinstance(thing, Word)
                      for form in thing.forms.values())
