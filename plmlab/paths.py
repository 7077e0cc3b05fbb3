"""Where the course's own files lie: beside the package, in a checkout."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("PLMLAB_DATA", ROOT / "data"))
