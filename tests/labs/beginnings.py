"""Each lab in its beginnings: Python that makes it from the tests' small models, run in this process or in a kernel."""

from typing import Any

from plmlab.labs import Lab

IMPORTS = """
from functools import cache
from pathlib import Path
import torch
torch.set_num_threads(1)
import alignment_models
import blank_models
import cognitive_graph_models
import entity_lab_models
import four_masks_models
import gate_models
import layer_models
import memory_models
import memory_recall_models
import permutation_models
import rag_models
import retrieval_models
import vector_fixtures
from beam_fixtures import table_lab
from cloze_models import crossed, gpt
from networkx import DiGraph
from next_token_models import SMALL, WORDS, seeded
from standin import HOSTILE, SENTENCES, words
from plmlab.hf import minilm
from plmlab.labs import *
from plmlab.labs.beam.presets import PENALTY
from plmlab.models.gpt import GPT2
minilm = cache(minilm)
def curve():
    run = Curve("a run", floor=2.1, steps=60)
    for step in range(1, 41):
        run.add(step, 2.2 + 5 / step, validation=2.6 if step % 20 == 0 else None)
    return run
"""
PAIR = '"the old baker told the ferryman", "sequence_to_sequence", second="the baker told a story"'
BEGINNINGS = {
    "AlignmentLab": ["alignment_models.pointing()",
                     'alignment_models.pointing(held=[{"step": 1, "position": 2}], labelled="read", steps=3)'],
    "AttentionLab": ["AttentionLab()", "entity_lab_models.spans()"],
    "BeamLab": ["BeamLab()", "table_lab(PENALTY, steps=3)"],
    "BlankLab": ["blank_models.lab()", "BlankLab(fill_in=True)"],
    "ClozeLab": ["crossed(left_only=gpt())"],
    "CognitiveGraphLab": ["cognitive_graph_models.lab()", "cognitive_graph_models.lab(2, step=2, gold=True)"],
    "Curve": ["curve()"],
    "FourMasksLab": ["four_masks_models.lab()"],
    "GateLab": ["gate_models.lab()", 'gate_models.lab(drawn="forget", holds=gate_models.HOLDS)'],
    "GradientLab": ["GradientLab()", 'GradientLab("lstm")', 'GradientLab(view="cliff")'],
    "GraphMaskLab": [f'GraphMaskLab(DiGraph([("Old Roma", "Dusk"), ("Dusk", "Adam"), ("Dusk", "1974")]), "{reading}")'
                     for reading in ("in_neighbours", "in_neighbours_and_self")],
    "LayerLab": ["layer_models.lab()",
                 'layer_models.lab(shares=[0.2, 0.5, 0.3], chosen=1, score="form", places=[0, 0])'],
    "MaskLab": ['MaskLab(words(), SENTENCES[12], "masked", seed=3)', f"MaskLab(words(), {PAIR})",
                'MaskLab(words(), SENTENCES[12], "causal", network="recurrent")',
                'MaskLab(words(*HOSTILE.values()), SENTENCES[12], "bidirectional_lm")'],
    "MemoryLab": ["memory_models.lab()",
                  'memory_models.lab(cuts=[[0, 9]], without="unshifted", layer=1, head=1, key=8)'],
    "MemoryRecallLab": ["memory_recall_models.lab()", 'memory_recall_models.lab(step=4, needed=True, '
                        'held=[0], excluded=[5], edits={"3": "Ada saw Oslo twice ."})'],
    "NextTokenLab": ['NextTokenLab(seeded(GPT2), WORDS, "Henry Quinn is older than", world=SMALL)'],
    "PermutationLab": ["permutation_models.lab()", "permutation_models.lab(leak=True, by_order=True, step=2)"],
    "PositionLab": [f'PositionLab(*minilm(), kind="{kind}")'
                    for kind in ("sinusoidal", "learned", "relative", "sentence", "compared")],
    "RetrievalLab": ["retrieval_models.lab()", "retrieval_models.lab(k=8, removed=[2], temperature=2.0)",
                     "rag_models.lab(k=3)", "entity_lab_models.entities(k=3)",
                     "entity_lab_models.facts(removed=[1])"],
    "ShapeXray": ["ShapeXray()", "ShapeXray(wrong=True)"],
    "SoftmaxLab": ["SoftmaxLab()"],
    "VectorLab": ["vector_fixtures.lab()", "vector_fixtures.lab(axes=vector_fixtures.AXES, update=100)"],
    "WorldLab": [f'WorldLab(view="{view}")' for view in ("sentences", "probability", "entity", "question")],
}
"""Lab → Python for some of it."""

NAMES: dict[str, Any] = {}
exec(IMPORTS, NAMES)


def made(beginning: str) -> Lab:
    """The lab of a beginning, made in this process."""
    return eval(beginning, NAMES)
