"""Chapter 16's retrieval from real text: who is ranked first, and what counts as found."""

from plmlab.hf.minilm_vectors import encoded
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.wikipedia_questions import RealQuestion, Step
from studies.ch16.on_wikipedia import contains_evidence, ranked

TOLD = [Block("Aardvark", 0, ("It is a burrowing, nocturnal mammal.", "It eats ants and termites.")),
        Block("Alberta", 4, ("Alberta's capital Edmonton lies near its centre.",)),
        Block("Anarchism", 0, ("A political philosophy of self-governed societies.",))]
TEST_SIZE = [RealQuestion("one-hop", "what is the capital of Alberta ?", "Edmonton",
                      (Step("Alberta", "Edmonton", "Alberta's capital Edmonton"),)),
         RealQuestion("one-hop", "Which insects does the aardvark eat?", "ants",
                      (Step("Aardvark", "ants", "ants and termites"),))]


def test_what_counts_as_found() -> None:
    found = [[contains_evidence(block, one.steps[0]) for block in TOLD] for one in TEST_SIZE]
    assert found == [[False, True, False], [True, False, False]]
    assert not contains_evidence(Block("Alberta", 0, ("Alberta's capital Calgary",)), TEST_SIZE[0].steps[0])
    assert not contains_evidence(Block("Edmonton", 0, TOLD[1].sentences), TEST_SIZE[0].steps[0]), "another page"


def test_both_rank_the_block_that_answers_first() -> None:
    for rows in ranked(TOLD, TEST_SIZE).values():
        assert [row[0] for row in rows] == [1, 0]


def test_a_text_is_encoded_as_if_it_were_alone() -> None:
    texts = [(block.title, block.text) for block in TOLD]
    together = encoded(texts)
    assert together.norm(dim=1).allclose(together.new_ones(3), atol=1e-5)
    assert together[2:].allclose(encoded(texts[2:]), atol=1e-5)
