"""Growth that is led by the gold graph: the right pages are read whatever the weights say; led by none, it is as ever.
"""

import pytest
import torch

from plmlab.chapters.ch14 import test_set
from plmlab.chapters.ch14.answering import start_search
from plmlab.chapters.ch14.gold_graphs import gold_graph
from plmlab.chapters.ch14.training import pages
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogqa import CogQA
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch14.oracles import GoldPathSearch

ASKED = test_set.questions("test")["3 hops"][:4] + test_set.questions("test")["2 hops"][:4]


@pytest.fixture(scope="module")
def model() -> CogQA:
    """One that points at [CLS] alone: it follows nothing."""
    torch.manual_seed(0)
    made = CogQA.from_pretrained(BERT(BERTConfig(len(world_tokenizer()), 192, 2, 16, 2, 32, dropout=0.0,
                                                 attention_dropout=0.0))).eval()
    with torch.no_grad():
        made.output.weight.zero_()
        made.output.bias.zero_()
    return made


@pytest.mark.parametrize("hops", [0, 1, 2, 9])
def test_so_many_hops_are_led(model: CogQA, hops: int) -> None:
    told = pages("test")
    for question in ASKED:
        gold = gold_graph(question, told)
        asked = start_search(model, told, question, GoldPathSearch, gold=gold, gold_hops=hops)
        *_, last = asked.states()
        ways = [told.title(key) for key in question.needed]
        expected = set(ways[:hops + 1])
        found = {node for node, data in last.graph.nodes(data=True) if data["hop"]}
        assert found == expected
        for source, target in last.graph.edges:
            if last.graph.nodes[target]["hop"]:
                assert (source, target) in gold.edges
                assert last.graph.edges[source, target]["clue"] in gold.nodes[target].clues


def test_led_by_none_it_is_as_it_always_is(model: CogQA) -> None:
    told = pages("test")
    for question in ASKED[:3]:
        plain, led = start_search(model, told, question), start_search(model, told, question, GoldPathSearch,
                                                                       gold=gold_graph(question, told))
        assert [*plain.finished().graph.edges(data=True)] == [*led.finished().graph.edges(data=True)]
