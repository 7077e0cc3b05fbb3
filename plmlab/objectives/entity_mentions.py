"""Objectives of entity memories (EaE, FaE): masked language modelling with masked mentions, mention detection, and
entity linking (实体链接)."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import torch

from plmlab.draws import randint
from plmlab.example import IGNORE, Example
from plmlab.mentions import bio_tags
from plmlab.objectives.masked import Corruption, always_mask, bert_80_10_10, check_rate, check_shares, masked
from plmlab.objectives.registry import Choice, objective
from plmlab.objectives.whole_words import positions
from plmlab.text.text import Spans, spans
from plmlab.text.vocabulary import Vocabulary

NEEDED_FOR = "an entity memory"


@objective(
    title="masked mentions (EaE)",
    chinese="实体提及掩码",
    paper="Févry et al. 2020, §2.3, app. B",
    choices=(Choice("rate", "proportion of mentions to predict", 0.2, 0.05, 1.0, 0.05),
             Choice("token_rate", "proportion of other tokens to predict", 0.15, 0.0, 0.6, 0.05)),
    question="All tokens of a mention are masked. Can the model still retrieve the right entity from its memory?",
    answer="Yes, if the context determines the entity: the query is computed from the hidden states at the masked "
           "positions, which attend to the rest of the text. The retrieved vector then helps to predict the tokens.",
)
def entity_mentions(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, links: Sequence[int] | None = None, rate: float = 0.2,
    token_rate: float = 0.15, select: Sequence[int] | None = None, corrupt: Corruption = bert_80_10_10,
) -> Example:
    """Masked language modelling with whole mentions: [CLS] A [SEP], with labels for mention detection and linking.

    Each mention is selected independently with probability ``rate``, all of its tokens together; each token outside of
    the mentions with probability ``token_rate``. ``corrupt`` returns the input token at a selected position. ``select``
    sets the selected units instead of sampling them: indices into the mentions, followed by the other tokens. Random
    draws: one per unit, in this order; one more if none was selected; then one corruption per selected token.

    The label ``mentions``, [time], has the BIO tag of each position; [CLS] and [SEP] are outside. The label
    ``entities``, [time], has the entity at the first token of each mention, and IGNORE elsewhere. ``links`` gives the
    entity of each mention, or IGNORE for a mention that is not linked; if omitted, no mention is linked.

    Differences from the authors' code: it selects a fixed number of mentions, 20 % rounded down; here, as in ERNIE,
    each is selected on its own, so that short texts have masked mentions too, and one unit is always selected. The rate
    for other tokens is that of BERT.

    Raises ValueError if the mentions of the text are unknown, if there is not one link per mention, or if the text is
    empty.
    """
    check_rate(rate)
    check_shares(token_rate=token_rate)
    mentions = tuple((1 + start, 1 + end) for start, end in spans(tokens, "entities", NEEDED_FOR))
    units = (*mentions, *_others(mentions, len(tokens)))
    if not units:
        raise ValueError("the text is empty, so nothing can be masked; give at least one word")
    if links is not None and len(links) != len(mentions):
        raise ValueError(f"got {len(links)} links for {len(mentions)} mentions; give one entity per mention, or IGNORE "
                         "for a mention that is not linked")
    if select is None:
        rates = [rate] * len(mentions) + [token_rate] * (len(units) - len(mentions))
        select = [i for i, share in enumerate(rates) if rng.random() < share] or [randint(rng, len(units))]
    example = masked(tokens, vocab=vocab, rng=rng, select=positions(units, select), corrupt=corrupt)
    entities = torch.full_like(example.tokens, IGNORE)
    for (start, _), entity in zip(mentions, links or (), strict=bool(links)):
        entities[start] = entity
    return replace(example, labels={"mentions": bio_tags(mentions, len(example.tokens)), "entities": entities})


def masked_mention(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, links: Sequence[int], select: int | None = None,
) -> Example:
    """An example of `entity_mentions` in which one linked mention is replaced by [MASK], and nothing else (FaE, §2).

    ``select`` sets the index of this mention instead of sampling it. Raises ValueError if no mention is linked.
    """
    linked = [i for i, entity in enumerate(links) if entity != IGNORE]
    if not linked:
        raise ValueError("the text has no linked mention, so no entity can be predicted; leave this text out")
    chosen = linked[randint(rng, len(linked))] if select is None else select
    return entity_mentions(tokens, vocab=vocab, rng=rng, links=links, select=[chosen], corrupt=always_mask)


def _others(mentions: Spans, tokens: int) -> Spans:
    """The positions outside of the mentions, as spans of one token; [CLS] is position 0."""
    inside = {position for mention in mentions for position in range(*mention)}
    return tuple((t, t + 1) for t in range(1, 1 + tokens) if t not in inside)
