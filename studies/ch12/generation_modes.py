"""Fine-tuning and generation for each pretrained model, as in its own paper.

UniLM masks words of the target and predicts them in place. BERT, whose paper has no generation, uses UniLM's method:
BERT's weights under the same attention mask, with the same words masked. GPT gets the source, [SEP] and the target, and
predicts every next token of the target; the encoder–decoder predicts every next token of the decoder. All models
generate greedily.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from random import Random
from typing import Any, NamedTuple

import torch
from torch import nn

from plmlab.chapters.ch12.pretrained import RANDOM_INIT
from plmlab.decode import ConditionedDecoder, greedy, greedy_texts
from plmlab.example import IGNORE, Example, PairBatch, PairExample
from plmlab.models.bert import BERTPretraining
from plmlab.models.gpt import GPT
from plmlab.models.unilm import UniLMConfig, UniLMDecoder, UniLMPretraining, source_batch
from plmlab.objectives import causal, masked_seq2seq_target, sequence_to_sequence
from plmlab.weights import load_tensors, weights
from plmlab.world.datasets.tokenizer import bilingual_tokenizer

LONGEST = 60
"""Maximum number of generated tokens; no target has more than 45."""
Sources = Sequence[Sequence[int]]
Texts = list[tuple[int, ...]]
Pair = Callable[..., PairExample]


def hidden(source: Sequence[int], target: Sequence[int], *, rng: Random) -> Example:
    """UniLM's input pair, with 70 % of the target's words masked."""
    return masked_seq2seq_target(source, target, vocab=bilingual_tokenizer().vocab, rng=rng)


def prompted(source: Sequence[int], target: Sequence[int], *, rng: Random) -> Example:
    """GPT's input: [START] source [SEP] target [END], in which the target tokens are the targets."""
    vocab = bilingual_tokenizer().vocab
    example = causal([*source, vocab.need("sep"), *target], vocab=vocab, rng=rng)
    example.targets[:len(source) + 1] = IGNORE
    return example


def in_place(model: UniLMPretraining, sources: Sources) -> Texts:
    """Generation with UniLM: predict the token at a [MASK] appended to the text, and replace the mask by the token."""
    vocab = bilingual_tokenizer().vocab
    return greedy_texts(UniLMDecoder(model, source_batch(sources, vocab), vocab), len(sources), vocab, length=LONGEST)


def behind(model: GPT, sources: Sources) -> Texts:
    """Generation with GPT after each source, one source at a time."""
    vocab = bilingual_tokenizer().vocab
    prompts = (torch.tensor([[vocab.need("start"), *source, vocab.need("sep")]]) for source in sources)
    return [tuple(token for token in greedy(model, prompt, vocab, length=LONGEST)[0].tokens if token != vocab.end)
            for prompt in prompts]


def looking_across(pair: Pair, model: Any, sources: Sources) -> Texts:
    """Generation with an encoder–decoder, which cross-attends to the sources."""
    vocab = bilingual_tokenizer().vocab
    read = PairBatch.of([pair(source, (), vocab=vocab) for source in sources], pad=vocab.need("pad")).source
    return greedy_texts(ConditionedDecoder(model, read), len(sources), vocab, length=LONGEST)


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
    ``write(model, sources)`` generates texts without [END]; and ``begin`` converts the pretrained model to the one that
    is fine-tuned."""

    example: Callable[..., Example | PairExample]
    write: Callable[[Any, Sources], Texts]
    begin: Callable[[Any], nn.Module] = as_it_is


def encoder_decoder(pair: Pair) -> GenerationMode:
    """The mode of an encoder–decoder, whose decoder predicts every next token; ``pair(source, target, vocab=vocab)``
    returns an input pair in the model's format."""
    return GenerationMode(lambda source, target, rng: pair(source, target, vocab=bilingual_tokenizer().vocab),
                          partial(looking_across, pair))


UNILMS = GenerationMode(hidden, in_place)
GENERATION_MODES: Mapping[str, GenerationMode] = {
    "UniLM": UNILMS, "BERT": UNILMS._replace(begin=with_unilm_segments), "sequence to sequence": UNILMS,
    "GPT": GenerationMode(prompted, behind), "encoder-decoder": encoder_decoder(sequence_to_sequence),
    RANDOM_INIT: UNILMS}


@torch.no_grad()
def written(mode: GenerationMode, model: nn.Module, sources: Sources) -> Texts:
    """The texts that a model generates greedily for the sources, without [END]."""
    model.eval()
    return [text for begin in range(0, len(sources), 64) for text in mode.write(model, sources[begin:begin + 64])]
