"""The hybrid forward pass of the Fast Autoregressive Transformer: target tokens that do not occur in the source are
skipped."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import torch

from plmlab.example import PairExample
from plmlab.objectives.registry import objective
from plmlab.objectives.sequences import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Rule, Visibility

SKIPPED = "{query} or {key} does not occur in the source, so this position is skipped."


@objective(
    title="hybrid forward pass (FAT)", chinese="混合正向传递", paper="a study note, §2.3 and §3.2; no paper is known",
    question="Which rows of the decoder remain if the two texts are a sentence and its translation?",
    answer="Only [START], and the tokens that both languages share. Every other target position has an empty row: it "
           "attends to nothing, neither in the target nor in the source. Its hidden state is a constant, so its "
           "prediction does not depend on the text.",
    texts=2,
)
def hybrid_forward_pass(source: Sequence[int], target: Sequence[int], *, vocab: Vocabulary,
                        rng: Random | None = None) -> PairExample:
    """Sequence to sequence, in which a decoder position is skipped if its input token does not occur in the source.

    A skipped position attends to no position, and no position attends to it; its embedding is set to zero by the model
    (`plmlab.models.speed_transformer`). [START] is kept, because otherwise nothing could be generated. The note's
    threshold on word frequencies has no value in it, and is left out. ``rng`` is not used.
    """
    pair = sequence_to_sequence(source, target, vocab=vocab)
    kept = torch.isin(pair.target.tokens, pair.source.tokens)
    kept[0] = True
    index, everywhere = torch.arange(len(kept)), torch.ones(len(pair.source.tokens), dtype=torch.bool)
    own = Visibility((Rule("left context that occurs in the source",
                           "{key} is not after {query}, and both occur in the source.", kept, kept, index, index,
                           unless="{key} comes later: attending to it would leak a target."),), otherwise=SKIPPED)
    cross = Visibility((Rule.between("all of the source", "{query} occurs in the source, and so does {key}.", kept,
                                     everywhere),), otherwise="{query} does not occur in the source, so it is skipped.")
    return replace(pair, target=replace(pair.target, visible=own), cross=cross)
