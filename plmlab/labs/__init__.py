"""Labs: widgets that let one idea be turned by hand, one a file."""

from plmlab.labs.base import Lab
from plmlab.labs.curve import Curve
from plmlab.labs.mask_lab import MaskLab, Preset

__all__ = ["Curve", "Lab", "MaskLab", "Preset"]
