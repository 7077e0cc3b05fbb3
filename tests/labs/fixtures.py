"""What Python says of some masks, for JavaScript to agree with: ``python tests/labs/fixtures.py`` writes it."""

import json
import random
from pathlib import Path
from typing import Any

import torch
from standin import SENTENCES, words

from plmlab.labs.mask.kinds import drawn
from plmlab.labs.mask.networks import NETWORKS, Network
from plmlab.labs.shared.masks import mask_state
from plmlab.labs.shared.tokens import names_of
from plmlab.objectives import OBJECTIVES, always_mask, masked_span, sequence_to_sequence
from plmlab.visibility import Rule, Visibility

FILE = Path(__file__).with_name("fixtures.json")


def blanks() -> Visibility:
    """A mask of two rules, one with ranks and one without: three positions of text, two that write."""
    text, writer = torch.tensor([1, 1, 1, 0, 0]).bool(), torch.tensor([0, 0, 0, 1, 1]).bool()
    place = torch.arange(5)
    return Visibility((
        Rule.between("the text", "{key} stands in the text.", text | writer, text),
        Rule("what was written", "{query} writes after {key}.", writer, writer, place, place,
             unless="{key} is not written yet."),
    ), otherwise="{query} belongs to the text, {key} does not.")


def squares() -> dict[str, tuple[list[int], Visibility, Network]]:
    """By name: the ids of the positions, a square over them, and who reads it."""
    tokenizer, reads = words(), NETWORKS["transformer"]
    ids = tokenizer.encode(SENTENCES[12])
    made = {name: OBJECTIVES[name].make(ids, vocab=tokenizer.vocab, rng=random.Random(1))
            for name in ("causal", "masked", "window")}
    found = {name: (example.tokens.tolist(), example.visible, reads) for name, example in made.items()}
    found["blanks"] = (found["causal"][0][:5], blanks(), reads)
    pair = sequence_to_sequence(ids[:4], ids[2:6], vocab=tokenizer.vocab)
    span = masked_span(ids[:5], vocab=tokenizer.vocab, rng=random.Random(1), span=(2, 4), corrupt=always_mask)
    ends = OBJECTIVES["bidirectional_lm"].make(ids[:4], vocab=tokenizer.vocab, rng=random.Random(1))
    for name, network, item in (
            ("pair", "transformer", pair), ("masked span", "transformer", span),
            ("through one vector", "recurrent", pair),
            ("both ways", "bidirectional", made["masked"]), ("from both ends", "transformer", ends),
            ("apart", "recurrent", ends), ("joined", "bidirectional", ends)):
        found[name] = (drawn(item).row().tokens.tolist(), NETWORKS[network].streams(drawn(item))[0][1],
                       NETWORKS[network])
    return found


EDITS = {"causal": [(0, 5, True), (4, 4, False), (0, 5, False), (0, 5, True)], "blanks": [(3, 4, True)],
         "pair": [(5, 0, False), (6, 8, True)], "from both ends": [(6, 8, True), (1, 0, False)]}


def cases() -> list[dict[str, Any]]:
    """Masks, edits, and for each cell what Python says: may it look, and the sentence."""
    tokenizer, found = words(), []
    for name, (ids, square, network) in squares().items():
        visible, edits = square, EDITS.get(name, [])
        for query, key, look in edits:
            visible = visible.edited(query, key, look)
        names = names_of(tokenizer.tokens(ids))
        count, (open_, closed) = len(names), network.verbs
        found.append({
            "name": name, "mask": mask_state("content", square), "names": names, "count": count,
            "edits": [[0, *edit] for edit in edits], "verbs": list(network.verbs),
            "looks": visible.dense().int().flatten().tolist(),
            "reasons": [visible.reason(q, k, names).replace(" can attend to ", f" {open_} ", 1)
                        .replace(" cannot attend to ", f" {closed} ", 1) for q in range(count) for k in range(count)],
        })
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
