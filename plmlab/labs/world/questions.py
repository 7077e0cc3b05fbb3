"""A bridge question for the Small World Lab: the hops of its cognitive graph, and answers for multiple choice."""

from collections.abc import Sequence
from itertools import islice
from random import Random

from plmlab.draws import sample, shuffled
from plmlab.labs.world.sentences import fact_state, sentence_state
from plmlab.labs.world.state import Hop
from plmlab.labs.world.state import Question as QuestionState
from plmlab.world import World
from plmlab.world.facts.relations import Entity
from plmlab.world.questions.bank import PLURAL, Question

QUESTIONS = 40
GUESSES = 4


def bridge_questions(world: World) -> list[Question]:
    """The first 40 bridge questions of the world's training split; the selection is always the same."""
    return list(islice(world.questions("bridge", "train", seed=1), QUESTIONS))


def said(entity: Entity, world: World) -> str:
    """The name of an entity as an answer; foods and products are in the plural."""
    if entity.kind in PLURAL:
        return world.lexicon[entity.traits["word"]].forms["pl"]
    return entity.name


def guesses(world: World, question: Question, number: int) -> list[str]:
    """Answers for multiple choice: the correct one and others of the same kind, in a random order seeded by
    ``number``."""
    rng = Random(number)
    answer = world.facts[str(question.answer_entity)]
    others = [other for other in world.facts.kind(answer.kind) if other != answer]
    chosen = sample(rng, others, min(GUESSES - 1, len(others)))
    return [said(entity, world) for entity in shuffled(rng, [answer, *chosen])]


def question_state(world: World, questions: Sequence[Question], number: int) -> QuestionState:
    """A question for JavaScript: its words, its articles, the hops of its graph with their supporting sentences, and
    answers for multiple choice."""
    question = questions[number % len(questions)]
    hops = list[Hop]()
    for edge in question.graph.edges:
        assert edge.clue is not None, "every hop of a bridge question has a supporting sentence"
        sentence = world.corpora.articles(question.split)[edge.clue.article].sentences[edge.clue.sentence]
        relation = edge.relation.removeprefix("~")
        hops.append({
            "source": edge.source, "target": edge.target, "name": world.facts[edge.target].name,
            "kind": world.facts[edge.target].kind, "relation": world.facts.relation(relation).english,
            "backward": edge.relation.startswith("~"), "article": world.facts[edge.clue.article].name,
            "sentence": sentence_state(sentence, world), "place": edge.clue.sentence + 1,
        })
    start = question.graph.start[0]
    return {
        "number": number % len(questions), "count": len(questions),
        "words": list(question.words), "chinese": "".join(question.chinese), "hops": hops,
        "start": {"key": start.key, "name": world.facts[start.key].name, "kind": world.facts[start.key].kind},
        "answer": " ".join(question.answer), "guesses": guesses(world, question, number),
        "articles": [world.facts[key].name for key in question.context], "needed": len(question.needed),
        "facts": [fact_state(fact, world) for fact in question.facts],
    }
