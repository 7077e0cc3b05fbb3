"""Models that write: with and without their cache, beside transformers' own generation, across from a source."""


import pytest
import torch
from transformers import GPT2LMHeadModel
from writing import VOCAB, a_gpt2, a_source, seeded, without_cache

from plmlab.decode import ConditionedDecoder, UncachedLM, beam_search, greedy, sample
from plmlab.example import Batch
from plmlab.hf import to_hf
from plmlab.models.gpt import GPT, GPT2
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask


@pytest.mark.parametrize("kind", [GPT, GPT2])
def test_the_cache_changes_no_token(kind):
    model = a_gpt2(kind=kind)
    plain = without_cache(model)
    prompts = torch.tensor([[5, 40, 41], [5, 44, 50], [5, 59, 39]])
    for ways in (
        lambda m: greedy(m, prompts, VOCAB, length=12),
        lambda m: sample(m, prompts, VOCAB, length=12, generator=seeded(7), top_p=0.9),
        lambda m: [text for found in beam_search(m, prompts, VOCAB, length=12, beam=3, alpha=0.6) for text in found],
    ):
        cached, reread = ways(model), ways(plain)
        assert [text.tokens for text in cached] == [text.tokens for text in reread]
        assert [text.logprob for text in cached] == pytest.approx([text.logprob for text in reread], abs=1e-9)


def test_prompts_side_by_side_are_written_on_as_each_alone():
    model = a_gpt2(seed=3)
    prompts = torch.randint(39, 60, (4, 4), generator=seeded(0))
    together = beam_search(model, prompts, VOCAB, length=10, beam=3)
    for prompt, found in zip(prompts, together, strict=True):
        [alone] = beam_search(model, prompt[None], VOCAB, length=10, beam=3)
        assert [text.tokens for text in alone] == [text.tokens for text in found]
    endless = greedy(model, prompts, Vocabulary(60, end=None), length=10)
    vocab = Vocabulary(60, end=endless[0].tokens[3])
    written = greedy(model, prompts, vocab, length=10)
    assert len({len(text.tokens) for text in written}) > 1, "some must end before others: rows leave the batch"
    for prompt, text in zip(prompts, written, strict=True):
        assert greedy(model, prompt[None], vocab, length=10)[0].tokens == text.tokens


def test_a_text_longer_than_the_positions_is_read_on_from_its_last_half_window():
    model = a_gpt2(time=8)
    start = 0

    def windowed(texts):
        nonlocal start
        if texts.shape[1] - start > 8:
            start = texts.shape[1] - 4
        return without_cache(model).logits(texts[:, start:])

    prompts = torch.tensor([[5, 40, 41], [5, 44, 50]])
    vocab = Vocabulary(60, end=None)
    ours = [text.tokens for text in greedy(model, prompts, vocab, length=18)]
    assert ours == [text.tokens for text in greedy(UncachedLM(windowed), prompts, vocab, length=18)]
    assert {len(tokens) for tokens in ours} == {18}
    with pytest.raises(ValueError, match="9 tokens is too long"):
        greedy(model, torch.zeros(1, 9, dtype=torch.long), VOCAB, length=1)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("end", [6, 45])
def test_gpt2_writes_what_transformers_lets_it_write(seed, end):
    model = a_gpt2(seed=seed)
    theirs = to_hf(model).eval()
    assert isinstance(theirs, GPT2LMHeadModel)
    vocab = Vocabulary(60, end=end)
    prompts = torch.randint(39, 60, (4, 3), generator=seeded(seed))
    asked = {"max_new_tokens": 18, "do_sample": False, "eos_token_id": end, "pad_token_id": 0,
             "suppress_tokens": sorted(vocab.special - {end}), "attention_mask": torch.ones_like(prompts)}

    def written(ids: torch.Tensor) -> tuple[int, ...]:
        tokens = ids[3:].tolist()
        return tuple(tokens[: tokens.index(end) + 1] if end in tokens else tokens)

    assert [text.tokens for text in greedy(model, prompts, vocab, length=18)] == [
        written(row) for row in theirs.generate(prompts, **asked)]
    beams = theirs.generate(prompts, **asked, num_beams=4, num_return_sequences=4, length_penalty=0.0,
                            return_dict_in_generate=True, output_scores=True)
    found = [text for texts in beam_search(model, prompts, vocab, length=18, beam=4) for text in texts]
    assert [text.tokens for text in found] == [written(row) for row in beams.sequences]
    assert torch.allclose(torch.tensor([text.logprob for text in found]), beams.sequences_scores, atol=1e-3)


def test_an_encoder_decoder_translates_a_padded_batch_as_each_source_alone():
    torch.manual_seed(9)
    model = Transformer(TransformerConfig(60, dropout=0.0)).double().eval()
    with torch.no_grad():
        for layer in model.decoder.layers:
            layer.cross_attention.out.weight.mul_(6)
            layer.cross_attention.q.weight.mul_(6)
            layer.feed_forward_residual.norm.weight.normal_()
    texts = [[40, 41, 42, 43, 44], [50], [57, 46, 55]]
    start, vocab = torch.full((3, 1), 5), Vocabulary(60, end=39)

    def alone(tokens: list[int]) -> UncachedLM:
        memory = model.encoder(a_source(tokens))
        def logits(written):
            place = torch.arange(written.shape[1]).expand(len(written), 1, -1)
            target = Batch(written, place, torch.zeros_like(written), AttentionMask(causal=True), written)
            hidden = model.decoder(target, memory.expand(len(written), -1, -1), AttentionMask())
            return hidden[:, -1] @ model.token.weight.T
        return UncachedLM(logits)

    together = greedy(ConditionedDecoder(model, a_source(*texts)), start, vocab, length=9)
    searched = beam_search(ConditionedDecoder(model, a_source(*texts)), start, vocab, length=9, beam=3, alpha=0.6)
    assert len({text.tokens for text in together}) == 3
    for tokens, text, found in zip(texts, together, searched, strict=True):
        assert greedy(alone(tokens), start[:1], vocab, length=9)[0].tokens == text.tokens
        [expected] = beam_search(alone(tokens), start[:1], vocab, length=9, beam=3, alpha=0.6)
        assert [text.tokens for text in expected] == [text.tokens for text in found]
