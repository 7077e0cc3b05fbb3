"""Does CogLTX answer better than models that read the whole text, where the text fits into their input?

The documents have 500 to 1,000 tokens. Two readers get the question and all blocks, with the tokens that CogLTX's
blocks have, [CLS] question [SEP] block [SEP] block [SEP] …, and predict start and end of the answer within one block.

- *Full attention*: CogLTX's reasoner, after its 2,000 updates, with `POSITIONS` positions instead of 192 (the trained
  ones repeated, as in Longformer), trained further on whole texts. It has been trained more than CogLTX.
- *Transformer-XL* (chapter 10). The bundled Transformer-XL has another vocabulary and half the width, and random
  weights would be unfair beside a pretrained BERT. XLNet is a bidirectional Transformer-XL, and the bundled XLNet has
  the size and the vocabulary of the BERT, so a Transformer-XL with GELU gets its weights; they were pretrained on a
  fifth of the BERT's tokens. A text is processed in one pass, which gives the hidden states of segments with a memory
  that holds the whole text, and lets gradients flow into all of it. If the answer comes before the first supporting
  sentence, a left-to-right model cannot know, at the answer, whom the question is about.

Both are trained on texts that grow from the relevant blocks to all blocks; a pilot on whole texts alone learned nothing
in 500 updates. CogLTX is that of `studies.ch15.selection`. All models are trained on the same documents (of four
worlds) with their relevance labels, at the learning rate with the lowest loss on the development documents.
The rules were fixed before the runs, but after a pilot of full attention, which answered 38 % of 120 development
documents. A comparison is decided by every seed of one above every seed of the other by more
than `MARGIN` in exact match.

- *Recalled blocks* are better than full attention.
- *Recalled blocks* are better than the Transformer-XL.
- *Order*: the Transformer-XL is better where the answer comes after the first supporting sentence than where it comes
  before. If it is not, then it has not learned to combine the two sentences, and the comparison with it says nothing
  about its memory.

A model that is not above `random_name` by more than `MARGIN` for every seed was trained too briefly for any verdict.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, log, sqrt
from random import Random
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.chapters.ch15.answering import evaluation_documents
from plmlab.chapters.ch15.baselines import exact_match, random_name
from plmlab.chapters.ch15.training import LENGTHS, SIZE, labelled_texts, pretrained, training_documents
from plmlab.checkpoints import load
from plmlab.draws import shuffled
from plmlab.example import Batch
from plmlab.layers.shape import LayerShape
from plmlab.models.bert import BERT
from plmlab.models.cogltx import CogLTXConfig, answer_in, reasoner_example
from plmlab.models.cogltx_training import LongText, texts_of_update
from plmlab.models.memory_recall import Window
from plmlab.models.registry import ModelSpec
from plmlab.models.task_heads import SpanClassifier, TaskHeadConfig
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.models.xlnet import XLNet
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study, verdict
from plmlab.train import History, fit
from plmlab.weights import with_pretrained
from plmlab.world.datasets.long_documents import LongDocument
from plmlab.world.world import full
from studies.ch15 import selection
from studies.ch15.selection import LABELS, MARGIN, RATES, SHORT, UPDATES

FULL, LEFT_TO_RIGHT = "full attention", "Transformer-XL"
POSITIONS = 1440
"""Maximum number of tokens of an input: a document's, its question's, and the titles and [SEP] of its blocks."""
BUDGETS = {FULL: 500, LEFT_TO_RIGHT: 1200}
PILOT_UPDATES, DEVELOPMENT = 400, 120
DISTANCES = (150, 350, 1001)  # upper bounds of the distance between the supporting sentences, in tokens


@dataclass(frozen=True)
class GELUConfig(TransformerXLConfig):
    """Configuration of a Transformer-XL with GELU."""

    @property
    def shape(self) -> LayerShape:
        """The shape of every layer."""
        return replace(super().shape, activation="gelu")


def left_to_right(xlnet: XLNet, time: int) -> TransformerXL:
    """The Transformer-XL with an XLNet's weights, which processes texts of up to ``time`` tokens in one pass.

    It computes what XLNet computes with a causal mask and one segment, because XLNet's segment term is then the same
    for all keys. The token embeddings are divided by √d, by which a Transformer-XL multiplies them.
    """
    config, weights = xlnet.config, xlnet.state_dict()
    weights["embeddings.token.weight"] = weights["embeddings.token.weight"] / sqrt(config.model)
    made = TransformerXL(GELUConfig(config.vocab, time, 0, config.layers, config.model, config.heads, config.inner,
                                    config.dropout, config.eps))
    made.load_state_dict({name: weights[name] for name in made.state_dict()})
    return made


class LeftToRightReader(SpanClassifier):
    """A span classifier with a causal mask; its encoder is a Transformer-XL."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time 2"]:
        """Start and end logits at every position, which depend on the tokens up to there; −inf at padding."""
        hidden = self.encoder.hidden_states(replace(batch, visible=replace(batch.visible, causal=True)))
        return self.output(hidden).masked_fill(~batch.padding_mask[..., None], -torch.inf)


def with_more_positions(reader: SpanClassifier, time: int) -> SpanClassifier:
    """A copy of a reader whose encoder has ``time`` positions; the trained position embeddings are repeated, as in
    Longformer (Beltagy et al. 2020)."""
    config = reader.encoder.config
    weights = reader.encoder.state_dict()
    name, = (name for name in weights if name.endswith("position.weight"))
    longer = BERT(replace(config, time=time)).train(reader.training).to(weights[name])
    weights[name] = _repeated(weights[name], time)
    longer.load_state_dict(weights)
    made = SpanClassifier.from_pretrained(longer)
    made.output.load_state_dict(reader.output.state_dict())
    return made


def _repeated(rows: Float[Tensor, "time model"], time: int) -> Float[Tensor, "longer model"]:
    return rows.repeat(-(-time // len(rows)), 1)[:time]


def texts_of(chosen: Sequence[LongDocument]) -> list[LongText]:
    """The documents in CogLTX's blocks, with the answers and relevance labels."""
    return labelled_texts(chosen, CogLTXConfig.of(ModelSpec.of(pretrained())).longest)


def text_batches(texts: Sequence[LongText], seed: int, updates: int) -> Callable[[int], Batch]:
    """Batches of one text each, so that there is no padding; `SIZE` of them make an update, with the texts that CogLTX
    has in this update. In the first half of the updates the texts grow, from the relevant blocks to all blocks."""
    def batch(index: int) -> Batch:
        step, number = divmod(index, SIZE)
        text, rng = texts_of_update(texts, step, SIZE, seed)[1][number], Random(f"{seed}:{index}")
        others = [one for one in range(len(text.blocks)) if one not in text.relevant]
        kept = {*text.relevant, *shuffled(rng, others)[:ceil(min(1, 2 * step / updates) * len(others))]}
        return one_text(text, kept)
    return batch


def one_text(text: LongText, positions: Iterable[int]) -> Batch:
    """The question, and the blocks of its text at these positions."""
    blocks = tuple(text.blocks[position] for position in sorted(positions))
    return Batch.of([reasoner_example(Window(text.query, blocks), *text.answer)], pad=0)


def build(folder: str, variant: str, seed: int) -> nn.Module:
    """The model before it reads longer texts; ``folder`` has the models of `studies.ch15.selection`."""
    torch.manual_seed(seed)
    if variant == FULL:
        trained = selection.STUDY.trained(folder, LABELS, updates=UPDATES, seed=seed % len(selection.STUDY.seeds))
        return with_more_positions(trained.reasoner, POSITIONS)
    encoder = left_to_right(load("xlnet-world", expect="xlnet-pretraining")[0].encoder, POSITIONS)
    return with_pretrained(encoder, LeftToRightReader(TaskHeadConfig(ModelSpec.of(encoder))), "encoder")


def learn(model: Any, variant: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a variant, with bfloat16 autocast, which takes half the time on the CPU."""
    return fit(model.train(), text_batches(texts_of(training_documents()), seed, updates), steps=updates, lr=lr,
               warmup=updates // 10, accumulate=SIZE, compile=False, **options | {"precision": "bf16"})


def read(reader: SpanClassifier, text: LongText) -> tuple[int, ...]:
    """The tokens of the most likely answer within one block."""
    return answer_in(reader, Window(text.query, text.blocks)).ids(text.blocks)


def correct(model: SpanClassifier, chosen: Sequence[LongDocument]) -> list[bool]:
    """Whether the answer to each document's question is correct."""
    return [read(model, text) == one.said(one.answer) for text, one in zip(texts_of(chosen), chosen, strict=True)]


@torch.no_grad()
def development_score(run: Run) -> float:
    """Minus the mean loss on the development documents, in nats."""
    texts = texts_of(evaluation_documents("development", DEVELOPMENT, LENGTHS))
    return -fmean(float(run.model.eval().loss(one_text(text, range(len(text.blocks))))) for text in texts)


def test(run: Run) -> dict[str, float]:
    """The `figures` of the test documents."""
    chosen = evaluation_documents("test", SHORT, LENGTHS)
    return figures(correct(run.model, chosen), chosen)


def figures(answers: Sequence[bool], chosen: Sequence[LongDocument]) -> dict[str, float]:
    """Exact match, in all documents, by the order of the supporting sentences and by the distance between them."""
    groups = {"exact match": answers}
    for name, after in (("answer after", True), ("answer before", False)):
        groups[name] = [answer for answer, one in zip(answers, chosen, strict=True)
                        if (one.supports[1] > one.supports[0]) == after]
    for low, high in zip((0, *DISTANCES), DISTANCES, strict=False):
        groups[f"distance below {high}"] = [answer for answer, one in zip(answers, chosen, strict=True)
                                            if low <= one.distance < high]
    return {name: fmean(group) for name, group in groups.items()}


def study(folder: str) -> Study[Any]:
    """The study, given the folder with the models of `studies.ch15.selection`."""
    return Study(name="whole texts", arms={(FULL,): (1e-4, 3e-4, 1e-3), (LEFT_TO_RIGHT,): RATES},
                 build=partial(build, folder), train=learn, development=development_score, test=test,
                 updates={(variant,): (updates,) for variant, updates in BUDGETS.items()}, nothing=-log(POSITIONS),
                 pilots=(9,), pilot_updates=PILOT_UPDATES,
                 unequal="full attention begins with a model that was trained with 2,000 updates")


def measure(parts: Parts, recalled: Mapping[str, Any]) -> dict[str, Any]:
    """Variant → ``lr``, ``rates`` and the numbers of `test` with spread; exact match of `random_name`; the
    ``verdicts``. ``recalled`` is the exact match of CogLTX in the same documents, from `studies.ch15.selection`."""
    runs = {variant: one.as_record() for (variant, _), one in study(str(parts.folder)).measure(parts).items()}
    return {"runs": runs, "verdicts": verdicts(runs, recalled),
            "random name": exact_match(full(), evaluation_documents("test", SHORT, LENGTHS), random_name)}


def verdicts(runs: Mapping[str, Mapping[str, Any]], recalled: Mapping[str, Any]) -> dict[str, str]:
    """The verdict on each claim of the module's docstring; ``recalled`` is CogLTX's exact match."""
    return {**{variant: verdict(recalled, runs[variant]["exact match"], MARGIN) for variant in BUDGETS},
            "order": verdict(runs[LEFT_TO_RIGHT]["answer after"], runs[LEFT_TO_RIGHT]["answer before"], MARGIN)}
