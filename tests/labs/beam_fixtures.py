"""Small beams for the tests of the Beam Lab, and what Python says of them, for JavaScript to agree with:
``python tests/labs/beam_fixtures.py``."""

import json
from pathlib import Path
from typing import Any

from plmlab.labs import BeamLab
from plmlab.labs.beam.presets import FIRST, PENALTY, TABLES, Preset

FILE = Path(__file__).with_name("beam_fixtures.json")


def table_lab(preset: Preset, **traits: Any) -> BeamLab:
    """The lab at a preset with a table."""
    return BeamLab(presets=[preset], **traits)


def cases() -> list[dict[str, Any]]:
    """Trees with what is pinned beneath them, and one branch unfolded."""
    labs = [table_lab(preset) for preset in (FIRST, *TABLES, PENALTY)]
    labs += [table_lab(TABLES[1], width=10), table_lab(PENALTY, alpha=0.0), table_lab(PENALTY, length=2, width=3)]
    found = []
    for lab in labs:
        pruned = [[step, place] for step, column in enumerate(lab.state["columns"])
                  for place, branch in enumerate(column) if branch["fate"] == "pruned"]
        lab.unfold = pruned[-1] if pruned else []
        found.append({"state": lab.state, "pinned": lab.pinned, "unfolded": lab.unfolded})
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), ensure_ascii=False) + "\n", encoding="utf-8")
