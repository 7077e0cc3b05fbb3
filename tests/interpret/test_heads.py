"""Head scores against loops over the weights that transformers gives, and against heads whose aim is known."""

from random import Random

import pytest
import torch

from plmlab.example import Batch
from plmlab.hf import to_hf
from plmlab.interpret import intervene
from plmlab.interpret.heads import Link, control_links, fixed_offset_baseline, fixed_position_baseline, head_scores
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.objectives import masked
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)
SPECIAL = (VOCAB.need("pad"), VOCAB.need("cls"), VOCAB.need("sep"))


def some() -> tuple[BERT, Batch, list[Link]]:
    """Four texts of odd lengths, one of them a pair, and links of one to three positions; in float64, so that no two
    weights are as good as equal."""
    torch.manual_seed(0)
    model = BERT(BERTConfig(60, 32, layers=3, model=24, heads=4, inner=48)).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    rng = Random(0)
    texts = [[40 + int(rng.random() * 20) for _ in range(length)] for length in (5, 9, 12, 7)]
    rows = [masked(text, vocab=VOCAB, rng=rng, pair=texts[0] if i == 2 else (), select=())
            for i, text in enumerate(texts)]
    links = [Link(i, 1 + (3 * j) % len(text), start, min(len(text) + 1, start + 1 + j % 3))
             for i, text in enumerate(texts) for j in range(6)
             if (start := 1 + (5 * j + 2) % len(text)) != 1 + (3 * j) % len(text)]
    return model, Batch.of(rows, pad=0), links


def test_scores_are_those_of_loops_over_the_weights_of_transformers() -> None:
    bert, batch, links = some()
    pretraining = BERTPretraining(bert.config).double()
    pretraining.encoder.load_state_dict(bert.state_dict())
    theirs = to_hf(pretraining.eval())
    theirs.set_attn_implementation("eager")
    with torch.no_grad():
        weights = theirs(input_ids=batch.tokens, token_type_ids=batch.segments,
                         attention_mask=(batch.tokens != 0).long(), output_attentions=True).attentions
    ours = head_scores(bert, batch, links, SPECIAL)
    assert ours.shape == (3, 4) and 0 < ours.mean() < 1
    for layer in range(3):
        for head in range(4):
            found = 0
            for link in links:
                row = weights[layer][link.row, head, link.source].tolist()
                allowed = [position for position, token in enumerate(batch.tokens[link.row].tolist())
                           if token not in SPECIAL and position != link.source]
                found += link.start <= max(allowed, key=lambda position: row[position]) < link.end
            assert ours[layer, head] == pytest.approx(found / len(links))


def test_a_head_that_looks_at_the_word_before_finds_just_that() -> None:
    bert, batch, _ = some()
    time = batch.size[1]
    before = torch.eye(time).roll(-1, 1)
    links = [Link(row, position, position - 1, position) for row in range(4) for position in range(3, 6)]
    with intervene(bert, {"layers.1.attention.weights": lambda w: before.expand_as(w).to(w)}):
        scores = head_scores(bert, batch, links, SPECIAL)
        turned = head_scores(bert, batch,
                             [Link(row, start, position, position + 1) for row, position, start, _ in links], SPECIAL)
    assert (scores[1] == 1).all() and (scores[0] < 1).any() and (turned[1] == 0).all()


def test_the_best_offset_and_the_best_position_are_found_and_its_share_told() -> None:
    links = [Link(0, 5, 3, 4), Link(0, 9, 6, 8), Link(1, 2, 4, 5), Link(1, 6, 4, 5)]
    assert fixed_offset_baseline(links) == (-2, 0.75)
    assert fixed_position_baseline(links) == (4, 0.5)


def test_no_links_are_an_error() -> None:
    bert, batch, _ = some()
    with pytest.raises(ValueError, match="list of links is empty"):
        head_scores(bert, batch, [], SPECIAL)
    with pytest.raises(ValueError, match="list of links is empty"):
        fixed_offset_baseline([])
    with pytest.raises(ValueError, match="list of links is empty"):
        fixed_position_baseline([])


def test_bystanders_are_all_other_words_of_the_text_with_the_same_goal() -> None:
    _, batch, _ = some()
    link = Link(2, 3, 5, 7)
    words = [position for position, token in enumerate(batch.tokens[2].tolist()) if token not in SPECIAL]
    found = control_links(batch, [link], SPECIAL)
    assert [other.source for other in found] == [position for position in words if position not in (3, 5, 6)]
    assert all((other.row, other.start, other.end) == (2, 5, 7) for other in found)


def test_of_a_head_that_looks_at_one_position_all_bystanders_look_there_too() -> None:
    bert, batch, _ = some()

    def at_position_4(weights: torch.Tensor) -> torch.Tensor:
        to = torch.zeros_like(weights)
        to[..., 4] = 1
        return to

    links = [Link(row, 2, 4, 5) for row in range(4)]
    with intervene(bert, {"layers.1.attention.weights": at_position_4}):
        assert head_scores(bert, batch, links, SPECIAL)[1].tolist() == [1.0] * 4
        assert head_scores(bert, batch, control_links(batch, links, SPECIAL), SPECIAL)[1].tolist() == [1.0] * 4
