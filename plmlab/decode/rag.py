"""Decoding of RAG (Lewis et al. 2020, §2.5): one answer from several documents.

In all functions, ``decoder`` is an `AutoregressiveModel` with one row per pair of a question and a retrieved document,
question by question; ``documents`` are log p(z|x), −inf for a missing document, which has no row; ``prompt`` holds the
first tokens of each question's answer, [query time], which are not scored.

RAG-Token is a language model that predicts by a mixture (`TokenMixture`), so that any decoding works. For RAG-Sequence
the paper runs one beam search per document (`thorough_decoding`, `fast_decoding`), because its likelihood does not
break into per-token likelihoods. It does if the mixture's weights are updated (`SequenceMixture`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from plmlab.decode.autoregressive import AutoregressiveModel
from plmlab.decode.beam import beam_search
from plmlab.decode.hypothesis import Hypothesis
from plmlab.text.vocabulary import Vocabulary

Tokens = tuple[int, ...]
Documents = Float[Tensor, "query doc"]
Predictions = Float[Tensor, "query doc vocab"]


@dataclass
class MixtureState:
    """Decoding state of a mixture: the decoder's state, the log weights of the documents in the prediction of the next
    token, and each document's prediction of it, as log-probabilities."""

    inner: Any
    weights: Documents
    predictions: Predictions | None = None

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given questions, in the given order, with all their documents."""
        count = self.weights.shape[1]
        self.inner.select((rows[:, None] * count + torch.arange(count, device=rows.device)).flatten())
        self.weights = self.weights[rows]
        self.predictions = None if self.predictions is None else self.predictions[rows]


@dataclass(frozen=True)
class TokenMixture:
    """RAG-Token as an `AutoregressiveModel`, one row per question: p(y_i|x,y_<i) = Σ_z p(z|x) p(y_i|x,z,y_<i)."""

    decoder: AutoregressiveModel[Any]
    documents: Documents

    @property
    def training(self) -> bool:
        """Whether the decoder is in training mode (dropout is on)."""
        return getattr(self.decoder, "training", False)

    def start(self) -> MixtureState:
        """Create an empty state. A missing document gets a copy of the first row, and the weight 0."""
        state, there = self.decoder.start(), ~self.documents.isneginf()
        rows = torch.zeros_like(there, dtype=torch.long)
        state.select(rows.masked_scatter(there, torch.arange(int(there.sum()), device=rows.device)).flatten())
        return MixtureState(state, self.documents)

    def step(self, tokens: Int[Tensor, "query time"], state: MixtureState) -> Float[Tensor, "query vocab"]:
        """Append ``tokens`` (first the prompt, then one token per step) and return the next token's
        log-probabilities."""
        if state.predictions is not None:
            state.weights = self.updated(state.weights, state.predictions, tokens)
        count = state.weights.shape[1]
        logits = self.decoder.step(tokens.repeat_interleave(count, 0), state.inner)
        state.predictions = logits.log_softmax(-1).unflatten(0, (-1, count))
        return torch.logsumexp(state.weights[..., None] + state.predictions, 1)

    def updated(self, weights: Documents, predictions: Predictions, tokens: Int[Tensor, "query 1"]) -> Documents:
        """The log weights after ``tokens``: those before, log p(z|x)."""
        return weights


class SequenceMixture(TokenMixture):
    """RAG-Sequence as an `AutoregressiveModel`: p(y_i|x,y_<i) = Σ_z p(z|x,y_<i) p(y_i|x,z,y_<i). The product over the
    tokens is Σ_z p(z|x) p(y|x,z), so that a `beam_search` ranks answers by p(y|x). Not in the paper."""

    def updated(self, weights: Documents, predictions: Predictions, tokens: Int[Tensor, "query 1"]) -> Documents:
        """The log weights after ``tokens``, by Bayes' rule: p(z|x,y_≤i) ∝ p(z|x,y_<i) p(y_i|x,z,y_<i)."""
        index = tokens[:, None].expand(-1, weights.shape[1], 1)
        return (weights + predictions.gather(2, index)[..., 0]).log_softmax(1)


def thorough_decoding(decoder: AutoregressiveModel[Any], documents: Documents, prompt: Int[Tensor, "query time"],
                      vocab: Vocabulary, *, length: int, beam: int = 4, banned: Collection[int] | None = None,
                      ) -> list[list[Hypothesis]]:
    """Thorough decoding of RAG-Sequence: the union of the hypotheses that a `beam_search` finds from each document, all
    scored under every document; best first, with log p(y|x) in nats. The arguments and errors are those of
    `beam_search`."""
    beams = beams_per_document(decoder, documents, prompt, vocab, length, beam, banned)
    texts = [[*dict.fromkeys(chain(*found))] for found in beams]
    rows = [row for row, some in enumerate(texts) for _ in some]
    logprobs = text_logprobs(SequenceMixture(decoder, documents), prompt, rows, [*chain(*texts)])
    return [_best_first(dict(zip(some, each.tolist(), strict=True)))
            for some, each in zip(texts, logprobs.split([*map(len, texts)]), strict=True)]


def fast_decoding(decoder: AutoregressiveModel[Any], documents: Documents, prompt: Int[Tensor, "query time"],
                  vocab: Vocabulary, *, length: int, beam: int = 4, banned: Collection[int] | None = None,
                  ) -> list[list[Hypothesis]]:
    """Fast decoding of RAG-Sequence: as `thorough_decoding`, but p(y|x,z) counts as 0 if the search from document z has
    not found y. The decoder does not run again; the log-probabilities are lower bounds on log p(y|x)."""
    beams = beams_per_document(decoder, documents, prompt, vocab, length, beam, banned)
    result = []
    for prior, found in zip(documents.cpu().double(), beams, strict=True):
        joint: dict[Tokens, list[Tensor]] = {}  # log p(z|x) p(y|x,z) of the documents whose search has found y
        for weight, one in zip(prior[~prior.isneginf()], found, strict=True):
            for text, logprob in one.items():
                joint.setdefault(text, []).append(weight + logprob)
        result.append(_best_first({text: float(torch.stack(some).logsumexp(0)) for text, some in joint.items()}))
    return result


@torch.no_grad()
def beams_per_document(decoder: AutoregressiveModel[Any], documents: Documents, prompt: Int[Tensor, "query time"],
                       vocab: Vocabulary, length: int, beam: int = 4, banned: Collection[int] | None = None,
                       ) -> list[list[dict[Tokens, float]]]:
    """The hypotheses of a `beam_search` from each document of each question, with log p(y|x,z) in nats; best first."""
    counts = (~documents.isneginf()).sum(1)
    found = iter(beam_search(decoder, prompt.repeat_interleave(counts, 0), vocab, length=length, beam=beam,
                             banned=banned))
    return [[{text.tokens: text.logprob for text in next(found)} for _ in range(count)] for count in counts.tolist()]


@torch.no_grad()
def text_logprobs(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], rows: Sequence[int],
                  texts: Sequence[Tokens]) -> Float[Tensor, " text"]:
    """log p of given texts, in nats, each after the prompt of one of the model's ``rows``."""
    state, index = model.start(), torch.tensor(rows, device=prompt.device)
    logprobs = model.step(prompt, state).log_softmax(-1)[index]
    state.select(index)
    padded = pad_sequence([torch.tensor(text) for text in texts], True, -1).to(prompt.device)
    total = torch.zeros(len(texts), dtype=torch.float64, device=prompt.device)
    for i, tokens in enumerate(padded.split(1, 1)):
        if i:
            logprobs = model.step(padded[:, i - 1:i].clamp(min=0), state).log_softmax(-1)
        total += logprobs.gather(1, tokens.clamp(min=0))[:, 0].masked_fill(tokens[:, 0] < 0, 0)
    return total.cpu()


def _best_first(texts: dict[Tokens, float]) -> list[Hypothesis]:
    return sorted((Hypothesis(*each) for each in texts.items()), key=lambda text: text.logprob, reverse=True)
