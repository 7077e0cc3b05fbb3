"""A knowledge-base question answerer (KBQA, 知识库问答) in four stages: it finds the name in the question (NER), the
entity that it denotes (entity linking) and the relation (by similarity), and looks up the answer in the triples of a
world.

The design is the course's own; the notes on KBQA have only headings.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from plmlab.example import Batch
from plmlab.mentions import Mentions, bio_tags, most_likely_tags
from plmlab.models.bert import BERT
from plmlab.models.task_heads import TokenClassifier
from plmlab.objectives import cls_first, token_classification
from plmlab.text.knowledge import KnowledgeBase
from plmlab.train import History
from plmlab.transfer import fit_rows
from plmlab.world.datasets.entity_questions import EntityQuestion, Row, Span, masked, rows
from plmlab.world.datasets.knowledge_bases import entity_knowledge
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from plmlab.world.world import World

STAGES = NER, LINKING, RELATION, LOOKUP = "NER", "entity linking", "relation", "look-up"
TAGS = "O", "B-name", "I-name"
CHUNK, LAYER = 64, 0
"""Texts per batch, and the layer of the hidden states by which relations are compared."""

FindNames = Callable[[Sequence[Row]], list[Span | None]]
Embed = Callable[[Sequence[Row]], Float[Tensor, "text width"]]


def train_tagger(model: TokenClassifier, questions: Sequence[EntityQuestion], seed: int, *, updates: int, lr: float,
                 **options: object) -> History:
    """Fine-tune a token classifier with three labels on the names in questions."""
    vocab = world_tokenizer().vocab
    examples = [token_classification(ids(one.words), bio_tags([one.mention], len(one.words)).tolist(), vocab=vocab)
                for one in questions]
    return fit_rows(model, examples, seed, steps=updates, lr=lr, compile=False, **options)


def batches(texts: Sequence[Row]) -> Iterable[tuple[Batch, Tensor]]:
    """Batches of texts as BERT's input, each with the mask of its words: False at [CLS], [SEP] and padding."""
    vocab = world_tokenizer().vocab
    for first in range(0, len(texts), CHUNK):
        batch = Batch.of([cls_first(row, None, vocab) for row in texts[first:first + CHUNK]], pad=vocab.need("pad"))
        yield batch, batch.padding_mask & (batch.tokens != vocab.need("cls")) & (batch.tokens != vocab.need("sep"))


@dataclass(frozen=True)
class Tagger:
    """NER by a fine-tuned BERT: the first mention in the most likely BIO tags of each text."""

    model: TokenClassifier

    @torch.no_grad()
    def __call__(self, rows: Sequence[Row]) -> list[Span | None]:
        """The span of the first mention in each text; None if there is none."""
        found = list[Span | None]()
        for batch, words in batches(rows):
            mentions = Mentions.of(most_likely_tags(self.model.eval()(batch), words))
            spans = dict[int, Span]()
            for row, first, last in torch.stack([mentions.rows, mentions.first, mentions.last], 1).tolist():
                spans.setdefault(row, (first - 1, last))  # positions begin with [CLS], and the end is exclusive
            found += map(spans.get, range(len(batch.tokens)))
        return found


@dataclass(frozen=True)
class LongestName:
    """NER without a model: the longest name of the knowledge base in each text, the first one if several are equally
    long."""

    knowledge: KnowledgeBase

    def __call__(self, rows: Sequence[Row]) -> list[Span | None]:
        """The span of this name in each text; None if there is none."""
        found = ([(one.start, one.end) for one in self.knowledge.mentions(row)] for row in rows)
        return [max(spans, key=lambda span: span[1] - span[0], default=None) for spans in found]


@dataclass(frozen=True)
class MeanHidden:
    """The mean of BERT's hidden states over the words of a text; ``layer`` 0 is the output of the embeddings."""

    bert: BERT
    layer: int

    @torch.no_grad()
    def __call__(self, rows: Sequence[Row]) -> Float[Tensor, "text width"]:
        """One vector per text."""
        return torch.cat([([*self.bert.eval().all_hidden_states(batch)][self.layer] * words[..., None]).sum(1)
                          / words.sum(1, keepdim=True) for batch, words in batches(rows)])


def word_counts(rows: Sequence[Row]) -> Float[Tensor, "text width"]:
    """The number of occurrences of each token of the vocabulary in each text."""
    return torch.stack([torch.bincount(torch.tensor(row), minlength=len(world_tokenizer())).float() for row in rows])


class Relations:
    """A relation classifier by similarity: that of a question to a relation is the largest cosine of its vector and
    that of an example of this relation.

    Examples are masked texts, the ``questions`` that ask for each relation and the ``statements`` of its facts, which
    are the same in both directions. The mean of all texts of the same kind is subtracted from each vector.
    """

    def __init__(self, embed: Embed, questions: Mapping[str, Sequence[Row]],
                 statements: Mapping[str, Sequence[Row]] | None = None) -> None:
        self.embed, self.names = embed, tuple(questions)
        both = questions, {name: (statements or {}).get(name.removeprefix("~"), ()) for name in questions}
        self._sizes = [len(some) for kind in both for some in kind.values()]
        found = [embed([row for some in kind.values() for row in some]) for kind in both if any(kind.values())]
        self._centre = found[0].mean(0)
        self._examples = torch.cat([normalize(vectors - vectors.mean(0), dim=1) for vectors in found])
        self.similarities = cache(self._similarities)

    def _similarities(self, row: Row) -> dict[str, float]:
        """Relation → its similarity to a masked question."""
        cosines = self._examples @ normalize(self.embed([row])[0] - self._centre, dim=0)
        best = [max(some.tolist(), default=-1.0) for some in cosines.split(self._sizes)]
        return dict(zip(self.names, map(max, best, best[len(self.names):]), strict=True))


@dataclass(frozen=True)
class Trace:
    """The output of each stage for one question: the span of the ``mention``; the keys of its ``candidates``; the
    ``entity``; the similarity of each relation with which it has a fact, in descending order; the ``relation``; the
    keys of the ``answers``."""

    words: tuple[str, ...]
    mention: Span | None
    candidates: tuple[str, ...]
    entity: str | None
    similarities: Mapping[str, float]
    relation: str | None
    answers: tuple[str, ...]

    def failed(self, gold: EntityQuestion) -> str | None:
        """The first stage whose output is incorrect; None if the answer is correct, whatever led to it."""
        outputs = (self.mention == gold.mention, self.entity == gold.entity, self.relation == gold.relation, False)
        return None if self.answers == (gold.answer,) else STAGES[outputs.index(False)]


class KBQA:
    """A question answerer over the triples of a world, which are its ``facts``: (key of an entity, relation) → keys of
    its objects, or of its subjects if the relation begins with "~".

    ``find`` finds names; the default is `LongestName`. Of the candidates of a name, the entity that has a fact with the
    most similar relation is chosen; if several have, the one with the highest prior, which comes first. The relation is
    the most similar one with which this entity has a fact. The answerer therefore always answers, even if the knowledge
    base lacks the fact.
    """

    def __init__(self, world: World, relations: Relations, find: FindNames | None = None) -> None:
        self.knowledge = entity_knowledge(world, world_tokenizer())
        self.relations, self.find = relations, find or LongestName(self.knowledge)
        facts: dict[tuple[str, str], list[str]] = defaultdict(list)
        for one in world.triples():
            facts[one.subject, one.relation].append(one.object)
            facts[one.object, f"~{one.relation}"].append(one.subject)
        self.facts = {key: tuple(objects) for key, objects in facts.items()}

    def candidates(self, words: Sequence[str]) -> tuple[str, ...]:
        """The keys of the entities with this name, in descending order of their priors."""
        row = ids(words)
        whole = (one for one in self.knowledge.mentions(row) if (one.start, one.end) == (0, len(row)))
        return tuple(key for one in whole for id in one.entities if (key := self.knowledge.key(id)))

    def best_entity(self, candidates: Sequence[str], similarities: Mapping[str, float]) -> str | None:
        """The candidate that has a fact with the most similar relation; None if there is no candidate."""
        best = {key: max((score for name, score in similarities.items() if (key, name) in self.facts), default=-1.0)
                for key in candidates}
        return max(best, key=best.__getitem__, default=None)

    def traces(self, questions: Sequence[EntityQuestion], gold: Collection[str] = ()) -> list[Trace]:
        """The traces of annotated questions; the stages in ``gold`` have the correct output."""
        found = self.find(rows(questions))
        return [self._trace(one.words, one.mention if NER in gold else mention, one.entity if LINKING in gold else None,
                            one.relation if RELATION in gold else None)
                for one, mention in zip(questions, found, strict=True)]

    def _trace(self, words: tuple[str, ...], mention: Span | None, entity: str | None = None,
               relation: str | None = None) -> Trace:
        """The trace of a question with this mention; an entity or a relation that is given is not looked for."""
        candidates = self.candidates(words[slice(*mention)]) if mention else ()
        scores = self.relations.similarities(masked(words, [mention] if mention else []))
        entity = entity or self.best_entity(candidates, scores)
        own = {name: scores[name] for name in sorted(scores, key=scores.__getitem__, reverse=True)
               if (entity, name) in self.facts}
        relation = relation or next(iter(own), None)
        answers = self.facts.get((entity, relation), ()) if entity and relation else ()
        return Trace(words, mention, candidates, entity, own, relation, answers)

    def answer(self, question: str) -> Trace:
        """The trace of a typed question. Raises ValueError if it is empty, has unknown words, or names nothing in the
        knowledge base."""
        words = tuple(question.replace("?", " ? ").split())
        some = ", ".join(key.split(":", 1)[1] for key in self.knowledge.entities[:4])
        if not words:
            raise ValueError(f"the question is empty; ask for a fact about an entity, such as {some}")
        if unknown := [word for word in words if {*ids([word])} & world_tokenizer().vocab.special]:
            raise ValueError(f"the question has the unknown words {', '.join(map(repr, unknown))!s:.120}; use words of "
                             "the Small World")
        mention, = self.find([tuple(ids(words))])
        if mention is None:
            raise ValueError(f"no name was found in {question!r:.120}; name an entity, such as {some}")
        if not self.candidates(words[slice(*mention)]):
            raise ValueError(f"{' '.join(words[slice(*mention)])!r:.60} was found as the name, but the knowledge base "
                             f"has no entity of this name; it has {some} and others")
        return self._trace(words, mention)
