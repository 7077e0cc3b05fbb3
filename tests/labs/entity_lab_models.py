"""An EaE and a FaE for the tests of the Retrieval Lab, and a KnowBERT for the Attention Lab: random weights, few
names."""

from dataclasses import replace
from functools import cache
from typing import Any

import torch
from entity_small import SIZE
from realm_small import scattered

from plmlab.labs import AttentionLab, RetrievalLab, RetrievalPreset
from plmlab.models.fae import FaE
from plmlab.models.knowbert import KnowBERT, KnowBERTConfig
from plmlab.models.memory_readers import EntityReader, FactReader
from plmlab.retrieval.facts import Fact
from plmlab.text.knowledge import KnowledgeBase
from plmlab.text.words import word_tokenizer

NAMES = ["Flora Farrow", "Vernon", "Alder", "Peter Quinn", "Norvik", "Drake Radio", "Dusk", "Red Anchor",
         "Judith Grant"]
RELATIONS = ["born in", "lives in", "knows", "works at"]
FACTS = [Fact(0, 0, (1,)), Fact(3, 0, (2,)), Fact(0, 2, (3, 8)), Fact(3, 3, (5,)), Fact(8, 1, (4,)),
         Fact(8, 2, (0, 3, 6))]
TEXT, OTHER = "Flora Farrow was born in [MASK] .", "[MASK] [MASK] works at Drake Radio ."
SENTENCE = "Flora Farrow knows Dusk , and Flora lives in Alder"
WORDS = word_tokenizer(sorted({*" ".join([*NAMES, *RELATIONS, "was dog . , and"]).split()}))
PRESETS = [RetrievalPreset("a birthplace", TEXT, "Vernon"), RetrievalPreset("two words", OTHER, "Peter Quinn")]
ENTITIES = KnowledgeBase(["flora", "other flora", "dusk", "alder"], {
    "Flora Farrow": {"flora": 1}, "Flora": {"flora": 2, "other flora": 1}, "Dusk": {"dusk": 1}, "Alder": {"alder": 1}},
    WORDS)
SENSES = KnowledgeBase(["live.verb"], {"lives": {"live.verb": 1}}, WORDS)


@cache
def model() -> FaE:
    """A FaE, which is an EaE too, with facts that matter."""
    made = scattered(FaE(replace(SIZE, vocab=len(WORDS))), 14).float()
    made.fact_memory.null.data.zero_()
    return made


def entities(**traits: Any) -> RetrievalLab:
    return RetrievalLab(EntityReader.of(model(), WORDS, NAMES), PRESETS, **traits)


def fact_reader() -> FactReader:
    return FactReader.of(model(), WORDS, NAMES, RELATIONS, FACTS)


def facts(**traits: Any) -> RetrievalLab:
    return RetrievalLab(fact_reader(), PRESETS, **traits)


@cache
def knowbert() -> KnowBERT:
    """Some likely entities have scores above the threshold, some below."""
    made = scattered(KnowBERT(KnowBERTConfig(
        len(WORDS), time=24, layers=3, model=12, heads=3, inner=20, dropout=0.0, attention_dropout=0.0, after=(1, 2),
        entities=(len(ENTITIES), len(SENSES)), widths=(8, 4), kar_heads=2, kar_inner=6))).float()
    for kar in made.kars:
        kar.linker.vectors.normal_(generator=torch.Generator().manual_seed(0))
        kar.linker.scorer[2].weight.data.neg_()
        kar.linker.scorer[2].bias.data.neg_().sub_(4.2)
    return made


def spans(**traits: Any) -> AttentionLab:
    lab = AttentionLab(knowbert(), WORDS, SENTENCE, knowledge=[ENTITIES, SENSES], name="KnowBERT")
    lab.set_state({"shown": 1} | traits)
    return lab
