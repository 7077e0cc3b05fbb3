"""Small alignments for the tests of the Alignment Lab, and what is counted in them by hand, for JavaScript to agree
with: ``python tests/labs/alignment_fixtures.py``."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
from alignment_models import TURNED, pointing

FILE = Path(__file__).with_name("alignment_fixtures.json")


def counted(state: dict[str, Any], shift: int) -> int:
    """How many gold partners have the heaviest weight of the row ``shift`` steps below theirs, cell by cell."""
    now = state["now"]
    weights = np.frombuffer(now["weights"], dtype="<f4").reshape(len(now["tokens"]), len(state["source"]))
    found = 0
    for step, position in now["partners"]:
        if step + shift >= len(weights):
            continue
        found += all(weights[step + shift, position] > other or k == position for k,
                     other in enumerate(weights[step + shift]))
    return found


def cases() -> list[dict[str, Any]]:
    """States, with the partners that are hit where rows are named by the word written, and by the word read."""
    labs = {
        "plain": pointing(), "turned": pointing(0, 4, 4, 2, 0, 1, 5, 6, 7, 8, text=TURNED),
        "moved": pointing(moved=[{"step": 1, "position": 2}]),
        "in part": pointing(moved=[{"step": 1, "position": 2, "share": 0.5}]),
        "masked": pointing(masked=[1]), "nothing held changes": pointing(moved=[{"step": 1, "position": 1}]),
        "no gold": pointing(text="the girls the girls"),
    }
    return [{"name": name, "state": lab.state | {"others": []}, "written": counted(lab.state, 0),
             "read": counted(lab.state, 1)} for name, lab in labs.items()]


def stored() -> str:
    """The cases as JSON, bytes as text in base64."""
    return json.dumps(cases(), ensure_ascii=False, default=lambda sent: b64encode(sent).decode()) + "\n"


if __name__ == "__main__":
    FILE.write_text(stored(), encoding="utf-8")
