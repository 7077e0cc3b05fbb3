"""Diverse beam search against a rewrite that goes through all texts, its two limits, and three steps by hand."""

import math

import pytest
import torch
from writing import SMALL, VOCAB, a_gpt2, a_source, seeded, true_logprob, whims, without_cache

from plmlab.decode import ConditionedDecoder, TableLM, UncachedLM, beam_search, diverse_beam_search
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.text.vocabulary import Vocabulary

Text = tuple[int, ...]


def reference(model: UncachedLM, prompt: torch.Tensor, length: int, width: int, groups: int, strength: float,
              alpha: float) -> list[list[Text]]:
    """Each group's texts, the best first: every step of every open text, sorted. A group takes nothing more once it has
    enough texts and no open one could be better if all that comes were certain."""
    def score(text: Text, at: int | None = None) -> float:
        return true_logprob(model, prompt, text) / ((5 + (at or len(text))) / 6) ** alpha

    open: list[list[Text]] = [[()] for _ in range(groups)]
    finished: list[list[Text]] = [[] for _ in range(groups)]
    for step in range(length):
        taken: list[int] = []
        for group in range(groups):
            steps = sorted(((*text, token) for text in open[group] for token in range(4)), reverse=True,
                           key=lambda text: true_logprob(model, prompt, text) - strength * taken.count(text[-1]))
            ended = [text for text in steps[:width] if text[-1] == 3 or step == length - 1]
            finished[group] = sorted(finished[group] + ended, key=score, reverse=True)[:width]
            open[group] = [text for text in steps if text[-1] != 3][:width] if step < length - 1 else []
            if len(finished[group]) == width and all(score(text, length) <= score(finished[group][-1])
                                                     for text in open[group]):
                open[group] = []
            taken += [text[-1] for text in open[group] + ended]
    return finished


@pytest.mark.parametrize("alpha", [0.0, 0.6, 9.0])
@pytest.mark.parametrize("strength", [0.0, 0.4, 2.0])
@pytest.mark.parametrize("width, groups", [(1, 3), (2, 3), (3, 2)])
def test_the_groups_find_what_going_through_all_steps_finds(width, groups, strength, alpha):
    for seed in range(4):
        model, prompt = whims(seed, sharp=1.0), torch.tensor([[1]])
        [found] = diverse_beam_search(model, prompt, SMALL, length=4, beam=width * groups, groups=groups,
                                      strength=strength, alpha=alpha)
        expected = reference(model, prompt, 4, width, groups, strength, alpha)
        assert [text.tokens for text in found] == [text for texts in expected for text in texts]
        for text in found:
            assert text.logprob == pytest.approx(true_logprob(model, prompt, text.tokens), abs=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_one_group_or_no_strength_is_plain_beam_search(alpha):
    model, prompts = a_gpt2(seed=4), torch.randint(39, 60, (5, 3), generator=seeded(4))
    vocab = Vocabulary(60, end=45)
    asked = {"length": 9, "alpha": alpha}
    plain = beam_search(model, prompts, vocab, beam=3, **asked)
    assert diverse_beam_search(model, prompts, vocab, beam=3, groups=1, strength=5.0, **asked) == plain
    same = diverse_beam_search(model, prompts, vocab, beam=9, groups=3, strength=0.0, **asked)
    for found, texts in zip(same, plain, strict=True):
        assert [text.tokens for text in found] == [text.tokens for text in texts] * 3


def test_three_steps_by_hand():
    """Group 1 writes 我吃饭 (0.5 · 0.6). Group 2 pays 1 nat where it follows: 我 then counts 0.5 / e = 0.18, so that 你
    (0.3) wins; 你看 counts 0.24 (nobody took 看) and 你吃 0.06 / e; 书 0.216 against 报 0.024. Group 3 pays for 我 and
    for 你, and takes 他 (0.2); 他看 0.12 / e = 0.044 and 他吃 0.08 / e = 0.029; 书 0.108 / e = 0.04, 报 0.012."""
    table = TableLM({"我吃饭": .30, "我看书": .20, "你看书": .216, "你看报": .024, "你吃饭": .06,
                     "他看书": .108, "他看报": .012, "他吃饭": .08})
    asked = {"length": 4, "beam": 3, "groups": 3}
    prompt = torch.tensor([[0]])
    begun = UncachedLM(lambda texts: table.next_words(texts[:, 1:]))

    def written(strength: float) -> list[str]:
        [found] = diverse_beam_search(begun, prompt, table.vocab, strength=strength, **asked)
        return ["".join(table.read(text.tokens)) + f" {math.exp(text.logprob):.3f}" for text in found]

    assert written(1.0) == ["我吃饭 0.300", "你看书 0.216", "他看书 0.108"]
    assert written(0.45) == ["我吃饭 0.300", "我看书 0.200", "你看书 0.216"], "0.5 / e^0.45 is above 0.3, / e^0.9 below"
    assert written(0.0) == ["我吃饭 0.300"] * 3


def test_a_strong_penalty_makes_the_first_tokens_differ_and_prompts_stay_apart():
    model, prompts = a_gpt2(seed=2), torch.randint(39, 60, (6, 4), generator=seeded(0))
    vocab = Vocabulary(60, end=45)
    asked = {"length": 8, "beam": 6, "groups": 3, "strength": 40.0}
    together = diverse_beam_search(model, prompts, vocab, **asked)
    reread = diverse_beam_search(without_cache(model), prompts, vocab, **asked)
    for prompt, found, other in zip(prompts, together, reread, strict=True):
        [alone] = diverse_beam_search(model, prompt[None], vocab, **asked)
        assert [text.tokens for text in alone] == [text.tokens for text in found] == [text.tokens for text in other]
        firsts = [{text.tokens[0] for text in found[group:group + 2]} for group in (0, 2, 4)]
        assert sum(map(len, firsts)) == len(set.union(*firsts))


def test_an_encoder_decoder_writes_from_each_source_for_all_groups():
    torch.manual_seed(9)
    model = Transformer(TransformerConfig(60, dropout=0.0)).double().eval()
    start, texts = torch.full((2, 1), 5), [[40, 41, 42, 43, 44], [50]]
    asked = {"length": 6, "beam": 4, "groups": 2, "strength": 0.5}
    together = diverse_beam_search(ConditionedDecoder(model, a_source(*texts)), start, VOCAB, **asked)
    for tokens, found in zip(texts, together, strict=True):
        [alone] = diverse_beam_search(ConditionedDecoder(model, a_source(tokens)), start[:1], VOCAB, **asked)
        assert [text.tokens for text in alone] == [text.tokens for text in found]


@pytest.mark.parametrize("wrong, says", [
    ({"groups": 3}, "beam=4, groups=3: the beam must be a multiple"), ({"groups": 0}, "one group is plain"),
    ({"strength": -0.1}, "strength=-0.1"), ({"strength": math.inf}, "strength=inf"),
    ({"strength": math.nan}, "strength=nan"), ({"beam": 0}, "beam=0"), ({"alpha": -1.0}, "alpha=-1"),
    ({"length": 0}, "length=0"),
])
def test_requests_that_make_no_sense_are_answered_in_words(wrong, says):
    asked = {"length": 3, "beam": 4, "groups": 2, "strength": 0.5} | wrong
    with pytest.raises(ValueError, match=says):
        diverse_beam_search(whims(0), torch.tensor([[0]]), SMALL, **asked)
