"""Stories: a reader of regular expressions, which knows nothing of the generator, answers their questions."""

import hashlib
import re
from collections import Counter
from itertools import islice

import pytest

from plmlab.world import World
from plmlab.world.documents.stories import StoryError, Storyteller
from plmlab.world.documents.templates import wide_lexicon
from plmlab.world.tables import TableError, read_table

# What the reader takes from a sentence: (memory, sentence, the groups that are the key, the group that is kept).
MEMORIES = [
    ("inside", r"(?:put|hid|laid|packed) the (?P<o>\w+) (?:into|in) the (?P<v>[\w ]+?)(?: and| ,| \.)", "o"),
    ("inside", r"had no use for the (?P<o>\w+) and put it into the (?P<v>[\w ]+?) \.", "o"),
    ("moved", r"carried the (?P<c>\w+) to the (?P<v>\w+) and", "c"),
    ("moved", r"to carry the (?P<c>\w+) to the (?P<v>\w+) ,", "c"),
    ("moved", r"the (?P<c>\w+ suitcase) went to (?P<v>[\w ]+) by train", "c"),
    ("moved", r"sent the (?P<c>\w+ suitcase) to h\w\w family in (?P<v>[\w ]+) \.", "c"),
    ("handed", r"gave the (?P<c>\w+) to (?P<v>[A-Z]\w+) (?:,|\.)", "c"),
    ("handed", r"since (?P<v>\w+) wanted to leave , \w+ gave h\w\w the (?P<c>\w+) for", "c"),
    ("handed", r"^(?P<v>\w+) asked for the (?P<c>\w+) , and \w+ gave it to", "c"),
    ("left", r"had given h\w\w , (?P<r>\w+) left at the (?P<v>\w+)", "r"),
    ("left", r"^(?P<r>\w+) went to the (?P<v>\w+) and left there what", "r"),
    ("uncle", r"^(?P<v>\w+) told the others about h\w\w uncle , who always wore an? (?P<h>\w+ hat)", "h"),
    ("uncle", r"^(?P<v>\w+) had an uncle whom everyone knew by his (?P<h>\w+ hat)", "h"),
    ("seen", r"in front of the (?P<l>\w+) stood a stranger with an? (?P<v>\w+ hat)", "l"),
    ("seen", r"a man with an? (?P<v>\w+ hat) came out of the (?P<l>\w+) ,", "l"),
    ("met", r"^(?P<p>\w+) told the story of how s?he first met (?P<q>\w+) , at the (?P<v>\w+)", "qp"),
    ("met", r"ago (?P<p>\w+) met (?P<q>\w+) for the first time at the (?P<v>\w+)", "qp"),
    ("waits", r"^(?P<p>\w+) wrote to (?P<q>\w+) : wait for (?P<v>me) where we first met", "qp"),
    ("waits", r"^(?P<p>\w+) asked (?P<q>\w+) to wait for h\w\w at the (?P<v>place)", "qp"),
    ("lender", r"^(?P<p>\w+) borrowed an? (?P<o>\w+) from (?P<v>\w+)", "po"),
    ("lender", r"^(?P<v>\w+) lent (?P<p>\w+) an? (?P<o>\w+) ,", "po"),
    ("returned", r"home (?P<p>\w+) brought the (?P<o>\w+) (?P<v>back)", "po"),
    ("returned", r"^(?P<p>\w+) cleaned the (?P<o>\w+) and gave it (?P<v>back)", "po"),
    ("promised", r"^(?P<p>\w+) promised (?P<r>\w+) (?P<v>an? \w+) for", "pr"),
    ("promised", r"^(?P<r>\w+) wished for (?P<v>an? \w+) , and (?P<p>\w+) promised", "pr"),
    ("kept", r"birthday of (?P<r>\w+) , (?P<p>\w+) (?P<v>kept)", "pr"),
    ("kept", r"when (?P<r>\w+) came in , (?P<p>\w+) (?P<v>gave) h\w\w what", "pr"),
    ("word", r'secret word of the (?P<b>\w+) (?:was|:) " (?P<v>\w+) "', "b"),
]


def read(lines: list[str]) -> dict[str, dict]:
    """What the reader remembers: memory → {key: kept}."""
    memory: dict[str, dict] = {name: {} for name, _, _ in MEMORIES}
    for line in lines:
        for name, pattern, key in MEMORIES:
            match = re.search(pattern, line)
            if match:
                memory[name][tuple(match[group] for group in key)] = match["v"]
    return memory


def answer(question: str, known: dict[str, dict]) -> str | None:
    """What the reader answers; None where it does not know."""
    thing = re.search(r"the (\w+) \?|(?:is|has|did) the (\w+) ", question)
    inside = known["inside"].get((next(filter(None, thing.groups())),)) if thing else None
    if question.startswith("in which building"):
        place = known["moved"].get((inside,))
        return place and f"in the {place}"
    if question.startswith("to which town"):
        return known["moved"].get((inside,))
    if question.startswith("who has"):
        return known["handed"].get((inside,))
    if question.startswith("where is") and " now " in question:
        place = known["left"].get((known["handed"].get((inside,)),))
        return place and f"at the {place}"
    if question.startswith("where is"):
        return inside and f"in the {inside}"
    if question.startswith("whose uncle"):
        return known["uncle"].get((known["seen"].get((re.search(r"at the (\w+)", question)[1],)),))
    if question.startswith("which word"):
        return known["word"].get((re.search(r"of the (\w+)", question)[1],))
    if question.startswith("where will"):
        pair = re.match(r"where will (\w+) wait for (\w+)", question).groups()
        place = known["met"].get(pair) if pair in known["waits"] else None
        return place and f"at the {place}"
    if question.startswith("to whom did"):
        pair = re.match(r"to whom did (\w+) bring back the (\w+)", question).groups()
        return known["lender"].get(pair) if pair in known["returned"] else None
    pair = re.match(r"what did (\w+) give (\w+)", question).groups()
    return known["promised"].get(pair) if pair in known["kept"] else None


@pytest.fixture(scope="module")
def told(full) -> list:
    return list(islice(full.stories(seed=1), 20))


def test_every_plot_is_told_and_the_lengths_are_kept(full, told):
    plots = {row["plot"] for row in read_table("story_plots.tsv")}
    assert len(plots) >= 6
    assert {story.plot for story in told[:len(plots)]} == plots
    for story in told:
        assert 500 <= len(story.words) <= 4000
        assert story.words == tuple(word for said in story.sentences for word in said.words)
    assert max(len(story.words) for story in told) > 2500
    for least, most in ((500, 560), (1000, 1100), (3900, 4000)):
        for story in islice(full.stories(seed=2, words=(least, most)), 3):
            assert least <= len(story.words) <= most


def test_the_needed_sentences_alone_give_the_answer(told):
    for story in told:
        lines = [story.sentences[place].text for place in story.needed]
        assert answer(" ".join(story.question), read(lines)) == " ".join(story.answer), story.question


def test_the_whole_story_gives_the_same_answer(told):
    for story in told:
        lines = [said.text for said in story.sentences]
        assert answer(" ".join(story.question), read(lines)) == " ".join(story.answer), story.question


def test_without_any_one_of_the_needed_sentences_there_is_no_answer(told):
    for story in told:
        for missing in story.needed:
            lines = [said.text for place, said in enumerate(story.sentences) if place != missing]
            assert answer(" ".join(story.question), read(lines)) is None, story.question


def test_another_early_fact_gives_another_answer(told):
    """The decoy's value in the place of the true one: all else equal, the story then has another answer."""
    for story in told:
        lines = [said.text for said in story.sentences]
        first = story.needed[0]
        (name, kept), = [(name, kept) for name, kept in read([lines[first]]).items() if kept]
        (key, true), = kept.items()
        others = sorted(value for other, value in read(lines)[name].items() if other != key and value != true)
        assert len(others) == 2
        changed = [*lines[:first], lines[first].replace(true, others[0]), *lines[first + 1:]]
        found = answer(" ".join(story.question), read(changed))
        assert found != " ".join(story.answer)
        assert tuple(found.split()) in story.options


def test_the_early_fact_stands_in_the_first_quarter_and_the_late_one_in_the_last(full, told):
    short = list(islice(full.stories(seed=5, words=(500, 600)), 20))
    for story in (*told, *short):
        ends = [sum(len(said.words) for said in story.sentences[:place + 1]) for place in story.needed]
        assert ends[0] <= len(story.words) / 4, story.plot
        assert ends[-1] >= 3 * len(story.words) / 4 or len(ends) == 1, story.plot
    assert sum(len(story.needed) > 1 for story in told) >= len(told) // 2
    assert any(len(story.needed) == 3 for story in told)


def test_the_options_are_three_and_their_order_gives_nothing_away(full):
    stories = list(islice(full.stories(seed=3, words=(500, 600)), 30))
    places = Counter(story.options.index(story.answer) for story in stories)
    assert all(len(set(story.options)) == 3 for story in stories)
    assert all(3 <= places[place] <= 18 for place in range(3)), places


def test_the_same_people_go_through_the_whole_story(full, told):
    for story in told:
        people = {full.facts[key].words[0] for key in story.characters}
        assert len(people) == 4
        seen = [full.facts[mention.entity].words[0] for said in story.sentences for mention in said.mentions
                if mention.entity.startswith("person:")]
        assert set(seen) == people
        for start in range(0, len(seen) - 60, 60):
            assert len(set(seen[start:start + 60])) >= 3


def test_no_sentence_fills_a_page(told):
    """Scenes come again only after their deck: no sentence makes more than a fiftieth of a long story."""
    for story in told:
        if len(story.sentences) > 200:
            (_, count), = Counter(said.text for said in story.sentences).most_common(1)
            assert count <= len(story.sentences) / 25


def test_nothing_that_is_held_out_occurs_in_a_story(full, told):
    lexicon = wide_lexicon()
    names = [full.facts[key].words for key in full.held.entities]
    for story in told:
        for said in story.sentences:
            assert {mention.entity for mention in said.mentions}.isdisjoint(full.held.entities)
            assert all(full.facts.holds(full.facts[fact.subject], fact.relation, full.facts[fact.object])
                       and full.held.split_of(fact) == "train" for fact in said.facts)
            text = f" {said.text} "
            assert not any(f" {' '.join(name)} " in text for name in names)
            if said.pattern.startswith("scene."):        # written by the training grammar
                continue
            readings = {reading.key for word, tag in zip(said.words, said.tags, strict=True)
                        for reading, _ in lexicon.readings.get(word, ()) if reading.tag == tag and not reading.sense}
            assert not any(word in readings and noun in readings for word, noun in full.held.combinations), text


def test_every_word_has_its_tag_and_every_sentence_its_chinese(told):
    lexicon = wide_lexicon()
    for story in told:
        for said in story.sentences:
            for word, tag in zip(said.words, said.tags, strict=True):
                assert tag == "PROPN" or any(reading.tag == tag for reading, _ in lexicon.readings[word]), (word, tag)
            assert said.chinese and not re.search("[a-zA-Z{}]", "".join(said.chinese)), said.chinese
        assert story.question[-1] == "?" and story.question_chinese[-1] == "？" and story.answer_chinese


def test_the_same_seed_gives_the_same_story_everywhere(full, small):
    for made, wanted in ((full, "96833c9db381e1e5"), (small, "1ff61e3ef182f7fd")):
        story = next(made.stories(seed=7))
        text = "\n".join(f"{said.text}|{' '.join(said.chinese)}" for said in story.sentences)
        assert hashlib.sha256(text.encode()).hexdigest()[:16] == wanted
    assert next(full.stories(seed=8)).text != next(full.stories(seed=7)).text


def test_the_small_world_tells_stories_too(small):
    for story in islice(small.stories(seed=1, words=(500, 700)), 10):
        lines = [story.sentences[place].text for place in story.needed]
        assert answer(" ".join(story.question), read(lines)) == " ".join(story.answer)


@pytest.mark.parametrize("words", [(100, 4000), (500, 500), (2000, 1000), (500, 10**6)])
def test_impossible_lengths_are_refused_with_an_example(full, words):
    with pytest.raises(StoryError, match=r"a story has between 500 and 20,000 words.*words=\(500, 4000\)"):
        full.stories(words=words)


BROKEN = [
    # file, the new row (or what replaces what), what the error says
    ("story_scenes.tsv", "day.1\tday\t{p} sat .\t{p} 坐 着 。", None,
     r"'day.1' occurs twice \(story_scenes.tsv, row \d+; story_scenes.tsv, row \d+\)"),
    ("story_scenes.tsv", "x.1\tlater\t{p} sat .\t{p} 坐 着 。", None, r"unknown time 'later'"),
    ("story_scenes.tsv", "x.1\tday\t{p} sat . | {q} sat .\t{p} 坐 着 。", None,
     r"2 sentences in English and 1 in Chinese"),
    ("story_scenes.tsv", "x.1\tday\t{p} sat on {z} .\t{p} 坐 着 。", None, r"the variables z have no class"),
    ("story_scenes.tsv", "x.1\tday\t{p} sat on {z:spaceship} .\t{p} 坐 着 。", None, r"unknown class 'spaceship'"),
    ("story_scenes.tsv", "x.1\tday\t{p} sat .\t", None, r"'chinese' is empty"),
    ("story_plots.tsv", "keep\to:trinket\t\tone\tearly", None,
     r"'keep' occurs twice \(story_plots.tsv, row \d+; story_plots.tsv, row \d+\)"),
    ("story_plots.tsv", "lose\to:trinket\t\tone\tearly", None, r"'lose' has no row for early, question, answer"),
    ("story_plots.tsv", "lose\to=trinket\t\tone\tearly", None, r"'o=trinket' is not a role"),
    ("story_plots.tsv", "lose\to:dragon\t\tone\tearly", None, r"unknown class 'dragon' of 'o'"),
    ("story_plots.tsv", "keep\to:trinket c:case,chest.box\t\tsome", "keep\to:trinket c:case,chest.box\t\tone",
     r"'some' in the column late"),
    ("story_beats.tsv", "keep\tnever\tthe {o} .\t{o} 。", None, r"unknown plot or step 'keep never'"),
    ("story_beats.tsv", "keep\tearly\t{p:cast} put the {o} into the {x} .\t{o} 。", None,
     r"the variables x have no role in the plot \(story_plots.tsv, row \d+; story_beats.tsv, row \d+\)"),
]


def test_a_world_reads_its_own_tables_of_stories(edited):
    with pytest.raises(TableError, match=r"story_scenes\.tsv, row"):
        World("small", folder=edited(*BROKEN[0][:2])).stories()


@pytest.mark.parametrize("file, new, old, message", BROKEN, ids=lambda value: None)
def test_a_broken_table_of_stories_names_its_rows(small, edited, file: str, new: str, old: str | None, message: str):
    with pytest.raises(TableError) as caught:
        Storyteller(small.facts, small.held, edited(file, new, old))
    assert re.search(message, str(caught.value)), str(caught.value)
