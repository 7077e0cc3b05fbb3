"""EaE and FaE at inference, with their memories as corpora: the entities or facts that are retrieved for a masked
mention, the prediction of the entity that it names, and what each of them contributes.

A document is a `Block`: the name of an entity as title, without a text; or a fact with its key as title, "subject ·
relation", and its objects as text, "object ; object".
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar, Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.fact_memory import read_facts
from plmlab.mentions import BEGIN, INSIDE, Mentions, bio_tags, most_likely_tags
from plmlab.models.eae import EaEPretraining
from plmlab.models.eae import Reading as Encoded
from plmlab.models.fae import FactEncoder, FaE
from plmlab.models.registry import architecture_of
from plmlab.objectives.retrieval_batches import Ids, Query
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.corpus import Corpus
from plmlab.retrieval.facts import Fact, FactTable
from plmlab.retrieval.reading import MemoryReading
from plmlab.retrieval.retrieved import Retrieved
from plmlab.text.tokenizers import Tokenizer

TOP_K = 4
"""Default number of documents to retrieve."""
ANSWERS = 5
"""Number of most probable answers in a reading, in addition to the best one for each document."""
KEY, OBJECTS = " · ", " ; "
"""Between subject and relation, and between objects."""
Predict = Callable[[Float[Tensor, "row width"]], Float[Tensor, "row entity"]]


class EntityRetriever:
    """The retriever of an entity memory: a document is the name of an entity, a query the masked mention of a text.

    ``names`` are the names of all entities, in the order of their vectors. Raises ValueError unless each entity has a
    name with tokens of its own.
    """

    def __init__(self, model: EaEPretraining, tokenizer: Tokenizer, names: Sequence[str]) -> None:
        self.model, self.tokenizer, self.names = model, tokenizer, tuple(names)
        self.tokens = [tuple(tokenizer.encode(name, plain=True)) for name in names]
        self.ids = {tokens: entity for entity, tokens in enumerate(self.tokens)}
        if not len(self.ids) == len(names) == model.config.entities:
            raise ValueError(f"{len(names)} names with {len(self.ids)} different sequences of tokens were given for "
                             f"{model.config.entities} entities; give each entity a name of its own")

    @property
    def width(self) -> int:
        """The dimension of the vectors."""
        return self.model.config.entity_width

    @torch.no_grad()
    def queries(self, queries: Sequence[Query]) -> Float[Tensor, "query width"]:
        """The vector with which each masked mention queries the memory."""
        found = [self.vector(*self.encoded(query)) for query in queries]
        return torch.cat(found) if found else torch.empty(0, self.width)

    @torch.no_grad()
    def documents(self, documents: Sequence[Block]) -> Float[Tensor, "document width"]:
        """The vectors of the entities with these names. Raises ValueError for an unknown name."""
        entities = torch.tensor([self.entity(block.title) for block in documents], dtype=torch.long)
        return self.model.encoder.memory.entities.weight[entities]

    def vector(self, encoded: Encoded, masked: Bool[Tensor, "mention"]) -> Float[Tensor, "query width"]:
        """The query of the ``masked`` mention of an encoded text."""
        return encoded.queries[masked]

    def entity(self, name: str) -> int:
        """The index of the entity with this name. Raises ValueError if there is none."""
        entity = self.ids.get(tuple(self.tokenizer.encode(name, plain=True)))
        if entity is None:
            raise ValueError(f"“{name.strip()[:40]}” is not the name of one of the {len(self.names)} entities whose "
                             "vectors the model has learned")
        return entity

    def encoded(self, query: Query, added: Float[Tensor, "row model"] | None = None,
                ) -> tuple[Encoded, Bool[Tensor, "mention"]]:
        """A forward pass, and the mask of the masked mention among the mentions; the others are detected by the model.
        With ``added``, one copy of the text per row, whose vector the memory adds at the masked mention. Raises
        ValueError if nothing is masked."""
        if not query.hidden:
            raise ValueError("the text has no [MASK]; mask the mention that has to be predicted")
        encoder, vocab, memory = self.model.eval().encoder, self.tokenizer.vocab, self.model.encoder.memory
        example: Any = architecture_of(self.model).example(query.tokens, None, vocab)
        batch = Batch.of([example], pad=vocab.need("pad")).to(memory.entities.weight.device)
        tags = most_likely_tags(encoder.reading(batch).tag_logits, batch.padding_mask)
        first, end = 1 + query.hidden[0], 2 + query.hidden[-1]  # after [CLS]
        tags[0, first:end] = bio_tags([(0, end - first)], end - first)
        tags[0, end:end + 1] = torch.where(tags[0, end:end + 1] == INSIDE, BEGIN, tags[0, end:end + 1])
        copies = 1 if added is None else len(added)
        batch = Batch.of([example] * copies, pad=vocab.need("pad")).to(tags.device)
        masked = Mentions.of(tags.expand(copies, -1)).first == first
        changes = [] if added is None else [lambda vectors: vectors.index_put((masked,), added)]
        memory.added.changes += changes
        try:
            return encoder.reading(replace(batch, labels={"mentions": tags.expand(copies, -1)})), masked
        finally:
            del memory.added.changes[len(memory.added.changes) - len(changes):]


class FactRetriever(EntityRetriever):
    """The retriever of a fact memory: a document is a fact, a query the masked mention of a text. ``relations`` are the
    names of the relations, in the order of their vectors."""

    model: FaE

    def __init__(self, model: FaE, tokenizer: Tokenizer, names: Sequence[str], relations: Sequence[str]) -> None:
        super().__init__(model, tokenizer, names)
        self.relations, self.fact = tuple(relations), cache(self._fact)

    def vector(self, encoded: Encoded, masked: Bool[Tensor, "mention"]) -> Float[Tensor, "query width"]:
        """The query of the ``masked`` mention of an encoded text."""
        return self.model.fact_query(encoded.mentions[masked].ends(encoded.hidden))

    def documents(self, documents: Sequence[Block]) -> Float[Tensor, "document width"]:
        """The keys of the facts. Raises ValueError for an unknown name or relation, and for a fact without objects."""
        return FactEncoder(self.model).documents([*map(self.fact, documents)])

    def block(self, fact: Fact) -> Block:
        """A fact as a document."""
        return Block(f"{self.names[fact.subject]}{KEY}{self.relations[fact.relation]}", 0,
                     (OBJECTS.join(self.names[entity] for entity in fact.objects),))

    def _fact(self, block: Block) -> Fact:
        """The fact that a document states. Raises ValueError for an unknown name or relation."""
        title = " ".join(block.title.split())
        relation = max((name for name in self.relations if title.endswith(name)), key=len, default="")
        if not relation:
            raise ValueError(f"“{title[:40]}” does not end with a relation: give a subject and one of "
                             f"{', '.join(self.relations)}")
        objects = dict.fromkeys(self.entity(name) for name in block.text.split(OBJECTS.strip()) if name.strip())
        if not objects:
            raise ValueError(f"the fact “{title[:60]}” has no object: give one, or remove the fact")
        subject = self.entity(title.removesuffix(relation).rstrip(KEY))
        return Fact(subject, self.relations.index(relation), tuple(objects))


@dataclass(frozen=True)
class EntityReader:
    """An EaE and the corpus of the entities in its memory. Only the masked mention retrieves from the corpus, and with
    the given temperature; the other mentions of a text use the model's whole memory."""

    kind: ClassVar[str] = "entities"
    has_null: ClassVar[bool] = False
    model: Any
    corpus: Corpus[Query, Block]
    tokenizer: Tokenizer

    @classmethod
    def of(cls, model: EaEPretraining, tokenizer: Tokenizer, names: Sequence[str]) -> Self:
        """Build the reader with all entities of the model; ``names`` are theirs."""
        corpus: Corpus[Query, Block] = Corpus(EntityRetriever(model, tokenizer, names),
                                              [Block(name, 0, ()) for name in names])
        return cls(model, corpus, tokenizer)

    def with_corpus(self, corpus: Corpus[Query, Block]) -> Self:
        """A copy that uses the same model with another corpus."""
        return replace(self, corpus=corpus)

    def read(self, queries: Sequence[Query], top_k: int = TOP_K, *, null: bool = True, temperature: float = 1.0,
             also: Sequence[Sequence[Ids]] | None = None) -> list[MemoryReading]:
        """Predict the masked mention of each text with the ``top_k`` best documents; an answer is the name of an
        entity, as tokens. Scores are divided by ``temperature`` before the softmax. ``also`` holds additional answers
        for each query. The null document is the null fact; an entity memory has none, and with ``null`` a reading
        includes the prediction without any vector instead, with weight 0."""
        also = [()] * len(queries) if also is None else also
        return [self._reading(query, self.corpus.search([query], top_k, [query.excluded])[:], temperature, more,
                              int(null and not self.has_null)) for query, more in zip(queries, also, strict=True)]

    def values(self, query: Query, found: Retrieved) -> tuple[Retrieved, Tensor, Predict]:
        """The documents with their scores; the vector, [doc width], with which each predicts if it is retrieved alone;
        and the logits of the entities as a function of such vectors."""
        def predict(added: Float[Tensor, "row model"]) -> Float[Tensor, "row entity"]:
            encoded, masked = retriever.encoded(query, added)
            return self.model.entity_logits(encoded.hidden, encoded.mentions[masked])

        retriever: Any = self.corpus.retriever
        vectors = self.corpus.index.vectors(found.lists()[0]).to(self.model.encoder.memory.entities.weight)
        return found, self.model.encoder.memory.output(vectors), predict

    def _reading(self, query: Query, found: Retrieved, temperature: float, also: Sequence[Ids], front: int,
                 ) -> MemoryReading:
        """The reading of one query; ``front`` is 1 to include the prediction without any vector, otherwise 0."""
        retriever: Any = self.corpus.retriever
        with torch.no_grad():
            found, values, predict = self.values(query, found)
        with torch.enable_grad():
            scores = (found.scores[0].to(values) / temperature).requires_grad_()
            weights = scores.softmax(0)
            logp = predict(torch.cat([weights[None] @ values, values.new_zeros(front, values.shape[1]), values])
                           ).log_softmax(1)  # [1+doc entity]
            likely = [*logp.argmax(1).tolist(), *logp[0].topk(min(ANSWERS, logp.shape[1])).indices.tolist()]
            chosen = dict.fromkeys([*likely, *(retriever.ids[tokens] for tokens in also)])
            best = sorted(chosen, key=(-logp[0]).tolist().__getitem__)
            gradients = [torch.autograd.grad(logp[0, entity], scores, retain_graph=True)[0] for entity in best]
        probs, pad = logp[:, best].detach().exp().cpu(), partial(nn.functional.pad, pad=(front, 0))
        return MemoryReading((found.with_null() if front else found).to("cpu"), temperature,
                             tuple(retriever.tokens[entity] for entity in best), probs[1:],
                             pad(weights.detach()).cpu(), probs[0], pad(torch.stack(gradients)).cpu())


@dataclass(frozen=True)
class FactReader(EntityReader):
    """A FaE and the corpus of facts from which it retrieves. Raises ValueError if two facts have the same subject and
    relation."""

    kind: ClassVar[str] = "facts"
    has_null: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the keys."""
        retriever: Any = self.corpus.retriever
        keys = Counter(retriever.fact(block).key for block in self.corpus.documents.values())
        if twice := [block.title for block in self.corpus.documents.values() if keys[retriever.fact(block).key] > 1]:
            raise ValueError(f"two facts have the key “{twice[0][:60]}”; give all objects in one fact")

    @classmethod
    def of(cls, model: FaE, tokenizer: Tokenizer, names: Sequence[str],  # type: ignore[override]
           relations: Sequence[str], facts: Sequence[Fact]) -> Self:
        """Build the reader; ``names`` are those of all entities, ``relations`` those of all relations."""
        retriever = FactRetriever(model, tokenizer, names, relations)
        return cls(model, Corpus(retriever, [*map(retriever.block, facts)]), tokenizer)

    def values(self, query: Query, found: Retrieved) -> tuple[Retrieved, Tensor, Predict]:
        """The null fact and the facts with their scores; the context vector c and, for each fact, the weighted sum of
        its objects; and the logits of the entities."""
        retriever: Any = self.corpus.retriever
        encoded, masked = retriever.encoded(query)
        context = self.model.entity_query(encoded.mentions[masked].ends(encoded.hidden))
        table = FactTable.of([retriever.fact(self.corpus.documents[number]) for number in found.lists()[0]])
        single = Retrieved.of([[row] for row in range(len(table))]).with_null()  # each fact with probability ½
        logits = self.model.encoder.memory.scores(context).expand(len(table), -1)
        objects = 2 * read_facts(single.to(context.device), table.to(context.device), logits).entities
        null_score = retriever.vector(encoded, masked) @ self.model.fact_memory.null
        scored = replace(found.with_null(), scores=torch.cat([null_score[:, None], found.scores.to(null_score)], 1))
        return scored, torch.cat([context, objects @ self.model.entities]), self.model.encoder.memory.scores
