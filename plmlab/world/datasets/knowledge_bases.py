"""The knowledge bases of a world for KnowBERT: its entities, and the senses of its words."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import islice
from random import Random

from plmlab.batches import ExampleBatches
from plmlab.candidates import NULL, LinkedExample
from plmlab.example import IGNORE, Example
from plmlab.objectives.entity_linking import CLS, Hide, linked, mask_candidates
from plmlab.text import Tokenizer
from plmlab.text.knowledge import KnowledgeBase
from plmlab.world.datasets.texts import sentence_texts
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.world import World

OPEN_CLASSES = ("NOUN", "VERB", "ADJ")
"""Parts of speech of the words in the knowledge base of senses."""

Edge = tuple[str, str, str]


def entity_knowledge(world: World, tokenizer: Tokenizer) -> KnowledgeBase:
    """The named entities of a world under their full names; a word of a person's name alone may denote any person with
    this word in the name, so that "Milton" may be a town or one of several people. All candidates of a name have the
    same prior."""
    entities = [entity for entity in world.facts.entities.values() if entity.named]
    names: dict[str, dict[str | None, float]] = defaultdict(dict)
    for entity in entities:
        for name in (entity.name, *(entity.words if entity.kind == "person" else ())):
            names[name][entity.key] = 1.0
    return KnowledgeBase([entity.key for entity in entities], names, tokenizer)


def entity_graph(world: World, split: str | None = None) -> list[Edge]:
    """The facts of a world, or of a split (`World.triples`), as triples of keys; values such as years are nodes."""
    return [(fact.subject, fact.relation, fact.object) for fact in world.triples(split)]


def sense_knowledge(world: World, tokenizer: Tokenizer, counts: Mapping[str, int] | None = None) -> KnowledgeBase:
    """The nouns, verbs and adjectives of a world's lexicon, one entity per sense, under all their forms. The prior of a
    sense is its share of the ``counts`` (`sense_counts`), plus one, as in the authors' code for WordNet."""
    names: dict[str, dict[str | None, float]] = defaultdict(dict)
    words = [word for word in world.lexicon if word.tag in OPEN_CLASSES]
    for word in words:
        for form in word.forms.values():
            names[form][word.key] = 1.0 + (counts or {}).get(word.key, 0)
    return KnowledgeBase([word.key for word in words], names, tokenizer)


def sense_counts(world: World, sentences: int = 2000, seed: int = 0) -> Counter[str]:
    """How often each sense of an ambiguous word occurs in the first training sentences of this seed."""
    drawn = islice(world.sentences("train", seed), sentences)
    return Counter(sense for sentence in drawn for sense in sentence.senses if sense)


def sense_graph(world: World) -> list[Edge]:
    """The lexicon as triples: the part of speech of each sense, its classes, and the classes that it combines with."""
    return [(word.key, relation, value) for word in world.lexicon if word.tag in OPEN_CLASSES
            for relation, values in (("tag", (word.tag,)), ("class", word.classes), ("suits", word.suits))
            for value in values]


def sense_descriptions(world: World, sentences: int = 2000, seed: int = 0) -> list[list[str]]:
    """A description of each sense, in the order of `sense_knowledge`: its classes, and the words of the first training
    sentences of this seed in which it occurs. The graph alone does not distinguish the senses of "bank". A word without
    a sense label has one sense only."""
    found: dict[str | None, list[str]] = {word.key: [] for word in world.lexicon if word.tag in OPEN_CLASSES}
    for known, _, value in sense_graph(world):
        found[known].append(value)
    only = {form: word.key for word in world.lexicon for form in word.forms.values()}
    for sentence in islice(world.sentences("train", seed), sentences):
        for word, sense in zip(sentence.words, sentence.senses, strict=True):
            if (key := sense or only.get(word)) in found:
                found[key] += [other for other in sentence.words if other != word]
    return [*found.values()]


def linked_sentence(sentence: Sentence, tokens: tuple[int, ...], objective: Callable[..., Example],
                    entities: KnowledgeBase, senses: KnowledgeBase, *, tokenizer: Tokenizer, rng: Random,
                    hide: Hide = mask_candidates) -> LinkedExample:
    """A sentence under an objective whose input begins with [CLS], with the candidate mentions and gold entities of
    both knowledge bases. A name that is not a mention in the sentence has the gold entity NULL; a word without a
    sense label, which is not ambiguous, has none."""
    named = {(start, end): key for start, end, key in sentence.mentions if key in entities.ids}
    meant = {(i, i + 1): sense for i, sense in enumerate(sentence.senses) if sense in senses.ids and sense is not None}
    found = entities.mentions(tokens, named, NULL), senses.mentions(tokens, meant, IGNORE)
    return linked(objective(tokens, vocab=tokenizer.vocab, rng=rng),
                  [[mention.shifted(CLS) for mention in some] for some in found], hide)


def linked_batches(world: World, split: str, tokenizer: Tokenizer, objective: Callable[..., Example],
                   entities: KnowledgeBase, senses: KnowledgeBase, batch: int, seed: int,
                   hide: Hide = mask_candidates) -> ExampleBatches:
    """Batches of ``batch`` newly sampled sentences of a split, as made by `linked_sentence`. The tokenizer has one
    token per word."""
    def draw(rng: Random) -> list[LinkedExample]:
        sentences = list(islice(world.sentences(split, seed=int(rng.random() * 2**53)), batch))
        return [linked_sentence(sentence, text, objective, entities, senses, tokenizer=tokenizer, rng=rng, hide=hide)
                for sentence, text in zip(sentences, sentence_texts(sentences, tokenizer), strict=True)]

    return ExampleBatches(draw, seed, tokenizer.vocab.need("pad"))
