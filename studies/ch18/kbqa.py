"""A knowledge-base question answerer of four stages: which stage fails? A measurement, not the test of a claim.

The questions are all one-hop questions about the test worlds, whose facts no model has seen. Each is asked with the
full name; questions about people are also asked with the surname only, which several people may share. Each relation
has two wordings. The seed of a run determines which one is held out: in the variant *one wording*, neither the tagger
nor the relation classifier has seen it. In *both wordings*, all wordings have been seen.

Fixed before the runs: the tagger is the bundled BERT, fine-tuned on the questions about the training worlds, with the
learning rate that is best on the development world, by the F1 of its names. The layer of the relation classifier is the
one with the highest accuracy on held-out wordings about the development world, in pilots with other seeds (``layers``).
The knowledge base has all facts. An answer is correct if it is the correct entity or value, and no other. A wrong
answer is counted under the first stage whose output is incorrect. The look-up cannot be the first, because the
knowledge base is complete and every question has one answer.

Beside the *pipeline*: the same with *longest name* instead of the tagger, with *word counts* instead of hidden states,
and with *questions only* as examples of a relation, without statements.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch18 import kbqa
from plmlab.chapters.ch18.kbqa import KBQA, LAYER, LINKING, NER, STAGES, TAGS, MeanHidden, Relations, Tagger
from plmlab.checkpoints import load
from plmlab.mentions import bio_tags
from plmlab.metrics import entity_f1
from plmlab.models.bert import BERT
from plmlab.models.task_heads import TokenClassifier
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study
from plmlab.train import History
from plmlab.world.datasets import entity_questions as data
from plmlab.world.datasets.entity_questions import EntityQuestion, Row, Span
from plmlab.world.datasets.fact_documents import DEVELOPMENT, TEST_WORLDS, TRAINING
from plmlab.world.world import World

ONE, BOTH = "one wording", "both wordings"
UPDATES, RATES, PILOTS = 300, (3e-4, 1e-3, 3e-3), (9, 10)


@cache
def world(seed: int) -> World:
    """A medium world."""
    return World("medium", seed)


@cache
def questions(seed: int) -> Sequence[EntityQuestion]:
    """The questions about a world, with full names."""
    return data.one_hop_questions(world(seed))


@cache
def in_both_forms(*worlds: int) -> Sequence[EntityQuestion]:
    """The questions about these worlds with full names, then with surnames."""
    return data.with_surnames([one for seed in worlds for one in questions(seed)])


def training(variant: str, seed: int) -> list[EntityQuestion]:
    """The questions about the training worlds, with full names, in the wordings that the variant has seen."""
    return [one for each in TRAINING for one in questions(each)
            if variant == BOTH or not data.has_new_wording(one, seed)]


@cache
def statements() -> Mapping[str, Sequence[Row]]:
    """The statements of each relation in the training worlds."""
    return data.relation_statements(*map(world, TRAINING))


@cache
def bert() -> BERT:
    """The bundled BERT."""
    encoder: BERT = load("bert-world", expect="bert-pretraining")[0].encoder
    return encoder


def build(variant: str, seed: int) -> TokenClassifier:
    """The bundled BERT with a new output layer for the tags."""
    torch.manual_seed(seed)
    return TokenClassifier.from_pretrained(bert(), len(TAGS))


def learn(model: TokenClassifier, variant: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train the tagger on full names and on surnames."""
    some = data.with_surnames(training(variant, seed))
    return kbqa.train_tagger(model, some, seed, updates=updates, lr=lr, **options)


def f1(pairs: Sequence[tuple[Span | None, EntityQuestion]]) -> float:
    """Entity-level F1 of the names found in questions, at most one per question."""
    found, gold = zip(*([[TAGS[tag] for tag in bio_tags([span] if span else [], len(one.words))]
                         for span in (found, one.mention)] for found, one in pairs), strict=True)
    return entity_f1(found, gold)


def development_score(run: Run) -> float:
    """F1 of the names in the questions about the development world."""
    some = in_both_forms(DEVELOPMENT)
    return f1([*zip(Tagger(run.model)(data.rows(some)), some, strict=True)])


def figures(some: Sequence[EntityQuestion], seed: int, relations: Relations, find: kbqa.FindNames | None = None,
            ) -> dict[str, Any]:
    """Figure → group → its value for one answerer.

    Linking is measured with the gold mention (``linked``), also by the prior alone, and by a random choice among the
    candidates that have a fact with the gold relation (``linked at best``). ``related`` is the fraction of correct
    relations, given the gold entity.
    """
    answerers = {each: KBQA(world(each), relations, find) for each in {one.world: None for one in some}}

    def traces(*gold: str) -> list[tuple[kbqa.Trace, EntityQuestion]]:
        found = data.by_world(some, lambda each, own: answerers[each].traces(own, gold))
        return [*zip(found, some, strict=True)]

    def at_best(trace: kbqa.Trace, one: EntityQuestion) -> float:
        return 1 / sum((key, one.relation) in answerers[one.world].facts for key in trace.candidates)

    plain, named = traces(), traces(NER)
    values: dict[str, list[float]] = {
        "correct": [not trace.failed(one) for trace, one in plain],
        **{f"failed: {stage}": [trace.failed(one) == stage for trace, one in plain] for stage in STAGES},
        **{f"correct, gold {stage}": [not trace.failed(one) for trace, one in traces(stage)] for stage in STAGES[:3]},
        "linked": [trace.entity == one.entity for trace, one in named],
        "linked by prior": [trace.candidates[0] == one.entity for trace, one in named],
        "linked at best": [at_best(*pair) for pair in named],
        "related": [trace.relation == one.relation for trace, one in traces(NER, LINKING)]}
    return {"F1": data.by_group(some, seed, [(trace.mention, one) for trace, one in plain], f1),
            **{figure: data.by_group(some, seed, each, fmean) for figure, each in values.items()}}


def test(run: Run) -> dict[str, Any]:
    """Answerer → its `figures` on the questions about the test worlds."""
    tagger, hidden = Tagger(run.model), MeanHidden(bert(), LAYER)
    examples = data.relation_questions(training(run.arm[0], run.seed))
    both = Relations(hidden, examples, statements())
    return {name: figures(in_both_forms(*TEST_WORLDS), run.seed, relations, find) for name, relations, find in (
        ("pipeline", both, tagger), ("longest name", both, None),
        ("word counts", Relations(kbqa.word_counts, examples, statements()), tagger),
        ("questions only", Relations(hidden, examples), tagger))}


STUDY: Study[TokenClassifier] = Study(name="kbqa", arms=dict.fromkeys([(ONE,), (BOTH,)], RATES), build=build,
                                      train=learn, development=development_score, test=test, updates=(UPDATES,),
                                      nothing=0.0, pilots=PILOTS)


def layer_score(layer: int, seed: int) -> float:
    """Accuracy of the relation classifier on held-out wordings about the development world, given the entities."""
    some = [one for one in questions(DEVELOPMENT) if data.has_new_wording(one, seed)]
    relations = Relations(MeanHidden(bert(), layer), data.relation_questions(training(ONE, seed)), statements())
    found = KBQA(world(DEVELOPMENT), relations).traces(some, (NER, LINKING))
    return fmean(trace.relation == one.relation for trace, one in zip(found, some, strict=True))


def overlap() -> dict[str, float]:
    """The number of test questions with full names, and the fractions of them whose wording, whose name, and whose
    words as a whole occur in a training question."""
    some = [one for seed in TEST_WORLDS for one in questions(seed)]
    parts = {"wording": lambda one: data.masked(one.words, [one.mention]), "name": lambda one: one.name,
             "question": lambda one: one.words}
    seen = {what: {*map(part, training(BOTH, 0))} for what, part in parts.items()}
    return {"questions": len(some), **{what: fmean(part(one) in seen[what] for one in some)
                                       for what, part in parts.items()}}


def measure(parts: Parts) -> dict[str, Any]:
    """``runs``: variant → ``lr``, ``rates`` and the numbers of `test` with spread; ``layers``: layer → mean
    `layer_score`; and the ``overlap`` of test and training questions."""
    scores = parts(layer_score, [(layer, seed) for layer in range(len(bert().layers) + 1) for seed in PILOTS])
    return {"runs": {variant: one.as_record() for (variant, _), one in STUDY.measure(parts).items()},
            "layers": {layer: fmean(scores[layer, seed] for seed in PILOTS) for layer, _ in scores},
            "overlap": overlap()}
