"""Which heads follow a relation that has gold labels, and which cheaper rules do as well (Clark et al. 2019, §4)?"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import islice
from math import isnan, nan
from random import Random
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from plmlab import world
from plmlab.example import Batch
from plmlab.interpret.heads import Link, bystanders, most_attended, offset_score, position_score, share_found
from plmlab.models.bert import BERT
from plmlab.objectives import masked
from plmlab.transfer import batch_of
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

SENTENCES, COUPLES = 1000, 500


class Relation(NamedTuple):
    """A relation, the texts that it is asked of, and its links in them."""

    name: str
    texts: Batch
    links: list[Link]


class Follower(NamedTuple):
    """The head that follows a relation best, chosen on every second link and scored on the others, from 0 to 1.

    ``score`` is the head's, ``others`` that of all other words of the text for the same goal. ``in_place`` is that of
    ``strangers`` words (nan where there are none) which stand in ``place``, the position where most links begin,
    although no link, of all, begins with them. ``by_offset`` and ``by_position`` are the scores of the best fixed
    ``offset`` and ``position``. ``heads`` has the scores of all heads.
    """

    relation: Relation
    layer: int
    head: int
    score: float
    others: float
    place: int
    strangers: int
    in_place: float
    offset: int
    by_offset: float
    position: int
    by_position: float
    heads: Float[Tensor, "layer head"]

    @property
    def rival(self) -> float:
        """The best score of a rule that knows no grammar."""
        return max(self.others, self.by_offset, self.by_position, 0.0 if isnan(self.in_place) else self.in_place)


def special() -> list[int]:
    """The tokens that no relation leads to: padding, [CLS], [SEP]."""
    return [world_tokenizer().vocab.need(name) for name in ("pad", "cls", "sep")]


def read(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Batch:
    """The batch of some texts, or pairs of texts, with nothing hidden."""
    return batch_of(lambda pair: masked(ids(pair[0]), pair=ids(pair[1]), vocab=world_tokenizer().vocab, rng=Random(0),
                                        select=()), pairs)


@cache
def relations() -> list[Relation]:
    """Five relations: two of neighbours, two of grammar, and one of names across two sentences of an article."""
    full = world.full()
    several = {s.words: s for s in islice((s for s in full.sentences("test", seed=31) if s.agreement), SENTENCES)}
    alone = list(several.values())
    couples = [pair for article in full.articles("train")
               for pair in zip(article.sentences, article.sentences[1:], strict=False)][:COUPLES]
    sentences, pairs = read([(s.words, ()) for s in alone]), read([(a.words, b.words) for a, b in couples])
    agreeing = [(row, 1 + link.verb, 1 + link.subject) for row, s in enumerate(alone) for link in s.agreement]
    positions = [(row, position) for row, s in enumerate(alone) for position in range(2, len(s.words))]
    return [
        Relation("the word before", sentences,
                 [Link(row, position, position - 1, position) for row, position in positions]),
        Relation("the word behind", sentences,
                 [Link(row, position, position + 1, position + 2) for row, position in positions]),
        Relation("subject → its verb", sentences, [Link(row, noun, verb, verb + 1) for row, verb, noun in agreeing]),
        Relation("verb → its subject", sentences, [Link(row, verb, noun, noun + 1) for row, verb, noun in agreeing]),
        Relation("name in B → in A", pairs, [
            Link(row, 2 + len(a.words) + mention.start, 1 + other.start, 1 + other.end)
            for row, (a, b) in enumerate(couples) for mention in b.mentions for other in a.mentions
            if other.entity == mention.entity]),
    ]


def follower(bert: BERT, relation: Relation) -> Follower:
    """The head of a BERT that follows a relation best, beside the cheaper rules."""
    _, texts, links = relation
    most = most_attended(bert, texts, special())
    chosen = share_found(most, links[::2])
    layer, head = divmod(int(chosen.argmax()), chosen.shape[1])
    rest = links[1::2]
    heads = share_found(most, rest)
    others, (place, _) = bystanders(texts, rest, special()), Counter(link.source for link in links).most_common(1)[0]
    taken = {link.row for link in links if link.source == place}
    strangers = [link for link in bystanders(texts, links, special())
                 if link.source == place and link.row not in taken]

    def score(some: Sequence[Link]) -> float:
        return share_found(most, some)[layer, head].item() if some else nan
    return Follower(relation, layer, head, heads[layer, head].item(), score(others), place, len(strangers),
                    score(strangers), *offset_score(rest), *position_score(rest), heads)
