"""Read otherwise than trained: whom an arm can look at, halves of long texts, other memories, by hand."""

from statistics import median_low

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.chapters.ch10 import arms, recall_task
from plmlab.chapters.ch10.attention_masks import attention_mask
from plmlab.example import Batch
from plmlab.models.transformer_xl import TransformerXL
from studies.ch10 import distances

pytestmark = pytest.mark.usefixtures("few_texts")


@pytest.fixture
def model() -> TransformerXL:
    """In float64, every weight large enough to matter."""
    made = arms.new("memory", 3).double().eval()
    for name, weight in made.named_parameters():
        torch.nn.init.normal_(weight, mean=float(name.endswith("norm.weight")), std=0.3)
    return made


@pytest.mark.parametrize(("name", "oldest"), [
    ("memory", lambda position: position // 16 * 16 - 64), ("none", lambda position: position // 16 * 16),
    ("window", lambda position: position // 80 * 80), ("sliding", lambda position: position - 79),
])
def test_whom_a_position_can_look_at(name: str, oldest: object) -> None:
    seen = attention_mask(name)
    assert seen.shape == (160, 160)
    for position in (0, 15, 16, 79, 80, 97, 159):
        assert seen[position].nonzero().flatten().tolist() == list(range(max(0, oldest(position)), position
                                                                         + 1))  # type: ignore[operator]


class Often(nn.Module):
    """Says the next word in two of three positions, the more surely the later, and else the last one."""

    def forward(self, batch: Batch) -> Tensor:
        positions = torch.arange(batch.tokens.shape[1])
        evaluate = torch.where(positions % 3 == 0, batch.tokens, batch.targets)
        return (1 + positions / 100)[:, None] * F.one_hot(evaluate, len(recall_task.tokenizer()))


def test_halves_count_near_questions_and_all_words_of_each_half(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some question's answer is just as far back as a memory reaches."""
    model, some = Often(), recall_task.texts("test_set", 320)[:100]
    reach = median_low(question.distance for question in recall_task.questions(some))
    monkeypatch.setattr(distances, "MEMORY", reach)
    told = distances.halves(model)
    logits = torch.cat([model(recall_task.next_words(recall_task.ids([text]))) for text in some])
    for half, positions in (("first", range(160)), ("second", range(160, 320))):
        hits, prices = [], []
        for row, text in enumerate(some):
            words = recall_task.tokenizer().encode(" ".join(text.words), plain=True)
            chances = logits[row].log_softmax(-1)
            prices += [-float(chances[position, words[position + 1]]) for position in positions if position < 319]
            hits += [float(int(chances[q.position].argmax()) == words[q.position + 1])
                     for q in recall_task.questions([text]) if q.position in positions and q.position - q.fact <= reach]
        assert told[half]["right"] == pytest.approx(sum(hits) / len(hits)) and 0.5 < told[half]["right"] < 0.9
        assert told[half]["all"] == pytest.approx(sum(prices) / len(prices), rel=1e-4)


@torch.no_grad()
def test_other_lengths_are_those_of_a_model_made_with_them(model: TransformerXL) -> None:
    found = []
    for changes in ({}, {"memory": 0}, {"memory": 144}, {"memory": 144, "clamp": 80}):
        other = arms.new("memory", 3).remembering(**changes).double().eval()
        other.load_state_dict(model.state_dict())
        test_set = recall_task.texts("test_set")
        told = distances.results_with(model, **changes)
        expected = recall_task.evaluate(other(recall_task.next_words(recall_task.ids(test_set))), test_set)
        assert told["right"] == expected.right and told["all"] == pytest.approx(expected.all)
        assert told["answers"] == pytest.approx(expected.answers)
        found.append(told["all"])
    assert len(set(found)) == 4
