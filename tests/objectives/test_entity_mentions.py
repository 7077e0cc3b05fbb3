"""The objectives of entity memories: inputs and labels by hand, how often a mention is masked, and batches."""

from random import Random

import pytest
import torch
from standin import Scripted

from plmlab.example import IGNORE, Batch, Example
from plmlab.mentions import Mentions
from plmlab.objectives import always_mask, entity_mentions
from plmlab.objectives.entity_mentions import masked_mention
from plmlab.text import Text
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(200)
CLS, SEP, MASK = 2, 3, 4
TEXT = Text(range(100, 107), entities=[(0, 2), (3, 4), (6, 7)])
"""A mention of two tokens at the beginning, one of one token, and one at the end."""


def made(text: Text = TEXT, **choices) -> Example:
    return entity_mentions(text, **{"vocab": VOCAB, "rng": Random(0), "corrupt": always_mask, **choices})


def chosen(example: Example) -> list[int]:
    return (example.targets != IGNORE).nonzero().flatten().tolist()


def test_an_example_by_hand() -> None:
    example = made(select=[0, 4], links=[8, IGNORE, 0])
    assert example.tokens.tolist() == [CLS, MASK, MASK, 102, 103, MASK, 105, 106, SEP]
    assert example.targets.tolist() == [*[IGNORE], 100, 101, IGNORE, IGNORE, 104, *[IGNORE] * 3]
    assert example.labels["mentions"].tolist() == [0, 1, 2, 0, 1, 0, 0, 1, 0]
    assert example.labels["entities"].tolist() == [IGNORE, 8, *[IGNORE] * 5, 0, IGNORE]
    assert example.position_ids.tolist() == [[*range(9)]] and not example.segments.any()
    assert [chosen(made(select=[i])) for i in range(6)] == [[1, 2], [4], [7], [3], [5], [6]]



def test_draws_one_per_unit_then_one_per_token() -> None:
    """Below 0.2 for a mention, below 0.15 for a token; then [MASK], a random word, and the token itself."""
    rng = Scripted(0.19, 0.21, 0.5, 0.16, 0.14, 0.9, 0.79, 0.85, 0.0, 0.95)
    example = entity_mentions(TEXT, vocab=VOCAB, rng=rng)
    assert chosen(example) == [1, 2, 5] and not rng.numbers
    assert example.tokens[[1, 2, 5]].tolist() == [MASK, VOCAB.words[0], 104]
    rng = Scripted(*[0.99] * 6, 0.4, *[0.0] * 2)
    assert chosen(entity_mentions(TEXT, vocab=VOCAB, rng=rng)) == [7], "one unit is always selected"


def test_a_mention_is_masked_whole_and_in_a_fifth_of_the_texts() -> None:
    text = Text(range(100, 160), entities=[(i, i + 3) for i in range(0, 60, 6)])
    runs = [made(text, rng=Random(seed)) for seed in range(400)]
    masked = torch.stack([run.targets[1:-1] != IGNORE for run in runs]).view(400, 10, 6)
    assert (masked[..., :3].all(2) | ~masked[..., :3].any(2)).all()
    assert float(masked[..., 0].double().mean()) == pytest.approx(0.2, abs=4 * (0.16 / 4000) ** 0.5)
    assert float(masked[..., 3:].double().mean()) == pytest.approx(0.15, abs=4 * (0.1275 / 12000) ** 0.5)
    none = [made(text, rng=Random(seed), token_rate=0.0, rate=1.0) for seed in range(3)]
    assert all(chosen(run) == [1 + i + j for i in range(0, 60, 6) for j in range(3)] for run in none)


def test_a_text_without_mentions_has_targets_all_the_same() -> None:
    for size in (1, 5):
        for seed in range(20):
            example = made(Text(range(100, 100 + size), entities=()), rng=Random(seed), links=())
            assert chosen(example) and not example.labels["mentions"].any()
            assert (example.labels["entities"] == IGNORE).all()


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="an entity memory needs the entities of a text"):
        made(Text([100]))
    with pytest.raises(ValueError, match="got 2 links for 3 mentions"):
        made(links=[1, 2])
    with pytest.raises(ValueError, match="got 0 links for 3 mentions"):
        made(links=())
    with pytest.raises(ValueError, match="the text is empty"):
        made(Text((), entities=()))
    for choices in ({"rate": 0.0}, {"rate": 1.1}, {"token_rate": -0.1}):
        with pytest.raises(ValueError, match="proportion"):
            made(**choices)


def test_one_linked_mention_is_masked_and_nothing_else() -> None:
    seen = set[tuple[int, ...]]()
    for seed in range(40):
        example = masked_mention(TEXT, vocab=VOCAB, rng=Random(seed), links=[8, IGNORE, 0])
        seen.add(tuple(chosen(example)))
        assert (example.tokens[chosen(example)] == MASK).all()
    assert seen == {(1, 2), (7,)}
    example = masked_mention(TEXT, vocab=VOCAB, rng=Scripted(), links=[8, 5, 0], select=1)
    assert chosen(example) == [4] and example.labels["entities"].tolist()[4] == 5
    with pytest.raises(ValueError, match="no linked mention"):
        masked_mention(TEXT, vocab=VOCAB, rng=Random(0), links=[IGNORE] * 3)


def test_a_batch_of_texts_with_three_one_and_no_mentions() -> None:
    texts = [TEXT, Text([120], entities=[(0, 1)]), Text([130, 131], entities=())]
    batch = Batch.of([made(text, links=range(len(text.entities))) for text in texts], pad=0)
    mentions = Mentions.of(batch.labels["mentions"])
    assert mentions.rows.tolist() == [0, 0, 0, 1] and mentions.first.tolist() == [1, 4, 7, 1]
    assert mentions.last.tolist() == [2, 4, 7, 1]
    assert mentions.at_first(batch.labels["entities"]).tolist() == [0, 1, 2, 0]
    assert batch.labels["mentions"][2].tolist() == [0, 0, 0, 0, *[IGNORE] * 5]
