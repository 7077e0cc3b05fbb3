"""The same spans in the input formats of BERT, T5 and GLM: which model knows the length of a blank?"""


from plmlab.labs.blank.rows import Layout, with_masks
from plmlab.labs.blank.state import OtherFormat

TOLD = (
    "Known: the number of [MASK]s. All masked words are predicted in parallel and independently of each other.",
    "Unknown. The decoder generates the span after its sentinel, until it generates the next sentinel; always in the "
    "order of the text.",
    "Unknown. A blank is generated in Part B until [END]; the blanks in any order, by the same network that encodes "
    "Part A.",
)


def three_inputs(made: Layout) -> list[OtherFormat]:
    """For each model: its ``name``, its input (``reads``), its targets (``says``), and what it knows about the length
    (``told``)."""
    bert = with_masks(made.words, made.spans, lambda number, length: ["[MASK]"] * length)
    t5 = with_masks(made.words, made.spans, lambda number, length: [f"[X{number}]"])
    hidden = [made.words[slice(*span)] for span in made.spans]
    sentinels = [token for number, words in enumerate(hidden) for token in (f"[X{number}]", *words)]
    targets = [" ".join(words) for words in hidden]
    part_b = [" ".join(("[START]", *blank)) for blank in made.blanks]
    return [
        {"name": "BERT, one [MASK] per word", "reads": " ".join(bert), "says": " · ".join(targets), "told": TOLD[0]},
        {"name": "T5, one sentinel per span", "reads": " ".join(t5),
         "says": " ".join((*sentinels, f"[X{len(hidden)}]")), "told": TOLD[1]},
        {"name": "GLM, one [MASK] per span", "reads": " ".join((*made.part_a, *part_b)),
         "says": " ".join(token for blank in made.blanks for token in (*blank, "[END]")), "told": TOLD[2]},
    ]
