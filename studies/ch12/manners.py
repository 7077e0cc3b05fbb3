"""How each pretrained model learns to write, and writes: as its own paper has it.

UniLM hides words of the target and says them in place; BERT, whose paper has no way to write, is given UniLM's: its
weights, under the same mask, with the same words hidden. GPT reads the source, [SEP] and the target, and says every
next token of the target; the encoder-decoder every next token of its decoder. All write greedily.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from plmlab.chapters.ch12.pretrained import NOTHING
from plmlab.decode import ConditionedDecoder, Hypothesis, greedy
from plmlab.example import IGNORE, Example, PairBatch, PairExample
from plmlab.models.bert import BERTPretraining
from plmlab.models.gpt import GPT
from plmlab.models.transformer import Transformer
from plmlab.models.unilm import UniLMConfig, UniLMDecoder, UniLMPretraining, source_batch
from plmlab.objectives import causal, masked_seq2seq_target, sequence_to_sequence
from plmlab.weights import load_tensors, weights
from plmlab.world.datasets.tokenizer import bilingual_tokenizer

LONGEST = 60
"""The most tokens that are written; no target has more than 45."""
Sources = Sequence[Sequence[int]]


def hidden(source: Sequence[int], target: Sequence[int], *, rng: Random) -> Example:
    """UniLM's pair: seven in ten words of the target hidden."""
    return masked_seq2seq_target(source, target, vocab=bilingual_tokenizer().vocab, rng=rng)


def prompted(source: Sequence[int], target: Sequence[int], *, rng: Random) -> Example:
    """GPT's text: [START] source [SEP] target [END], of which the target is to be said."""
    vocab = bilingual_tokenizer().vocab
    example = causal([*source, vocab.need("sep"), *target], vocab=vocab, rng=rng)
    example.targets[:len(source) + 1] = IGNORE
    return example


def two_sided(source: Sequence[int], target: Sequence[int], *, rng: Random) -> PairExample:
    """The encoder-decoder's pair: every next token of the target is to be said."""
    return sequence_to_sequence(source, target, vocab=bilingual_tokenizer().vocab)


def starts(sources: Sources) -> Tensor:
    """[START] for each source."""
    return torch.full((len(sources), 1), bilingual_tokenizer().vocab.need("start"))


def in_place(model: UniLMPretraining, sources: Sources) -> list[Hypothesis]:
    """What UniLM writes: a [MASK] at the end is asked, and what it says takes its place."""
    vocab = bilingual_tokenizer().vocab
    return greedy(UniLMDecoder(model, source_batch(sources, vocab), vocab), starts(sources), vocab, length=LONGEST)


def behind(model: GPT, sources: Sources) -> list[Hypothesis]:
    """What GPT writes behind each source, one after the other."""
    vocab = bilingual_tokenizer().vocab
    return [greedy(model, torch.tensor([[vocab.need("start"), *source, vocab.need("sep")]]), vocab, length=LONGEST)[0]
            for source in sources]


def looking_across(model: Transformer, sources: Sources) -> list[Hypothesis]:
    """What an encoder-decoder writes, which looks across at the sources."""
    vocab = bilingual_tokenizer().vocab
    read = PairBatch.of([sequence_to_sequence(source, sources[0], vocab=vocab) for source in sources],
                        pad=vocab.need("pad")).source
    return greedy(ConditionedDecoder(model, read), starts(sources), vocab, length=LONGEST)


def with_unilm_segments(bert: BERTPretraining) -> UniLMPretraining:
    """A BERT as a UniLM: the segments that it lacks begin as its own two, as in the authors' code."""
    size = asdict(bert.config) | {"segments": UniLMConfig.segments}
    made = UniLMPretraining(UniLMConfig(**size))
    tensors, name = dict(weights(bert)), "encoder.embeddings.segment.weight"
    load_tensors(made, tensors | {name: tensors[name][[0, 1, 0, 0, 0, 1]]})
    return made


def as_it_is(model: nn.Module) -> nn.Module:
    """What was pretrained."""
    return model


class Manner(NamedTuple):
    """What an arm is tuned on: ``example(source, target, rng=rng)``; how it then writes: ``write(model, sources)``; and
    ``begin``, which makes of what was pretrained what is tuned."""

    example: Callable[..., Example | PairExample]
    write: Callable[[Any, Sources], list[Hypothesis]]
    begin: Callable[[Any], nn.Module] = as_it_is


UNILMS = Manner(hidden, in_place)
MANNERS: Mapping[str, Manner] = {
    "UniLM": UNILMS, "BERT": UNILMS._replace(begin=with_unilm_segments), "sequence to sequence": UNILMS,
    "GPT": Manner(prompted, behind), "encoder-decoder": Manner(two_sided, looking_across), NOTHING: UNILMS}


@torch.no_grad()
def written(name: str, model: nn.Module, sources: Sources) -> list[tuple[int, ...]]:
    """What the model of an arm writes after each source, greedily, [END] left out."""
    model.eval()
    end, found = bilingual_tokenizer().vocab.end, []
    for begin in range(0, len(sources), 64):
        found += [tuple(token for token in text.tokens if token != end)
                  for text in MANNERS[name].write(model, sources[begin:begin + 64])]
    return found
