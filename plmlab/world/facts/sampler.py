"""Sampling of a world's facts so that they are mutually consistent (for example, students are younger than
teachers)."""

from collections.abc import Iterable
from random import Random

from plmlab.draws import choice, randint, shuffled
from plmlab.world.facts.relations import Entity, Triple

LAST_BIRTH = 0.6      # people are born in this first fraction of the world's years


class FactSampler:
    """Samples the triples of a world, relation by relation.

    ``entities`` are those of :func:`plmlab.world.facts.naming.draw_entities`. The order of the draws is fixed, so the
    same seed gives the same world. Facts about kinds of entities that the world lacks are left out (a small world has
    no companies).
    """

    def __init__(self, entities: Iterable[Entity], rng: Random):
        self.rng = rng
        self.triples: list[Triple] = []
        self._kinds: dict[str, list[Entity]] = {}
        for entity in entities:
            self._kinds.setdefault(entity.kind, []).append(entity)
        self.years = self.all("year")
        self.birth: dict[Entity, int] = {}
        self.craft: dict[Entity, Entity] = {}
        self.home: dict[Entity, Entity] = {}

    def all(self, kind: str) -> list[Entity]:
        """All entities of a kind, in the order in which they were given; empty if the world has no such entity."""
        return self._kinds.get(kind, [])

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.rng.random() < probability

    def say(self, subject: Entity, relation: str, target: Entity) -> None:
        """Add the fact relation(subject, target) to ``triples``."""
        self.triples.append(Triple(subject.key, relation, target.key))

    def say_some(self, subject: Entity, relation: str, pool: list[Entity], probability: float = 1.0) -> None:
        """With this probability, add a fact whose object is drawn from the pool, unless the pool is empty."""
        if pool and self.chance(probability):
            self.say(subject, relation, choice(self.rng, pool))

    def draw(self) -> list[Triple]:
        """Sample all triples of the world, in a fixed order; to be called only once."""
        for part in (self.towns, self.families, self.crafts, self.homes, self.habits, self.teachers,
                     self.companies, self.cafes, self.books, self.films):
            part()
        return self.triples

    def towns(self) -> None:
        """Sample a country, a population and possibly a river for every town; a country's capital is its largest
        town."""
        countries = self.all("country")
        sizes = shuffled(self.rng, self.all("number"))
        largest: dict[Entity, tuple[int, Entity]] = {}
        for place, town in enumerate(self.all("town")):
            country = countries[place % len(countries)]
            size = sizes[place % len(sizes)]
            self.say(town, "in_country", country)
            self.say(town, "population", size)
            self.say_some(town, "on_river", self.all("river"), 0.6)
            largest[country] = max(largest.get(country, (0, town)), (size.number, town), key=lambda pair: pair[0])
        for country, (_, town) in largest.items():
            self.say(country, "capital", town)

    def families(self) -> None:
        """Sample a birthplace and a year of birth for every person; relatives are siblings, born in the same town a few
        years apart."""
        houses: dict[str, list[Entity]] = {}
        for person in self.all("person"):
            houses.setdefault(person.traits["family"], []).append(person)
        span = len(self.years)
        for house in houses.values():
            town = choice(self.rng, self.all("town"))
            eldest = randint(self.rng, max(1, int(span * LAST_BIRTH) - 2 * len(house)))
            for place, person in enumerate(house):
                self.birth[person] = eldest + place * min(3, max(1, span // 40))
                self.say(person, "born_in", town)
                self.say(person, "birth_year", self.years[self.birth[person]])
            for person in house:
                for other in house:
                    if other is not person:
                        self.say(person, "sibling_of", other)

    def crafts(self) -> None:
        """Sample a craft for every person.

        There are enough directors, writers and actors for the films and books, and some musicians; the others get any
        other craft.
        """
        crafts = {craft.name: craft for craft in self.all("craft")}
        people = shuffled(self.rng, self.all("person"))
        shares = {"director": -(-len(self.all("film")) // 3), "writer": -(-len(self.all("book")) // 3),
                  "actor": -(-len(self.all("film")) // 2), "musician": len(people) // 12}
        roles = [role for role, count in shares.items() if role in crafts for _ in range(count)]
        ordinary = [craft for role, craft in crafts.items() if role not in shares]
        for place, person in enumerate(people):
            self.craft[person] = crafts[roles[place]] if place < len(roles) else choice(self.rng, ordinary)
            self.say(person, "occupation", self.craft[person])

    def homes(self) -> None:
        """Sample a home for every person, and marriages. Couples live in the same town and satisfy ``match``."""
        women = [person for person in self.all("person") if person.traits["gender"] == "woman"]
        men = shuffled(self.rng, [person for person in self.all("person") if person.traits["gender"] == "man"])
        for woman in women:
            self.home[woman] = choice(self.rng, self.all("town"))
            groom = next((man for man in men if man not in self.home and self.match(woman, man)), None)
            if groom and self.chance(0.6):
                self.home[groom] = self.home[woman]
                self.say(woman, "married_to", groom)
                self.say(groom, "married_to", woman)
        for person in self.all("person"):
            if person not in self.home:
                self.home[person] = choice(self.rng, self.all("town"))
            self.say(person, "lives_in", self.home[person])

    def match(self, woman: Entity, man: Entity) -> bool:
        """Whether two people may marry: they are born less than ten years apart and have different family names."""
        years = abs(self.years[self.birth[woman]].number - self.years[self.birth[man]].number)
        return years < 10 and woman.words[-1] != man.words[-1]

    def habits(self) -> None:
        """Sample the instruments, foods and pets of people.

        All musicians and about a third of the others play an instrument, everyone likes a food, and half keep a pet.
        """
        for person in self.all("person"):
            musician = self.craft[person].name == "musician"
            self.say_some(person, "plays", self.all("instrument"), 1.0 if musician else 0.35)
            self.say_some(person, "likes", self.all("food"))
            self.say_some(person, "keeps", self.all("pet"), 0.5)

    def teachers(self) -> None:
        """Sample a teacher for most people, with the same craft and at least fifteen years older, if there is one."""
        for person in self.all("person"):
            elders = [other for other in self.all("person") if self.craft[other] == self.craft[person]
                      and self.year(other) + 15 <= self.year(person)]
            self.say_some(person, "taught_by", elders, 0.7)

    def year(self, person: Entity) -> int:
        """The year in which a person was born."""
        return self.years[self.birth[person]].number

    def later(self, earliest: int, latest: int) -> Entity:
        """A random year between ``earliest`` and ``latest``; the world's last year if none of its years is in this
        range."""
        return choice(self.rng, [year for year in self.years if earliest <= year.number <= latest] or self.years[-1:])

    def of(self, *crafts: str) -> list[Entity]:
        """The people with one of these crafts, or all people if there are none."""
        return [person for person in self.all("person") if self.craft[person].name in crafts] or self.all("person")

    def companies(self) -> None:
        """Sample a town, a founder, a founding year and a product for every company, and employees."""
        founders = shuffled(self.rng, self.of("engineer", "carpenter", "mechanic", "tailor", "architect",
                                              "blacksmith", "scientist", "lawyer"))
        for place, company in enumerate(self.all("company")):
            founder = founders[place % len(founders)]
            names = company.traits["makes"].split(",")
            self.say(company, "located_in", choice(self.rng, self.all("town")))
            self.say(company, "founded_by", founder)
            self.say(company, "founded_in", self.later(self.year(founder) + 22, self.year(founder) + 50))
            self.say_some(company, "makes", [product for product in self.all("product") if product.name in names])
        for person in self.all("person"):
            if self.craft[person].name not in ("director", "writer", "actor", "musician", "farmer"):
                self.say_some(person, "works_for", self.all("company"), 0.6)

    def cafes(self) -> None:
        """Sample an owner and a food for every café; the café is in the owner's home town."""
        owners = shuffled(self.rng, self.of("baker", "chef", "waiter", "butcher", "fisherman", "gardener",
                                            "sailor", "potter", "painter"))
        for place, cafe in enumerate(self.all("cafe")):
            owner = owners[place % len(owners)]
            self.say(cafe, "located_in", self.home[owner])
            self.say(cafe, "owned_by", owner)
            self.say_some(cafe, "serves", self.all("food"))

    def books(self) -> None:
        """Sample a writer for every book, and a year in which the writer is 22 to 40 years old (otherwise the world's
        last year)."""
        writers = self.of("writer")
        for book in self.all("book"):
            writer = choice(self.rng, writers)
            self.say(book, "written_by", writer)
            self.say(book, "published_in", self.later(self.year(writer) + 22, self.year(writer) + 40))

    def films(self) -> None:
        """Sample a director, a year, a café, up to two actors, and possibly an older book as source for every film.

        No two films are shot at the same café as long as there are enough cafés.
        """
        cafes = shuffled(self.rng, self.all("cafe"))
        books = shuffled(self.rng, self.all("book"))
        published = {triple.subject: int(triple.object.split(":")[1])
                     for triple in self.triples if triple.relation == "published_in"}
        for place, film in enumerate(self.all("film")):
            director = choice(self.rng, self.of("director"))
            year = self.later(self.year(director) + 24, self.year(director) + 50)
            self.say(film, "directed_by", director)
            self.say(film, "film_year", year)
            if cafes:
                self.say(film, "shot_at", cafes[place % len(cafes)])
            actors = [actor for actor in self.of("actor") if self.year(actor) + 8 <= year.number]
            for actor in shuffled(self.rng, actors)[:2]:
                self.say(film, "stars", actor)
            older = [book for book in books if published[book.key] < year.number]
            if older and self.chance(0.5):
                self.say(film, "based_on", older[0])
                books.remove(older[0])
