"""Paths of the course's root folder, a checkout that contains this package, and of its data folder."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("PLMLAB_DATA", ROOT / "data"))
