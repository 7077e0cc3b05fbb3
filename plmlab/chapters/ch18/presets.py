"""Statements as presets of the chapter's Retrieval Labs: with a masked entity for EaE, with a masked object for FaE."""

from plmlab.labs.retrieval.presets import RetrievalPreset
from plmlab.models.memory_readers import KEY
from plmlab.retrieval.facts import Fact
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.datasets.fact_worlds import fact_world
from plmlab.world.datasets.linked_texts import RELATIONS

WORLD = TEST_WORLDS[0]
ENTITIES = (
    ("the memory is needed", "[MASK] is the birthplace of Hugo Milton .", "Marbach"),
    ("the memory is not needed", "[MASK] [MASK] owns the Silver Mill Café .", "Susan Vance"),
    ("two entities are retrieved", "Nora Ellis comes from [MASK] [MASK] .", "Whitby Cross"),
    ("several answers are correct", "[MASK] [MASK] was born in South Haven .", ""),
    ("a river", "the [MASK] [MASK] flows through Stonebridge .", "River Orva"),
)
"""A preset's title, its text and the masked entity, in the full world. The first preset is shown initially."""
FACTS = (
    ("a fact of the memory", "Clara Grant works for [MASK] [MASK] .", "Drake Radio", ""),
    ("the fact is changed", "Karl Harlow works for [MASK] [MASK] .", "Walsh Motors", "Karl Harlow · works for"),
    ("a sentence contradicts the memory", "Walsh Motors employs Karl Harlow as a painter . Karl Harlow works for "
     "[MASK] [MASK] .", "Drake Radio", ""),
    ("the subject is masked", "[MASK] [MASK] works for Drake Radio .", "", ""),
    ("a fact with another relation", "Judith Grant founded [MASK] [MASK] in 1955 .", "Walsh Motors", ""),
)
"""A preset's title, its text, the answer, and the key of the fact whose object is replaced by this answer, if any."""


def entity_presets() -> list[RetrievalPreset]:
    """The presets for an EaE of the full world."""
    return [RetrievalPreset(title, text, answer) for title, text, answer in ENTITIES]


def title_of(fact: Fact) -> str:
    """The key of a fact of the world, as it is the title of a document."""
    return f"{fact_world(WORLD).entities[fact.subject].name}{KEY}{RELATIONS[fact.relation].replace('_', ' ')}"


def fact_presets() -> list[RetrievalPreset]:
    """The presets for a FaE with all facts of the first test world."""
    numbers = {title_of(fact): number for number, fact in enumerate(fact_world(WORLD).memory())}
    return [RetrievalPreset(title, text, answer, replaced={numbers[changed]: (changed, answer)} if changed else {})
            for title, text, answer, changed in FACTS]
