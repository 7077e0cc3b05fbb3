"""Interchange interventions on an LSTM (Geiger et al. 2021): is grammatical number stored in the cell state or in the
hidden state?

Two sentences differ only in the grammatical number of their subject. In the middle of one sentence, the cell state or
the hidden state is replaced by that of the other sentence; the predicted verb form then shows which vector carries the
number.
"""

from functools import cache
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor

from plmlab import world
from plmlab.models.recurrent import LSTMLanguageModel
from plmlab.world.datasets.numbers import other_noun, other_number
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

COUNT, DISTANCE = 200, 3
Words = tuple[str, ...]


class Pair(NamedTuple):
    """A sentence up to its verb, and the same sentence with the number of the subject flipped.

    ``subject`` is the subject's index; ``verb`` and ``other_verb`` are the correct verb forms of the two sentences.
    """

    words: Words
    other: Words
    subject: int
    verb: str
    other_verb: str


@cache
def pairs() -> list[Pair]:
    """Up to 200 sentences of the full world's test split that have at least three words between subject and verb, and
    in which flipping the subject's number yields a grammatical sentence with no other change except the verb."""
    full = world.full()
    nouns, verbs = other_noun(full), other_number(full)
    candidates = (Pair(s.words[:link.verb], (*s.words[:link.subject], nouns[s.words[link.subject]],
                                             *s.words[link.subject + 1:link.verb]),
                       link.subject, s.words[link.verb], verbs[s.words[link.verb]])
                  for s in full.sentences("test", seed=8) for link in s.agreement
                  if link.verb - link.subject > DISTANCE and s.words[link.subject - 1] == "the" and link.subject
                  and s.words[link.subject] in nouns and s.words[link.verb] in verbs)
    return list(islice((pair for pair in candidates if pair.other_verb in full.next_words(pair.other, "test")), COUNT))


@torch.no_grad()
def predicts_own_verb(model: LSTMLanguageModel, pair: Pair, *, hidden_state: bool = False,
                      cell_state: bool = False, after: int = 1) -> bool:
    """Return whether the model assigns a higher logit to the verb form of its own sentence than to that of the other
    sentence.

    From ``after`` words after the subject on, the model continues with the hidden state of the other sentence
    (``hidden_state``), or with its cell state (``cell_state``), or with both.
    """
    start, cut = world_tokenizer().vocab.need("start"), pair.subject + 1 + after
    tokens, others = (torch.tensor([[start, *ids(words)]]) for words in (pair.words, pair.other))
    (h, c), (other_h, other_c) = (model.read(row[:, :cut + 1], None)[1] for row in (tokens, others))
    carried: tuple[Tensor, Tensor] = (other_h if hidden_state else h, other_c if cell_state else c)
    logits = model.token_logits(model.read(tokens[:, cut + 1:], carried)[0][0, -1])
    return bool(logits[world_tokenizer().id(pair.verb)] > logits[world_tokenizer().id(pair.other_verb)])
