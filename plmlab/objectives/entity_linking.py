"""Examples with candidate mentions for a model with entity linkers (KnowBERT: Peters et al. 2019, §3)."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from random import Random
from typing import Any

from plmlab.candidates import CandidateMention, LinkedExample
from plmlab.example import IGNORE, Example
from plmlab.text.knowledge import KnowledgeBase
from plmlab.text.vocabulary import Vocabulary

CLS, SEP = 1, 1
"""Number of tokens that the input format adds before the first text, and after each text."""

Hide = Callable[[CandidateMention], CandidateMention | None]
"""``hide(mention)`` returns what remains of a mention with a token to predict; None if nothing does."""


def mask_candidates(mention: CandidateMention) -> CandidateMention:
    """The mention with MASK as its only candidate and without a gold entity. The model still learns from it that there
    is a name, and from where to where."""
    return mention.masked()


def drop_mention(mention: CandidateMention) -> None:
    """None: the mention is left out, as if the mentions had been found in the masked text."""


def with_mentions(objective: Callable[..., Example], *knowledge: KnowledgeBase, hide: Hide = mask_candidates,
                  ) -> Callable[..., LinkedExample]:
    """Adapt an objective whose input is [CLS] A [SEP], or [CLS] A [SEP] B [SEP], so that its Examples have the
    candidate mentions of A and B for each knowledge base, as `linked` adds them."""
    def of_text(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), **choices: Any,
                ) -> LinkedExample:
        second = CLS + len(tokens) + SEP
        return linked(objective(tokens, vocab=vocab, rng=rng, pair=pair, **choices), [
            [*(mention.shifted(CLS) for mention in base.mentions(tokens)),
             *(mention.shifted(second) for mention in base.mentions(pair))] for base in knowledge], hide)
    return of_text


def linked(example: Example, mentions: Sequence[Sequence[CandidateMention]], hide: Hide = mask_candidates,
           ) -> LinkedExample:
    """Add candidate mentions, one sequence per knowledge base, whose spans count from the first input token.

    ``hide`` is applied to a mention with a token to predict, because its candidates would reveal the token. With the
    default, `mask_candidates`, the spans still reveal which masked tokens belong to a name; a comparison with a model
    without mentions needs `drop_mention`. Difference from the authors' code: there the candidates of such a mention are
    masked with probability 80 %, replaced by random entities with 10 %, and kept with 10 %.
    """
    is_target = (example.targets != IGNORE).tolist()
    shown = [[hide(mention) if any(is_target[mention.start:mention.end]) else mention for mention in some]
             for some in mentions]
    visible = tuple(tuple(mention for mention in some if mention is not None) for some in shown)
    return LinkedExample(**{part.name: getattr(example, part.name) for part in fields(Example)}, mentions=visible)
