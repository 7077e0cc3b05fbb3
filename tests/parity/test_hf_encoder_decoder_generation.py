"""T5, T5 v1.1, BART and PEGASUS generate as those of ``transformers`` do: cached token by token, greedily and by beam
search, from sources with padding on either side."""

from typing import Any

import pytest
import torch
from parity.alike import same
from parity.encoder_decoders import CLOSE, END, KINDS, NAMES, PAD, START, VOCAB, Rows, both_read, theirs_of
from torch import Tensor, nn

from plmlab.decode import ConditionedDecoder, Hypothesis, beam_search, greedy
from plmlab.hf import convert
from plmlab.models.bart import BART
from plmlab.models.pegasus import PEGASUS
from plmlab.text.vocabulary import Vocabulary

LENGTH = 10
WORDS = Vocabulary(VOCAB, start=START, end=END, pad=PAD)
PROMPT = torch.full((3, 1), START)
KIND = pytest.mark.parametrize("kind", NAMES)

pytestmark = pytest.mark.usefixtures("one_thread")


def models(kind: str, seed: int) -> tuple[Any, nn.Module]:
    """Theirs and ours, with plain norms and weights so large that few texts settle into one token."""
    theirs = theirs_of(kind, seed=seed)
    with torch.no_grad():
        for name, weight in theirs.named_parameters():
            if not weight.requires_grad:
                continue
            if "norm" in name:
                weight.fill_(float(name.endswith("weight")))
            elif weight.dim() > 1:
                weight.mul_(10 if "positions" in name else 1 if kind in ("bart", "pegasus") and "shared" in name else 3)
            else:
                weight.sub_(0.5)
        if kind == "bart":
            theirs.final_logits_bias *= 0.3
    return theirs, convert(theirs)


def prompt_of_theirs(model: nn.Module) -> Tensor:
    """A BART of theirs reads [END] before [START]; ours reads it when it encodes the source. A PEGASUS of theirs reads
    [PAD]; ours reads [START] as [PAD]."""
    if isinstance(model, PEGASUS):
        return torch.full((3, 1), PAD)
    first = [torch.full((3, 1), END)] if isinstance(model, BART) else []
    return torch.cat([*first, PROMPT], 1)


def generated(theirs: Any, ours: nn.Module, source: Rows, **choices: Any) -> tuple[list[tuple[int, ...]], Any]:
    """What theirs generate after the prompt, up to [END], and all that they return."""
    prompt = prompt_of_theirs(ours)
    told = theirs.generate(
        source.tokens, attention_mask=source.real.long(), decoder_input_ids=prompt, max_new_tokens=LENGTH,
        do_sample=False, eos_token_id=END, pad_token_id=PAD, decoder_start_token_id=int(prompt[0, 0]),
        return_dict_in_generate=True, output_scores=True, **choices)
    rows = [tuple(row) for row in told.sequences[:, prompt.shape[1]:].tolist()]
    return [row[:row.index(END) + 1] if END in row else row for row in rows], told


def given(ours: nn.Module, source: Rows) -> ConditionedDecoder:
    return ConditionedDecoder(ours, source.batch())


def tokens(texts: list[Hypothesis]) -> list[tuple[int, ...]]:
    return [text.tokens for text in texts]


@pytest.mark.parametrize(("kind", "size"), KINDS)
@torch.no_grad()
def test_token_by_token_with_caches(kind: str, size: int) -> None:
    """In steps of several sizes, against what theirs compute for the whole target at once."""
    theirs = theirs_of(kind, size)
    ours = convert(theirs)
    source = Rows.of([7, 4, 1], "both", 1)
    target = Rows(torch.cat([prompt_of_theirs(ours), Rows.of([11, 11, 11], "right", 2).tokens], 1),
                  torch.ones(3, 11 + prompt_of_theirs(ours).shape[1], dtype=torch.bool))
    _, told = both_read(theirs, source, target)
    state, begin = ours.start(source.batch()), prompt_of_theirs(ours).shape[1] - 1
    for end in (begin + 1, begin + 2, begin + 5, begin + 6, begin + 12):
        same(ours.step(target.tokens[:, begin:end], state), told.logits[:, end - 1], CLOSE[kind])
        begin = end


@KIND
@pytest.mark.parametrize("side", ["right", "left"])
def test_greedy(kind: str, side: str) -> None:
    seen = set()
    for seed in range(3):
        theirs, ours = models(kind, seed)
        source = Rows.of([9, 5, 2], side, seed)
        texts = tokens(greedy(given(ours, source), PROMPT, WORDS, length=LENGTH, banned=()))
        assert texts == generated(theirs, ours, source)[0]
        seen |= set(texts)
    assert len(seen) > 4 and any(len(set(text)) > 2 for text in seen)


@KIND
@pytest.mark.parametrize("beam", [2, 4])
def test_beam_search(kind: str, beam: int) -> None:
    """All hypotheses, in order, with their scores. Without a length penalty, and searching until nothing better can
    come, the definitions agree."""
    found = set()
    for seed, side in enumerate(("right", "left", "both")):
        theirs, ours = models(kind, seed)
        source = Rows.of([9, 5, 2], side, seed)
        expected, told = generated(theirs, ours, source, num_beams=beam, num_return_sequences=beam, length_penalty=0.0,
                                   early_stopping="never")
        rows = beam_search(given(ours, source), PROMPT, WORDS, length=LENGTH, beam=beam, banned=())
        texts = [text for row in rows for text in row]
        assert tokens(texts) == expected
        torch.testing.assert_close(torch.tensor([text.logprob for text in texts]), told.sequences_scores.float(),
                                   rtol=1e-4, atol=1e-4)
        found |= set(expected)
    assert len(found) > 3 * beam and sum(len(set(text)) > 1 for text in found) > beam
