"""Which attention heads capture a gold-labelled relation, and are simple baselines equally accurate (Clark et al. 2019,
§4)?"""

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
from plmlab.interpret.heads import (
    Link,
    argmax_attention,
    control_links,
    fixed_offset_baseline,
    fixed_position_baseline,
    head_accuracy,
)
from plmlab.models.bert import BERT
from plmlab.objectives import masked
from plmlab.transfer import batch_of
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

SENTENCES, COUPLES = 1000, 500


class Relation(NamedTuple):
    """A relation, the batch of texts on which it is evaluated, and its gold links in these texts."""

    name: str
    texts: Batch  # special tokens included; nothing is masked
    links: list[Link]


class BestHead(NamedTuple):
    """The head that captures a relation best, selected on every second link. Accuracies are measured on the remaining
    links and range from 0 to 1.

    ``score`` is the accuracy of the head, and ``others`` its accuracy for links with the same target that start at any
    other word of the text. ``source`` is the position at which most links start; ``at_source`` is the accuracy for the
    ``control_links`` words that occur at that position although no link of their text starts there (nan if there are
    none). ``by_offset`` and ``by_position`` are the accuracies of the best fixed ``offset`` and of the best fixed
    ``position``. ``heads`` holds the accuracies of all heads.
    """

    relation: Relation
    layer: int
    head: int
    score: float
    others: float
    source: int
    control_links: int
    at_source: float
    offset: int
    by_offset: float
    position: int
    by_position: float
    heads: Float[Tensor, "layer head"]

    @property
    def best_baseline(self) -> float:
        """The highest accuracy among the baselines, which use no grammar."""
        return max(self.others, self.by_offset, self.by_position, 0.0 if isnan(self.at_source) else self.at_source)

    def row(self) -> tuple[int | float | str, ...]:
        """The cells of the head's table row: links, layer.head, accuracy, and the baselines."""
        control = f"{self.at_source:.2f} ({self.control_links} in position {self.source})" if self.control_links else ""
        return (len(self.relation.links), f"{self.layer}.{self.head}", self.score, self.others, control,
                f"{self.by_offset:.2f} ({self.offset:+d})", f"{self.by_position:.2f} ({self.position})")


def special() -> list[int]:
    """Ids of the tokens that are never the target of a relation: padding, [CLS], [SEP]."""
    return [world_tokenizer().vocab.need(name) for name in ("pad", "cls", "sep")]


def unmasked_batch(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Batch:
    """A batch of texts, or of pairs of texts, without masking."""
    return batch_of(lambda pair: masked(ids(pair[0]), pair=ids(pair[1]), vocab=world_tokenizer().vocab, rng=Random(0),
                                        select=()), pairs)


@cache
def relations() -> list[Relation]:
    """Five relations: two between adjacent words, two of agreement, and one between mentions of the same name in two
    consecutive sentences of an article."""
    full = world.full()
    several = {s.words: s for s in islice((s for s in full.sentences("test", seed=31) if s.agreement), SENTENCES)}
    alone = list(several.values())
    couples = [pair for article in full.articles("train")
               for pair in zip(article.sentences, article.sentences[1:], strict=False)][:COUPLES]
    sentences = unmasked_batch([(s.words, ()) for s in alone])
    pairs = unmasked_batch([(a.words, b.words) for a, b in couples])
    agreeing = [(row, 1 + link.verb, 1 + link.subject) for row, s in enumerate(alone) for link in s.agreement]
    positions = [(row, position) for row, s in enumerate(alone) for position in range(2, len(s.words))]
    return [
        Relation("the previous word", sentences,
                 [Link(row, position, position - 1, position) for row, position in positions]),
        Relation("the next word", sentences,
                 [Link(row, position, position + 1, position + 2) for row, position in positions]),
        Relation("subject → its verb", sentences, [Link(row, noun, verb, verb + 1) for row, verb, noun in agreeing]),
        Relation("verb → its subject", sentences, [Link(row, verb, noun, noun + 1) for row, verb, noun in agreeing]),
        Relation("name in B → the same name in A", pairs, [
            Link(row, 2 + len(a.words) + mention.start, 1 + other.start, 1 + other.end)
            for row, (a, b) in enumerate(couples) for mention in b.mentions for other in a.mentions
            if other.entity == mention.entity]),
    ]


def best_head(bert: BERT, relation: Relation) -> BestHead:
    """The head of a BERT that captures a relation best, with the accuracies of the baselines."""
    _, texts, links = relation
    attended = argmax_attention(bert, texts, special())
    chosen = head_accuracy(attended, links[::2])
    layer, head = divmod(int(chosen.argmax()), chosen.shape[1])
    rest = links[1::2]
    heads = head_accuracy(attended, rest)
    others = control_links(texts, rest, special())
    [(source, _)] = Counter(link.source for link in links).most_common(1)
    taken = {link.row for link in links if link.source == source}
    outside = [link for link in control_links(texts, links, special())
               if link.source == source and link.row not in taken]

    def score(some: Sequence[Link]) -> float:
        return head_accuracy(attended, some)[layer, head].item() if some else nan
    return BestHead(relation, layer, head, heads[layer, head].item(), score(others), source, len(outside),
                    score(outside), *fixed_offset_baseline(rest), *fixed_position_baseline(rest), heads)


def best_heads(bert: BERT) -> dict[str, BestHead]:
    """The best head of a BERT for each of the five relations."""
    return {relation.name: best_head(bert, relation) for relation in relations()}
