"""Which vector is the memory? Of two sentences that differ in the number of their subject, one carries on with the
other's memory, or with the other's hidden state: which of them does the verb follow? (An interchange intervention:
Geiger et al. 2021.)"""

from functools import cache
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor

from plmlab import world
from plmlab.models.recurrent import LSTMLanguageModel
from plmlab.world.datasets.numbers import other_noun, other_number
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

ASKED, DISTANCE = 200, 3
Words = tuple[str, ...]


class Pair(NamedTuple):
    """A sentence up to its verb, the same with the subject in the other number, the place of the subject, and the verb
    as each of them wants it."""

    words: Words
    other: Words
    subject: int
    verb: str
    other_verb: str


@cache
def pairs() -> list[Pair]:
    """Sentences of the full world's test with at least three words between subject and verb, whose subject may stand in
    the other number with no other word changed but the verb."""
    full = world.full()
    nouns, verbs = other_noun(full), other_number(full)
    found = (Pair(s.words[:link.verb], (*s.words[:link.subject], nouns[s.words[link.subject]],
                                        *s.words[link.subject + 1:link.verb]),
                  link.subject, s.words[link.verb], verbs[s.words[link.verb]])
             for s in full.sentences("test", seed=8) for link in s.agreement
             if link.verb - link.subject > DISTANCE and s.words[link.subject - 1] == "the" and link.subject
             and s.words[link.subject] in nouns and s.words[link.verb] in verbs)
    return list(islice((pair for pair in found if pair.other_verb in full.next_words(pair.other, "test")), ASKED))


@torch.no_grad()
def says_own_verb(model: LSTMLanguageModel, pair: Pair, *, state: bool = False, memory: bool = False, after: int = 1,
                  ) -> bool:
    """Whether the model gives the sentence's own verb more than the other's, if ``after`` so many words more than the
    subject it goes on with the other sentence's hidden ``state``, or with its ``memory``."""
    start, cut = world_tokenizer().vocab.need("start"), pair.subject + 1 + after
    tokens, others = (torch.tensor([[start, *ids(words)]]) for words in (pair.words, pair.other))
    (h, c), (other_h, other_c) = (model.read(row[:, :cut + 1], None)[1] for row in (tokens, others))
    carried: tuple[Tensor, Tensor] = (other_h if state else h, other_c if memory else c)
    logits = model.token_logits(model.read(tokens[:, cut + 1:], carried)[0][0, -1])
    return bool(logits[world_tokenizer().id(pair.verb)] > logits[world_tokenizer().id(pair.other_verb)])
