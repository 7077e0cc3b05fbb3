"""Fine-tuning and generation for each pretrained model, as in its own paper.

UniLM masks words of the target and predicts them in place. BERT, whose paper has no generation, uses UniLM's method:
BERT's weights under the same attention mask, with the same words masked. GPT gets the source, [SEP] and the target, and
predicts every next token of the target; the encoder–decoder predicts every next token of the decoder. All models
generate greedily.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from plmlab.chapters.ch12.pretrained import RANDOM_INIT
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
"""Maximum number of generated tokens; no target has more than 45."""
Sources = Sequence[Sequence[int]]


def hidden(source: Sequence[int], target: Sequence[int], *, rng: Random) -> Example:
    """UniLM's input pair, with 70 % of the target's words masked."""
    return masked_seq2seq_target(source, target, vocab=bilingual_tokenizer().vocab, rng=rng)


def prompted(source: Sequence[int], target: Sequence[int], *, rng: Random) -> Example:
    """GPT's input: [START] source [SEP] target [END], in which the target tokens are the targets."""
    vocab = bilingual_tokenizer().vocab
    example = causal([*source, vocab.need("sep"), *target], vocab=vocab, rng=rng)
    example.targets[:len(source) + 1] = IGNORE
    return example


def two_sided(source: Sequence[int], target: Sequence[int], *, rng: Random) -> PairExample:
    """The encoder–decoder's input pair, in which every next token of the target is a target."""
    return sequence_to_sequence(source, target, vocab=bilingual_tokenizer().vocab)


def starts(sources: Sources) -> Tensor:
    """One [START] token per source."""
    return torch.full((len(sources), 1), bilingual_tokenizer().vocab.need("start"))


def in_place(model: UniLMPretraining, sources: Sources) -> list[Hypothesis]:
    """Generation with UniLM: predict the token at a [MASK] appended to the text, and replace the mask by the token."""
    vocab = bilingual_tokenizer().vocab
    return greedy(UniLMDecoder(model, source_batch(sources, vocab), vocab), starts(sources), vocab, length=LONGEST)


def behind(model: GPT, sources: Sources) -> list[Hypothesis]:
    """Generation with GPT after each source, one source at a time."""
    vocab = bilingual_tokenizer().vocab
    return [greedy(model, torch.tensor([[vocab.need("start"), *source, vocab.need("sep")]]), vocab, length=LONGEST)[0]
            for source in sources]


def looking_across(model: Transformer, sources: Sources) -> list[Hypothesis]:
    """Generation with an encoder–decoder, which cross-attends to the sources."""
    vocab = bilingual_tokenizer().vocab
    read = PairBatch.of([sequence_to_sequence(source, sources[0], vocab=vocab) for source in sources],
                        pad=vocab.need("pad")).source
    return greedy(ConditionedDecoder(model, read), starts(sources), vocab, length=LONGEST)


def with_unilm_segments(bert: BERTPretraining) -> UniLMPretraining:
    """A BERT converted to a UniLM: the segment embeddings that BERT lacks are initialized with its own two, as in the
    authors' code."""
    size = asdict(bert.config) | {"segments": UniLMConfig.segments}
    made = UniLMPretraining(UniLMConfig(**size))
    tensors, name = dict(weights(bert)), "encoder.embeddings.segment.weight"
    load_tensors(made, tensors | {name: tensors[name][[0, 1, 0, 0, 0, 1]]})
    return made


def as_it_is(model: nn.Module) -> nn.Module:
    """The pretrained model, unchanged."""
    return model


class GenerationMode(NamedTuple):
    """How a model is fine-tuned and used: ``example(source, target, rng=rng)`` returns a training Example;
    ``write(model, sources)`` generates; and ``begin`` converts the pretrained model to the one that is fine-tuned."""

    example: Callable[..., Example | PairExample]
    write: Callable[[Any, Sources], list[Hypothesis]]
    begin: Callable[[Any], nn.Module] = as_it_is


UNILMS = GenerationMode(hidden, in_place)
GENERATION_MODES: Mapping[str, GenerationMode] = {
    "UniLM": UNILMS, "BERT": UNILMS._replace(begin=with_unilm_segments), "sequence to sequence": UNILMS,
    "GPT": GenerationMode(prompted, behind), "encoder-decoder": GenerationMode(two_sided, looking_across),
    RANDOM_INIT: UNILMS}


@torch.no_grad()
def written(name: str, model: nn.Module, sources: Sources) -> list[tuple[int, ...]]:
    """The texts that a variant generates greedily after each source, without [END]."""
    model.eval()
    end, found = bilingual_tokenizer().vocab.end, []
    for begin in range(0, len(sources), 64):
        found += [tuple(token for token in text.tokens if token != end)
                  for text in GENERATION_MODES[name].write(model, sources[begin:begin + 64])]
    return found
