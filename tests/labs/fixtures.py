"""What Python says of some masks, for JavaScript to agree with: ``python tests/labs/fixtures.py`` writes it."""

import json
import random
from pathlib import Path
from typing import Any

import torch
from standin import SENTENCES, words

from plmlab.example import Example
from plmlab.labs.mask.influence import NETWORKS, bidirectional, recurrent
from plmlab.labs.mask.pair import side_by_side
from plmlab.labs.shared.masks import mask_state
from plmlab.labs.shared.tokens import names_of
from plmlab.objectives import OBJECTIVES, sequence_to_sequence
from plmlab.visibility import Rule, Visibility

FILE = Path(__file__).with_name("fixtures.json")


def blanks() -> Visibility:
    """A mask of two rules, one with ranks and one without: three slots of text, two that write."""
    text, writer = torch.tensor([1, 1, 1, 0, 0]).bool(), torch.tensor([0, 0, 0, 1, 1]).bool()
    place = torch.arange(5)
    return Visibility((
        Rule.between("the text", "{key} stands in the text.", text | writer, text),
        Rule("what was written", "{query} writes after {key}.", writer, writer, place, place,
             unless="{key} is not written yet."),
    ), otherwise="{query} belongs to the text, {key} does not.")


def cases() -> list[dict[str, Any]]:
    """Masks, edits, and for each cell what Python says: may it look, and the sentence."""
    tokenizer = words()
    ids = tokenizer.encode(SENTENCES[12])
    made = {name: OBJECTIVES[name].make(ids, vocab=tokenizer.vocab, rng=random.Random(1))
            for name in ("causal", "masked")}
    example = made["causal"]
    made["blanks"] = Example(example.tokens[:5], example.positions[:, :5], example.segments[:5], blanks(),
                             example.targets[:5])
    pair = sequence_to_sequence(ids[:4], ids[2:6], vocab=tokenizer.vocab)
    made["pair"], made["both ways"] = side_by_side(pair), bidirectional(made["masked"])
    made["through one vector"] = side_by_side(recurrent(pair))
    edits = {"causal": [(0, 5, True), (4, 4, False), (0, 5, False), (0, 5, True)], "masked": [],
             "blanks": [(3, 4, True)], "pair": [(5, 0, False), (6, 8, True)]}
    found = []
    for name, item in made.items():
        visible = item.visible
        verbs = NETWORKS["recurrent" if name in ("both ways", "through one vector") else "attention"].verbs
        for query, key, look in edits.get(name, ()):
            visible = visible.edited(query, key, look)
        names = names_of(tokenizer.tokens(item.tokens.tolist()))
        count = len(names)
        found.append({
            "name": name, "mask": mask_state("content", item.visible), "names": names, "count": count,
            "edits": [[0, *edit] for edit in edits.get(name, ())], "verbs": verbs,
            "looks": visible.dense().int().flatten().tolist(),
            "reasons": [visible.reason(q, k, names, verbs) for q in range(count) for k in range(count)],
        })
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
