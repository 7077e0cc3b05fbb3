"""Labs: interactive widgets that each explain one idea. Each lab has its own folder and is imported lazily, on first
access."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plmlab.labs.alignment.lab import AlignmentLab
    from plmlab.labs.alignment.presets import AlignmentPreset
    from plmlab.labs.attention.lab import AttentionLab, AttentionPreset
    from plmlab.labs.base import Lab
    from plmlab.labs.beam.lab import BeamLab
    from plmlab.labs.blank.lab import BlankLab
    from plmlab.labs.cloze.lab import ClozeLab
    from plmlab.labs.cognitive_graph.lab import CognitiveGraphLab
    from plmlab.labs.cognitive_graph.presets import CognitiveGraphPreset
    from plmlab.labs.curve.lab import Curve
    from plmlab.labs.four_masks.lab import FourMasksLab
    from plmlab.labs.gates.lab import GateLab, GatePreset
    from plmlab.labs.gradient.lab import GradientLab
    from plmlab.labs.layer.lab import LayerLab
    from plmlab.labs.layer.presets import LayerPreset
    from plmlab.labs.mask.graphs import GraphMaskLab
    from plmlab.labs.mask.lab import MaskLab, MaskPreset
    from plmlab.labs.memory.lab import MemoryLab
    from plmlab.labs.memory.presets import MemoryPreset
    from plmlab.labs.memory_recall.lab import MemoryRecallLab
    from plmlab.labs.memory_recall.presets import MemoryRecallPreset
    from plmlab.labs.next_token.lab import NextTokenLab
    from plmlab.labs.permutation.lab import PermutationLab
    from plmlab.labs.permutation.presets import PermutationPreset
    from plmlab.labs.position.lab import PositionLab
    from plmlab.labs.retrieval.lab import RetrievalLab
    from plmlab.labs.retrieval.presets import RetrievalPreset
    from plmlab.labs.shape_xray.lab import ShapeXray
    from plmlab.labs.softmax.lab import SoftmaxLab
    from plmlab.labs.vectors.lab import VectorLab
    from plmlab.labs.world.lab import WorldLab

MODULES = {
    "AlignmentLab": "alignment.lab", "AlignmentPreset": "alignment.presets",
    "AttentionLab": "attention.lab", "AttentionPreset": "attention.lab", "BeamLab": "beam.lab", "Lab": "base",
    "BlankLab": "blank.lab", "ClozeLab": "cloze.lab",
    "CognitiveGraphLab": "cognitive_graph.lab", "CognitiveGraphPreset": "cognitive_graph.presets",
    "Curve": "curve.lab", "FourMasksLab": "four_masks.lab",
    "GateLab": "gates.lab", "GatePreset": "gates.lab", "GradientLab": "gradient.lab",
    "GraphMaskLab": "mask.graphs",
    "LayerLab": "layer.lab", "LayerPreset": "layer.presets",
    "MaskLab": "mask.lab", "MaskPreset": "mask.lab", "MemoryLab": "memory.lab", "MemoryPreset": "memory.presets",
    "MemoryRecallLab": "memory_recall.lab", "MemoryRecallPreset": "memory_recall.presets",
    "NextTokenLab": "next_token.lab", "PermutationLab": "permutation.lab", "PermutationPreset": "permutation.presets",
    "PositionLab": "position.lab",
    "RetrievalLab": "retrieval.lab", "RetrievalPreset": "retrieval.presets",
    "ShapeXray": "shape_xray.lab", "SoftmaxLab": "softmax.lab", "VectorLab": "vectors.lab",
    "WorldLab": "world.lab",
}

__all__ = [
    "AlignmentLab",
    "AlignmentPreset",
    "AttentionLab",
    "AttentionPreset",
    "BeamLab",
    "BlankLab",
    "ClozeLab",
    "CognitiveGraphLab",
    "CognitiveGraphPreset",
    "Curve",
    "FourMasksLab",
    "GateLab",
    "GatePreset",
    "GradientLab",
    "GraphMaskLab",
    "Lab",
    "LayerLab",
    "LayerPreset",
    "MaskLab",
    "MaskPreset",
    "MemoryLab",
    "MemoryPreset",
    "MemoryRecallLab",
    "MemoryRecallPreset",
    "NextTokenLab",
    "PermutationLab",
    "PermutationPreset",
    "PositionLab",
    "RetrievalLab",
    "RetrievalPreset",
    "ShapeXray",
    "SoftmaxLab",
    "VectorLab",
    "WorldLab",
]


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"there is no lab {name!r}; the labs are {', '.join(__all__)}")
    return getattr(importlib.import_module(f"{__name__}.{MODULES[name]}"), name)
