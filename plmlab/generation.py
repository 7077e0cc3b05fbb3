"""Fine-tuning for generation: how a pretrained model is trained on pairs of source and target, and how it generates.

UniLM (Dong et al. 2019, §2.4) masks 70 % of the target and predicts the masked tokens in place; an encoder–decoder
predicts every next token of the target. All models generate greedily, by default with the bilingual tokenizer of the
Small World.
"""

from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple

import torch
from torch import nn

from plmlab.batches import ExampleBatches
from plmlab.decode import ConditionedDecoder, greedy_texts
from plmlab.draws import randint
from plmlab.example import Example, PairExample
from plmlab.models.architectures import Architecture
from plmlab.models.unilm import UniLMDecoder, UniLMPretraining, source_batch
from plmlab.objectives import masked_seq2seq_target
from plmlab.text import Tokenizer
from plmlab.world.datasets.generation_tasks import Row
from plmlab.world.datasets.tokenizer import bilingual_tokenizer

LONGEST = 60
"""Maximum number of generated tokens; no target has more than 45."""
Sources = Sequence[Sequence[int]]
Texts = list[tuple[int, ...]]


def unchanged(model: nn.Module) -> nn.Module:
    """The pretrained model itself."""
    return model


class GenerationMode(NamedTuple):
    """How a model is fine-tuned and how it generates: ``example(source, target, rng=rng)`` returns a training example;
    ``generate(model, sources)`` returns texts without [END]; and ``begin`` prepares the pretrained model for
    fine-tuning."""

    example: Callable[..., Example | PairExample]
    generate: Callable[[Any, Sources], Texts]
    begin: Callable[[Any], nn.Module] = unchanged


def masked_target(source: Sequence[int], target: Sequence[int], *, rng: Random) -> Example:
    """UniLM's input pair, with 70 % of the target tokens masked."""
    return masked_seq2seq_target(source, target, vocab=bilingual_tokenizer().vocab, rng=rng)


def generate_at_mask(model: UniLMPretraining, sources: Sources) -> Texts:
    """Generation with UniLM: predict the token at a [MASK] appended to the text, and replace the mask by the token."""
    vocab = bilingual_tokenizer().vocab
    return greedy_texts(UniLMDecoder(model, source_batch(sources, vocab), vocab), len(sources), vocab, length=LONGEST)


def generate_from_sources(architecture: Architecture, tokenizer: Callable[[], Tokenizer], model: Any,
                          sources: Sources) -> Texts:
    """Generation with an encoder–decoder, which cross-attends to the sources."""
    vocab = tokenizer().vocab
    return greedy_texts(ConditionedDecoder(model, architecture.source(sources, vocab)), len(sources), vocab,
                        length=LONGEST)


UNILM = GenerationMode(masked_target, generate_at_mask)


def encoder_decoder(architecture: Architecture, tokenizer: Callable[[], Tokenizer] = bilingual_tokenizer,
                    ) -> GenerationMode:
    """The mode of an encoder–decoder with this architecture, and the vocabulary of the ``tokenizer``."""
    def example(source: Sequence[int], target: Sequence[int], *, rng: Random) -> Any:
        return architecture.example(source, target, tokenizer().vocab)
    return GenerationMode(example, partial(generate_from_sources, architecture, tokenizer))


def example_batches(mode: GenerationMode, rows: Sequence[Row], size: int, seed: str) -> ExampleBatches:
    """Training batches of ``size`` random rows in the format of a mode."""
    def draw(rng: Random) -> list[Any]:
        return [mode.example(*rows[randint(rng, len(rows))], rng=rng) for _ in range(size)]
    return ExampleBatches(draw, seed, bilingual_tokenizer().vocab.need("pad"))


@torch.no_grad()
def generate(mode: GenerationMode, model: nn.Module, sources: Sources) -> Texts:
    """The texts that a model generates for the sources, 64 at a time, without [END]; the model is left in evaluation
    mode."""
    model.eval()
    return [text for begin in range(0, len(sources), 64) for text in mode.generate(model, sources[begin:begin + 64])]
