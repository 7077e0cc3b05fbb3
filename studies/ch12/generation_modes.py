"""Fine-tuning and generation for each pretrained model, as in its own paper.

UniLM and the encoder–decoder are used as in `plmlab.generation`. BERT, whose paper has no generation, uses UniLM's
method: BERT's weights under the same attention mask, with the same words masked. GPT gets the source, [SEP] and the
target, and predicts every next token of the target.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from random import Random

import torch

from plmlab import generation
from plmlab.chapters.ch12.pretrained import RANDOM_INIT
from plmlab.decode import greedy
from plmlab.example import IGNORE, Example
from plmlab.generation import UNILM, GenerationMode, Sources, Texts, encoder_decoder
from plmlab.models.architectures import ENCODER_DECODER
from plmlab.models.bert import BERTPretraining
from plmlab.models.gpt import GPT
from plmlab.models.unilm import UniLMConfig, UniLMPretraining
from plmlab.objectives import causal
from plmlab.weights import load_tensors, weights
from plmlab.world.datasets.tokenizer import bilingual_tokenizer


def prompted(source: Sequence[int], target: Sequence[int], *, rng: Random) -> Example:
    """GPT's input: [START] source [SEP] target [END], in which the target tokens are the targets."""
    vocab = bilingual_tokenizer().vocab
    example = causal([*source, vocab.need("sep"), *target], vocab=vocab, rng=rng)
    example.targets[:len(source) + 1] = IGNORE
    return example


def generate_after_prompt(model: GPT, sources: Sources) -> Texts:
    """Generation with GPT after each source, one source at a time."""
    vocab = bilingual_tokenizer().vocab
    prompts = (torch.tensor([[vocab.need("start"), *source, vocab.need("sep")]]) for source in sources)
    return [tuple(token for token in greedy(model, prompt, vocab, length=generation.LONGEST)[0].tokens
                  if token != vocab.end) for prompt in prompts]


def with_unilm_segments(bert: BERTPretraining) -> UniLMPretraining:
    """A BERT converted to a UniLM: the segment embeddings that BERT lacks are initialized with its own two, as in the
    authors' code."""
    size = asdict(bert.config) | {"segments": UniLMConfig.segments}
    made = UniLMPretraining(UniLMConfig(**size))
    tensors, name = dict(weights(bert)), "encoder.embeddings.segment.weight"
    load_tensors(made, tensors | {name: tensors[name][[0, 1, 0, 0, 0, 1]]})
    return made


GENERATION_MODES: Mapping[str, GenerationMode] = {
    "UniLM": UNILM, "BERT": UNILM._replace(begin=with_unilm_segments), "sequence to sequence": UNILM,
    "GPT": GenerationMode(prompted, generate_after_prompt), "encoder-decoder": encoder_decoder(ENCODER_DECODER),
    RANDOM_INIT: UNILM}
