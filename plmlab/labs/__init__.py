"""Labs: widgets that let one idea be turned by hand, one a file."""

from plmlab.labs.attention_lab import AttentionLab, Look
from plmlab.labs.base import Lab
from plmlab.labs.cloze_lab import ClozeLab
from plmlab.labs.curve import Curve
from plmlab.labs.mask_lab import MaskLab, Preset
from plmlab.labs.next_token_lab import NextTokenLab
from plmlab.labs.position_lab import PositionLab
from plmlab.labs.shape_xray import ShapeXray
from plmlab.labs.world_lab import WorldLab

__all__ = ["AttentionLab", "ClozeLab", "Curve", "Lab", "Look", "MaskLab", "NextTokenLab", "PositionLab",
           "Preset", "ShapeXray", "WorldLab"]
