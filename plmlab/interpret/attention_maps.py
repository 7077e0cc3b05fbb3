"""The attention maps of a model on a reader's text: ours, one of Hugging Face's, or an encoder-decoder."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch, Example, PairBatch, PairExample
from plmlab.interpret import watch
from plmlab.models.bert import BERT, BERTPretraining
from plmlab.models.bert_heads import TaskHead
from plmlab.models.gpt import GPT
from plmlab.models.transformer import Transformer
from plmlab.objectives import causal, masked
from plmlab.text.tokenizers import Tokenizer
from plmlab.visibility import Visibility

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Text: TypeAlias = "str | Example | PairExample | Batch | PairBatch"
AnyTokenizer: TypeAlias = "Tokenizer | PreTrainedTokenizerBase"
Words: TypeAlias = "AnyTokenizer | Sequence[str] | Sequence[Sequence[str]]"
Kind = Literal["encoder", "decoder", "encoder-decoder"]


@dataclass(frozen=True)
class Map:
    """Who looks at whom, in every layer and head. ``second`` is where sentence B begins."""

    name: str
    queries: list[str]
    keys: list[str]
    weights: list[Float[Tensor, "head query key"]]
    second: int | None = None


def attention_maps(model: nn.Module, words: Words, text: Text, second: str | None = None, *, max_tokens: int = 64,
                   ) -> list[Map]:
    """Read a text and give the model's attention: one map, or an encoder-decoder's three.

    ``words`` is the model's tokenizer (ours or of ``transformers``), or the tokens themselves where ``text`` is
    an Example or a Batch of one. ``second`` is sentence B of an encoder, or what an encoder-decoder's decoder
    reads. ValueError: an empty text, one too long for the model or for ``max_tokens``, a tokenizer of another model.
    """
    batch = _batch(model, words, text, second)
    sides = [batch] if isinstance(batch, Batch) else [batch.source, batch.target]
    for side in sides:
        _fits(model, side, max_tokens)
    with asking(model), watch(model, "*attention.weights") as seen:
        _run(model, batch)
    names = [_names(words, side, place) for place, side in enumerate(sides)]

    def layers(pattern: str) -> list[Tensor]:
        return [weights[0] for weights in seen.matching(pattern)]

    if isinstance(batch, Batch):
        later = batch.segments[0].nonzero()
        return [Map("self", names[0], names[0], layers("*.attention.weights"), int(later[0]) if len(later) else None)]
    return [
        Map("encoder", names[0], names[0], layers("encoder.*.attention.weights")),
        Map("decoder", names[1], names[1], layers("decoder.*.attention.weights")),
        Map("cross", names[1], names[0], layers("decoder.*.cross_attention.weights")),
    ]


def kind_of(model: nn.Module) -> Kind:
    """What a model does with a plain text; a ValueError where only its objective knows."""
    config = getattr(model, "config", None)
    if isinstance(model, Transformer) or getattr(config, "is_encoder_decoder", False):
        return "encoder-decoder"
    if isinstance(model, GPT) or getattr(config, "is_decoder", False) or _type(model) in ("gpt2", "openai-gpt"):
        return "decoder"
    if isinstance(model, BERT | BERTPretraining | TaskHead) or _type(model):
        return "encoder"
    raise ValueError(f"how a {type(model).__name__} reads a plain text is not known here; give an Example made by "
                     "its objective")


def _type(model: nn.Module) -> str:
    """The ``model_type`` of a model of transformers; "" for one of ours."""
    return getattr(getattr(model, "config", None), "model_type", "")


def _batch(model: nn.Module, words: Words, text: Text, second: str | None) -> Batch | PairBatch:
    made = _example(kind_of(model), model, words, text, second) if isinstance(text, str) else text
    if isinstance(made, Example):
        return Batch.of([made], pad=0)
    if isinstance(made, PairExample):
        return PairBatch.of([made], pad=0)
    if made.size[0] != 1:
        raise ValueError(f"a view draws one example, and the batch holds {made.size[0]}; give one of them")
    return made


def _example(kind: Kind, model: nn.Module, words: Words, text: str, second: str | None) -> Example | PairExample:
    """What a model of this kind reads of a plain text, with nothing hidden from it."""
    for sentence in (text, second):
        if sentence is not None and not sentence.strip():
            raise ValueError("the text is empty: type a sentence")
    if isinstance(words, Sequence):
        raise ValueError("a text needs a tokenizer, and a list of tokens was given; give the model's tokenizer")
    if kind == "decoder":
        if second is not None:
            raise ValueError("this model reads one text from left to right, and two were given; leave the second away")
        return _causal(words, text)
    if kind == "encoder":
        return _full(words, text, second)
    if second is None:
        raise ValueError("an encoder-decoder reads two texts: give the second, which its decoder reads")
    source, target = _source(words, text), _causal(words, second, getattr(model.config, "decoder_start_token_id", None))
    return PairExample(source, target, Visibility.full(len(target.tokens), len(source.tokens)))


def _full(words: AnyTokenizer, text: str, second: str | None) -> Example:
    """An encoder's input, one sentence or two."""
    if isinstance(words, Tokenizer):
        pair = words.encode(second) if second else ()
        return masked(words.encode(text), vocab=words.vocab, rng=Random(0), pair=pair, select=())
    read = words(text, second)
    ids, sides = read["input_ids"], read.sequence_ids(0)
    first = sides.index(1) if 1 in sides else len(ids)
    return _plain(ids, Visibility.full(len(ids)), first)


def _source(words: AnyTokenizer, text: str) -> Example:
    """What the encoder of an encoder-decoder reads."""
    if not isinstance(words, Tokenizer):
        return _full(words, text, None)
    ids = words.encode(text)
    return _plain(ids, Visibility.full(len(ids)))


def _causal(words: AnyTokenizer, text: str, start: int | None = None) -> Example:
    """A decoder's input, behind its start token where it has one."""
    if isinstance(words, Tokenizer) and start is None:
        return causal(words.encode(text), vocab=words.vocab, rng=Random(0))
    ids = words.encode(text) if isinstance(words, Tokenizer) else words(text, add_special_tokens=False)["input_ids"]
    read = [*([] if start is None else [start]), *ids]
    return _plain(read, Visibility.causal(len(read)))


def _plain(ids: Sequence[int], visible: Visibility, second: int | None = None) -> Example:
    """Tokens with nothing to predict."""
    tokens = torch.tensor(ids, dtype=torch.long)
    place = torch.arange(len(ids))
    segments = torch.zeros_like(tokens) if second is None else (place >= second).long()
    return Example(tokens, place[None], segments, visible, torch.full_like(tokens, IGNORE))


def _fits(model: nn.Module, batch: Batch, max_tokens: int) -> None:
    """A ValueError where the model, or a page, cannot hold the text."""
    config, time, highest = getattr(model, "config", None), batch.size[1], int(batch.tokens.max())
    positions = getattr(config, "time", None) or getattr(config, "max_position_embeddings", None)
    if positions is not None and _type(model) == "roberta":
        positions -= 2
    if positions is not None and time > positions:
        raise ValueError(f"the text is {time} tokens long, and this model has {positions} positions; shorten it")
    if time > max_tokens:
        raise ValueError(f"the text is {time} tokens long, and a view draws at most {max_tokens}, because it grows "
                         f"with the square; shorten the text, or give max_tokens={time}")
    vocab = getattr(config, "vocab", None) or getattr(config, "vocab_size", None)
    if vocab is not None and highest >= vocab:
        raise ValueError(f"the text holds token {highest}, and this model knows {vocab:,}: is the tokenizer that of "
                         "another model?")


@contextmanager
def asking(model: nn.Module) -> Iterator[None]:
    """No dropout and no gradients; afterwards the model is in the mode it was in."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)


def _run(model: nn.Module, batch: Batch | PairBatch) -> None:
    batch = batch.to(next(model.parameters()).device)
    if not _type(model):
        model(batch)
    elif isinstance(batch, PairBatch):
        model(input_ids=batch.source.tokens, decoder_input_ids=batch.target.tokens)
    elif getattr(model.config, "type_vocab_size", 1) > 1:
        model(input_ids=batch.tokens, token_type_ids=batch.segments)
    else:
        model(input_ids=batch.tokens)


def _names(words: Words, batch: Batch, place: int) -> list[str]:
    """A label for each token."""
    ids = batch.tokens[0].tolist()
    if isinstance(words, Sequence):
        names = [str(name) for name in (words if not words or isinstance(words[0], str) else words[place])]
    else:
        names = (words if isinstance(words, Tokenizer) else Tokenizer.from_hf(words)).tokens(ids)
    if len(names) != len(ids):
        raise ValueError(f"{len(names)} tokens were given for a text of {len(ids)}; they must agree")
    return [name.encode("utf-8", "replace").decode() for name in names]
