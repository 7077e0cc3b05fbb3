"""KnowBERT on the Small World: its training from `bert-world`, the accuracy of its linkers, and the facts that a masked
language model recalls (Peters et al. 2019)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain, islice
from random import Random
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from plmlab.batches import ExampleBatches, collate
from plmlab.candidates import NULL, LinkedExample
from plmlab.checkpoints import load
from plmlab.draws import choice
from plmlab.example import IGNORE
from plmlab.layers.initialise import initialise
from plmlab.layers.kar import with_special_rows
from plmlab.models.bert import BERTPretraining
from plmlab.models.knowbert import KnowBERTPretraining
from plmlab.objectives.entity_linking import drop_mention, with_mentions
from plmlab.objectives.masked import always_mask, masked
from plmlab.text import Tokenizer
from plmlab.text.knowledge import KnowledgeBase
from plmlab.train import all_but, fit, frozen
from plmlab.vectors.knowledge import description_vectors, graph_vectors
from plmlab.world.datasets.knowledge_bases import (
    entity_graph,
    entity_knowledge,
    linked_batches,
    linked_sentence,
    sense_counts,
    sense_descriptions,
    sense_knowledge,
)
from plmlab.world.datasets.texts import sentence_texts
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.questions.cloze import Cloze
from plmlab.world.world import World, full

AFTER, WIDTHS = (1, 2), (64, 32)
"""The number of BERT's layers below each KAR, and the width of its entity vectors: entities, then senses."""
KAR_STD = 0.1
"""Standard deviation of the initial weights of the KARs. With BERT's 0.02, the attention of the words to the
entity-spans of so small a model is uniform at first, and remains so in a short training."""
BATCH = 32
FACTS = {"stated": "train", "new facts": "facts", "new entities": "entities"}
"""Group of facts → its split of the world. Only the first group is stated in the training text; the other two are only
in the knowledge base: facts about entities of the training text, and about entities that it never names."""
Predicted = Sequence[Sequence[Sequence[int]]]
"""The predicted entity of each mention, for each text and knowledge base."""

unmasked = partial(masked, select=())


@dataclass(frozen=True)
class Knowledge:
    """A world with its two knowledge bases, entities and senses; the ``tokenizer`` has one token per word."""

    world: World
    tokenizer: Tokenizer

    @cached_property
    def bases(self) -> tuple[KnowledgeBase, KnowledgeBase]:
        """The entities, and the senses with priors from the training text."""
        return (entity_knowledge(self.world, self.tokenizer),
                sense_knowledge(self.world, self.tokenizer, sense_counts(self.world)))

    def vectors(self, random: bool = False) -> list[Tensor]:
        """Entity vectors of both knowledge bases, with NULL and MASK: from the graph of the entities, or ``random``
        ones with the same standard deviation; and from descriptions of the senses."""
        rng, entities = torch.Generator().manual_seed(0), self.bases[0].entities
        graph = graph_vectors(entities, entity_graph(self.world), WIDTHS[0])
        found = (torch.randn(graph.shape, generator=rng) * graph.std() if random else graph,
                 description_vectors(sense_descriptions(self.world), WIDTHS[1]))
        return [with_special_rows(some, rng) for some in found]

    def batches(self, seed: int, objective: Callable[..., Any] = masked) -> ExampleBatches:
        """Batches of training sentences with their links. A mention with a masked token is left out."""
        return linked_batches(self.world, "train", self.tokenizer, objective, *self.bases, BATCH, seed, drop_mention)

    def linked(self, split: str, seed: int, sentences: int) -> list[LinkedExample]:
        """Different sentences of a split with their links and without masked tokens."""
        drawn = dict.fromkeys(islice(self.world.sentences(split, seed), sentences))
        return [linked_sentence(one, text, unmasked, *self.bases, tokenizer=self.tokenizer, rng=Random(0))
                for one, text in zip(drawn, sentence_texts([*drawn], self.tokenizer), strict=True)]

    def clozes(self, group: str) -> tuple[list[Cloze], list[Cloze]]:
        """Development and test sentences that state a fact of this group, whose object is masked: those of every fourth
        fact, and those of the others. Of a stated fact, there is one of several sentences; the others are in
        `statements`."""
        by_fact: dict[object, list[Cloze]] = {}
        for cloze in self.world.cloze(FACTS[group]):
            if cloze.source is None and cloze.entity == cloze.fact.object:
                by_fact.setdefault(cloze.fact, []).append(cloze)
        kept = ([some[:1] for some in by_fact.values() if len(some) > 1] if group == "stated" else
                [*by_fact.values()])[:400]
        test = [some for i, some in enumerate(kept) if i % 4]
        return [*chain.from_iterable(kept[::4])], [*chain.from_iterable(test)]

    @cached_property
    def statements(self) -> list[tuple[Cloze, Sentence, tuple[int, ...]]]:
        """The training sentences that state a fact, except those of `clozes`: each with a name or date to be masked,
        and its tokens."""
        sentences = {one.words: one for one in self.world.clozes.stated("train")}
        held = {cloze.words for some in self.clozes("stated") for cloze in some}
        found = [cloze for cloze in self.world.cloze("train") if cloze.source is None and cloze.words not in held]
        whole = [sentences[cloze.words] for cloze in found]
        return [*zip(found, whole, sentence_texts(whole, self.tokenizer), strict=True)]

    def masked_statements(self, seed: int) -> ExampleBatches:
        """Batches of `statements` with their links and without the mention that is masked."""
        def example(rng: Random) -> LinkedExample:
            cloze, sentence, tokens = choice(rng, self.statements)
            objective = partial(masked, select=range(1 + cloze.span[0], 1 + cloze.span[1]), corrupt=always_mask)
            return linked_sentence(sentence, tokens, objective, *self.bases, tokenizer=self.tokenizer, rng=rng,
                                   hide=drop_mention)

        return ExampleBatches(lambda rng: [example(rng) for _ in range(BATCH)], seed, self.tokenizer.vocab.need("pad"))


@cache
def knowledge() -> Knowledge:
    """The full world with the vocabulary of `bert-world`."""
    return Knowledge(full(), load("bert-world", expect="bert-pretraining")[1])


def knowbert(data: Knowledge, bert: BERTPretraining, random: bool = False) -> KnowBERTPretraining:
    """A KnowBERT from this BERT, with the vectors of `Knowledge.vectors`; the weights of its KARs are random."""
    model = KnowBERTPretraining.from_pretrained(bert, data.vectors(random), after=AFTER)
    for kar in model.encoder.kars:
        kar.apply(partial(initialise, std=KAR_STD))
        kar.align()
    return model


def train_linkers(model: KnowBERTPretraining, data: Knowledge, updates: int, lr: float, seed: int, **options: Any,
                  ) -> None:
    """Train each linker alone, first that of the entities, on texts without masked tokens; then align its KAR."""
    for kar in model.encoder.kars:
        with frozen(*all_but(model, kar.linker)):
            fit(model, data.batches(seed, unmasked), steps=updates, lr=lr, warmup=updates // 10, compile=False,
                **options)
        kar.align()


@torch.no_grad()
def predicted_links(model: KnowBERTPretraining, examples: Sequence[LinkedExample], pad: int) -> Predicted:
    """The entities that the linkers predict."""
    batch: Any = collate(examples, pad)
    _, scores = model.eval().encoder.linked_states(batch)
    found = [kar.linker.predicted(some, mentions).tolist()
             for kar, some, mentions in zip(model.encoder.kars, scores, batch.mentions, strict=True)]
    return [[row[:len(some)] for row, some in zip(rows, example.mentions, strict=True)]
            for rows, example in zip(zip(*found, strict=True), examples, strict=True)]


def first_candidates(examples: Sequence[LinkedExample], longest: bool = False) -> Predicted:
    """Baseline: the candidate with the highest prior; with ``longest``, NULL for a name inside a longer name."""
    return [[[NULL if longest and any(one.start <= m.start and m.end <= one.end and one is not m for one in some)
              else m.entities[0] for m in some] for some in example.mentions] for example in examples]


def most_frequent(examples: Sequence[LinkedExample], training: Sequence[LinkedExample]) -> Predicted:
    """Baseline: the most frequent gold entity of a name in training texts; otherwise its first candidate."""
    counts: dict[object, Counter[int]] = defaultdict(Counter)
    for example in training:
        for base, some in enumerate(example.mentions):
            for mention in some:
                counts[base, mention.entities][mention.gold] += 1
    return [[[max(counts[base, m.entities], key=counts[base, m.entities].__getitem__, default=m.entities[0])
              for m in some] for base, some in enumerate(example.mentions)] for example in examples]


def link_accuracy(examples: Sequence[LinkedExample], predicted: Predicted) -> dict[str, float]:
    """Fraction of correct entities: of all names; of the names with several candidates besides NULL, and those of them
    whose entity is not NULL; of the words with several senses. For ``predicted`` = () it is the expected accuracy of a
    random candidate."""
    correct: dict[str, list[float]] = {}
    for i, example in enumerate(examples):
        for base, some in enumerate(example.mentions):
            for j, mention in enumerate(some):
                right = float(predicted[i][base][j] == mention.gold) if predicted else 1 / len(mention.entities)
                several = len(mention.entities) > 2
                for kind, counts in (("names", base == 0), ("several candidates", base == 0 and several),
                                     ("several, not NULL", base == 0 and several and mention.gold != NULL),
                                     ("senses", base == 1 and several)):
                    if counts and mention.gold != IGNORE:
                        correct.setdefault(kind, []).append(right)
    return {kind: fmean(some) for kind, some in correct.items()}


@torch.no_grad()
def recalled(model: BERTPretraining, data: Knowledge, clozes: Sequence[Cloze], linked: bool = True) -> float:
    """Fraction of clozes whose masked object is predicted exactly, each token as the most probable one;
    ``linked=False`` leaves out all mentions."""
    vocab, bases = data.tokenizer.vocab, data.bases if linked else ()
    objective = with_mentions(masked, *bases, hide=drop_mention) if bases else masked
    batch: Any = collate([objective(data.tokenizer.encode(" ".join(one.words), plain=True), vocab=vocab, rng=Random(0),
                                    select=range(1 + one.span[0], 1 + one.span[1]), corrupt=always_mask)
                          for one in clozes], vocab.need("pad"))
    best = model.eval().token_logits(model.encoder(batch)).argmax(-1)
    return ((best == batch.targets) | (batch.targets == IGNORE)).all(1).double().mean().item()
