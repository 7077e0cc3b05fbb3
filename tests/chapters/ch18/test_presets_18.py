"""The presets of the chapter's labs: sentences that EaE was not trained on, and facts of FaE's world."""

from plmlab.chapters.ch18.presets import ENTITIES, FACTS, WORLD, entity_presets, fact_presets, title_of
from plmlab.world.datasets.fact_worlds import UNSEEN, fact_world
from plmlab.world.datasets.linked_statements import TEST, statements


def filled(text: str, name: str) -> str:
    """A text whose [MASK]s are replaced by a name of the same number of words."""
    gap = " ".join(["[MASK]"] * len(name.split()))
    assert text.count("[MASK]") == len(name.split()) and gap in text
    return text.replace(gap, name)


def test_the_masked_entities_are_those_of_held_out_statements() -> None:
    data = statements()
    held_out = {(" ".join(data.tokenizer.tokens(one.text.text)), data.world.facts[[*data.ids][one.entity]].name)
                for one in data.clozes[TEST]}
    for preset in entity_presets():
        if not preset.answer:
            assert preset.title == "several answers are correct"
            continue
        assert (filled(preset.text, preset.answer), preset.answer) in held_out
    assert len(entity_presets()) == len(ENTITIES)


def test_the_facts_are_those_of_the_world() -> None:
    world = fact_world(WORLD)
    names = [entity.name for entity in world.entities]
    stored = {title_of(fact): [names[each] for each in fact.objects] for fact in world.memory()}
    assert len(stored) == len(world.memory())
    for preset in fact_presets():
        for key, text in preset.replaced.values():
            assert text == preset.answer and stored[key] != [text]
        if preset.answer:
            assert filled(preset.text, preset.answer)
    [first] = [one for one in world.test if " ".join(one.sentence.words) == filled(FACTS[0][1], FACTS[0][2])]
    assert world.group(first.fact) == UNSEEN
