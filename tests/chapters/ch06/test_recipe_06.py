"""Chapter 06's recipe: its sentences, its measures against oracles that are known, its record."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
import torch
from torch import nn
from toy_size import changed

from plmlab.chapters.ch06 import agreement, backwards, long_chains
from plmlab.chapters.ch06.agreement import FAR, NEAR, development_sentences, ids, training_sentences
from plmlab.chapters.ch06.agreement import test_set as evaluation_set
from plmlab.chapters.ch06.models import LSTM, SinusoidalGPT2
from plmlab.example import IGNORE, Batch
from plmlab.models.gpt import GPTConfig
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.recipes import recorded
from studies.ch06.recipe import PILOTS, SEEDS


class Says(nn.Module):
    """A reader whose favourite at every position is a function of the batch."""

    def __init__(self, favourite, size: int) -> None:
        super().__init__()
        self.favourite, self.size = favourite, size

    def forward(self, batch: Batch) -> torch.Tensor:
        return nn.functional.one_hot(self.favourite(batch), self.size).float()


@pytest.fixture(scope="module")
def few_sentences() -> Iterator[None]:
    """Of each part the first 250 sentences."""
    agreement_sentences = agreement.agreement_sentences
    with changed((agreement, "agreement_sentences", lambda split, seed,
                  count: agreement_sentences(split, seed, min(count, 250))),
                 forget=(training_sentences, evaluation_set, development_sentences, ids)):
        yield


def test_each_sentence_joins_a_noun_to_its_verb_over_a_chain_of_places(few_sentences: None) -> None:
    sets = training_sentences(), evaluation_set(), development_sentences()
    parts = [{sentence.text for sentence in part} for part in sets]
    assert not parts[0] & parts[1] and not parts[1] & parts[2] and not parts[0] & parts[2]
    for sentence in sets[0] + sets[1] + sets[2]:
        (link,) = sentence.agreement
        assert (link.subject, link.verb) == (1, len(sentence.words) - 3)
        assert ("is" if link.number == "sg" else "are") == sentence.words[link.verb]
    between = Counter(len(sentence.words) - 5 for sentence in evaluation_set())
    assert all(any(between[d] for d in reach) for reach in (NEAR, FAR))


def test_agreement_is_one_for_who_knows_and_the_share_of_is_for_who_always_says_it(few_sentences: None) -> None:
    size, words = agreement.vocab().size, ids()
    knows = Says(lambda batch: batch.targets.clamp(min=0), size)
    assert set(agreement.agreement(knows).values()) == {1.0}
    wrong = {words["is"]: words["are"], words["are"]: words["is"]}
    contrary = Says(lambda batch: batch.targets.clamp(min=0).apply_(lambda id: wrong.get(id, id)), size)
    assert set(agreement.agreement(contrary).values()) == {0.0}
    told = agreement.agreement(Says(lambda batch: torch.full_like(batch.tokens, words["is"]), size))
    for distance, share in told.items():
        here = [s.words[-3] == "is" for s in evaluation_set() if len(s.words) - 5 == distance]
        assert share == pytest.approx(sum(here) / len(here)) and 0.2 < share < 0.8


@pytest.mark.parametrize("between", [3, 4, 6, 7, 8, 9, 10, 11, 50, 200, 500])
def test_a_long_chain_is_as_long_as_asked_and_its_verb_agrees_with_the_first_noun(between: int) -> None:
    nouns, _, known = long_chains.words()
    plural = {form: form == several for one, several in nouns for form in (one, several)}
    numbers = []
    for seed in range(40):
        told, verb = long_chains.sample_sentence(between, Random(seed))
        assert len(told) == 2 + between and set(told) <= set(known)
        assert (verb == "are") == plural[told[1]]
        numbers.append((plural[told[1]], plural[told[-1]]))
    assert len(set(numbers)) == 4


@pytest.mark.parametrize("between", [0, 1, 2, 5])
def test_a_chain_that_cannot_be_built_is_refused(between: int) -> None:
    with pytest.raises(ValueError, match=f"between={between} is not a sum"):
        long_chains.sample_sentence(between, Random(0))


def test_only_the_verb_of_a_long_chain_is_asked_and_marked() -> None:
    batch, (_, _, known) = long_chains.batch_of(50, "a test", 7), long_chains.words()
    assert batch.tokens.shape == (7, 52) and (batch.targets[:, :-1] == IGNORE).all()
    assert set(batch.targets[:, -1].tolist()) <= {known["is"], known["are"]}
    size = max(known.values()) + 1
    assert long_chains.accuracy(Says(lambda batch: batch.targets.clamp(min=0), size), 50) == 1.0
    always = long_chains.accuracy(Says(lambda batch: torch.full_like(batch.tokens, known["is"]), size), 50)
    assert 0.4 < always < 0.6


def test_an_lstm_with_a_memory_forgets_slowly_and_one_without_at_once() -> None:
    torch.manual_seed(0)
    kept = {}
    for memory in (None, 200):
        lstm = LSTM(50, width=64, layers=1, memory=memory)
        first = lstm.token.weight[torch.randint(50, (1, 100))].detach().requires_grad_()
        lstm.steps(first)[0][:, -1].sum().backward()
        kept[memory] = first.grad[0, 0].norm() / first.grad[0, -1].norm()
    assert kept[200] > 1e-3 > 1e-12 > kept[None]


def test_the_sinusoidal_decoder_starts_from_what_the_paper_s_decoder_starts_from() -> None:
    torch.manual_seed(0)
    ours = SinusoidalGPT2(GPTConfig(50, layers=1, model=32, heads=4, dropout=0.0)).eval()
    paper = Transformer(TransformerConfig(50, layers=1, model=32)).eval()
    paper.token.weight.data.copy_(ours.embeddings.token.weight)
    batch = Batch.continuing(torch.randint(50, (2, 600)), 0)
    assert torch.allclose(ours.embeddings(batch), paper.decoder.embeddings(batch), atol=1e-6)


def test_letters_come_out_backwards() -> None:
    batch = backwards.reversals(batch=9)(3)
    for source, target in zip(batch.source.tokens.tolist(), batch.target.targets.tolist(), strict=True):
        letters = [id for id in source if id in range(39, 65)]
        assert [id for id in target if id != IGNORE][:-1] == letters[::-1] and 4 <= len(letters) <= 12


def test_what_is_recorded_is_what_the_recipe_measures() -> None:
    numbers = recorded("06")["numbers"]
    assert not set(PILOTS) & set(SEEDS)
    short, long, heads = numbers["agreement"], numbers["long chains"], numbers["heads"]
    for kind, told in short["kinds"].items():
        assert kind in agreement.KINDS and told["parameters"] == pytest.approx(122_000, rel=0.02)
        assert all(point["seeds"] == list(SEEDS) for reach in ("near", "far") for point in told[reach])
        assert len(told["near"]) == len(told["far"]) == len(short["steps"])
    for told in long["kinds"].values():
        assert told["parameters"] == pytest.approx(104_000, rel=0.02)
        assert all(len(told[str(n)]["seen"]) == len(long["steps"]) for n in long_chains.LENGTHS)
    for told in (*short["kinds"].values(), *long["kinds"].values(), *heads["heads"].values()):
        rates = dict(told["rates"])
        assert min(rates) < told["lr"] < max(rates) and rates[told["lr"]] == max(rates.values())
    runs = sum(len(PILOTS) * len(told["rates"]) + len(SEEDS) * len(long_chains.LENGTHS)
               for told in long["kinds"].values())
    assert runs <= 30
