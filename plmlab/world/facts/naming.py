"""Sampling of entities from the tables of names: people in families, places, and names composed of parts."""

from itertools import product
from pathlib import Path
from random import Random

from plmlab.draws import randint, sample, shuffled
from plmlab.world.facts.relations import NAMED, VALUES, Entity
from plmlab.world.lexicon import Lexicon
from plmlab.world.tables import TABLES, Row, TableError, read_table, unique


def value(kind: str, surface: str, chinese: tuple[str, ...], **traits: str) -> Entity:
    """Create a value as an entity with the one-word name ``surface`` and a key such as "year:1952"."""
    return Entity(f"{kind}:{surface}", kind, (surface,), chinese, traits)


def name(kind: str, words: tuple[str, ...], chinese: tuple[str, ...], **traits: str) -> Entity:
    """Create a named entity; its key combines its kind and its words, as in "person:Anna Bell"."""
    return Entity(f"{kind}:{' '.join(words)}", kind, words, chinese, traits)


def draw_entities(counts: dict[str, int], years: range, lexicon: Lexicon, rng: Random,
                  folder: Path = TABLES) -> list[Entity]:
    """Sample the named entities, and list all values that facts may use.

    Args:
        counts: kind → number of entities; a missing kind gets none.
        years: the years of the world, which become values.

    Raises:
        TableError: for an unknown kind, or fewer names in the tables than requested.
    """
    for kind in counts:
        if kind not in NAMED:
            raise TableError(f"unknown kind '{kind}' (sizes.toml); the kinds are {', '.join(NAMED)}")
    places = _places(folder)
    entities: list[Entity] = []
    for kind in ("country", "river", "town"):
        entities += _some(kind, places[kind], counts, rng)
    towns = [entity for entity in entities if entity.kind == "town"]
    entities += draw_people(counts.get("person", 0), rng, folder)
    composed = _composed(towns, folder)
    for kind in ("film", "book", "cafe", "company"):
        entities += _some(kind, composed[kind], counts, rng)
    return entities + _values(years, lexicon, folder)


def _some(kind: str, pool: list[Entity], counts: dict[str, int], rng: Random) -> list[Entity]:
    if counts.get(kind, 0) > len(pool):
        raise TableError(f"{counts[kind]} entities of kind '{kind}' are requested, but the tables yield {len(pool)}")
    return sample(rng, pool, counts.get(kind, 0))


def _places(folder: Path) -> dict[str, list[Entity]]:
    rows = read_table("places.tsv", required=("name", "kind", "chinese"), folder=folder)
    unique(rows, "name")
    unique(rows, "chinese", "kind")
    pools: dict[str, list[Entity]] = {"town": [], "country": [], "river": []}
    for row in rows:
        pools[row["kind"]].append(name(row["kind"], row.words("name"), row.words("chinese")))
    return pools


def draw_people(count: int, rng: Random, folder: Path = TABLES) -> list[Entity]:
    """Sample ``count`` people in families of one to three, all with different names; relatives share the trait
    'family'.

    Raises:
        TableError: if people.tsv has too few names.
    """
    rows = read_table("people.tsv", required=("word", "role", "chinese"), folder=folder)
    unique(rows, "word")
    unique(rows, "chinese", "role")
    given = [row for row in rows if row["role"] != "family"]
    surnames = shuffled(rng, [row for row in rows if row["role"] == "family"])
    if count > len(given) * len(surnames) // 4:
        raise TableError(f"{count} people are requested, but the names in people.tsv are enough for only "
                         f"{len(given) * len(surnames) // 4}")
    if count < 20:
        given, surnames = sample(rng, given, max(2, count - 2)), surnames[:max(2, count // 2)]
    people: dict[str, Entity] = {}
    house = 0
    while len(people) < count:
        surname = surnames[house % len(surnames)]
        for first in sample(rng, given, min(1 + randint(rng, 3), count - len(people))):
            person = _person(first, surname, house)
            people.setdefault(person.key, person)
        house += 1
    return list(people.values())


def _person(first: Row, surname: Row, house: int) -> Entity:
    return name("person", (first["word"], surname["word"]), (first["chinese"], "·", surname["chinese"]),
                gender=first["role"], family=str(house))


def _composed(towns: list[Entity], folder: Path) -> dict[str, list[Entity]]:
    rows = read_table("titles.tsv", required=("kind", "part", "english", "chinese"), folder=folder)
    unique(rows, "kind", "part", "english")
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        parts.setdefault((row["kind"], row["part"]), []).append(row)
    surnames = [row for row in read_table("people.tsv", folder=folder) if row["role"] == "family"]
    return {
        "film": [name("film", a.words("english") + b.words("english"), _title(a.words("chinese") + b.words("chinese")))
                 for a, b in product(parts["film", "first"], parts["film", "second"])],
        "cafe": [name("cafe", a.words("english") + b.words("english"), a.words("chinese") + b.words("chinese"))
                 for a, b in product(parts["cafe", "first"], parts["cafe", "second"])],
        "book": [name("book", _filled(frame.words("english"), town.words),
                      _title(_filled(frame.words("chinese"), town.chinese)))
                 for frame, town in product(parts["book", "frame"], towns)],
        "company": [name("company", (surname["word"], suffix["english"]),
                         (surname["chinese"], *suffix.words("chinese")), makes=suffix["makes"])
                    for surname, suffix in product(surnames, parts["company", "suffix"])]}


def _title(words: tuple[str, ...]) -> tuple[str, ...]:
    return ("《", *words, "》")


def _filled(frame: tuple[str, ...], town: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for part in frame for word in (town if part == "TOWN" else (part,)))


def _values(years: range, lexicon: Lexicon, folder: Path) -> list[Entity]:
    numbers = read_table("numbers.tsv", required=("word", "value", "chinese"), folder=folder)
    unique(numbers, "word")
    values = [value("year", str(year), (str(year), "年"), value=str(year)) for year in years]
    values += [value("number", row["word"], row.words("chinese"), value=row["value"]) for row in numbers]
    for kind in VALUES:
        values += [value(kind, word.lemma, word.chinese, word=word.key) for word in lexicon.classes.get(kind, ())]
    return values
