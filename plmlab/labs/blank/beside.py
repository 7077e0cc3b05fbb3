"""The same spans as BERT, T5 and GLM read them: who is told how long a blank is?"""


from plmlab.labs.blank.rows import Layout, with_masks
from plmlab.labs.blank.state import Beside

TOLD = (
    "The reader counts the [MASK]s: the length is told. Each [MASK] says its own word, all at once, and none sees what "
    "another says.",
    "The length is not told. The decoder writes a blank behind its sentinel, until it writes the next sentinel; always "
    "in the order of the text.",
    "The length is not told. A blank is written in Part B, until [END] is said; in any order, by the network that "
    "reads.",
)


def three_inputs(made: Layout) -> list[Beside]:
    """Who reads (``name``), what is read (``reads``), what is said (``says``), and whether the length is ``told``."""
    bert = with_masks(made.words, made.spans, lambda number, length: ["[MASK]"] * length)
    t5 = with_masks(made.words, made.spans, lambda number, length: [f"[X{number}]"])
    hidden = [made.words[slice(*span)] for span in made.spans]
    sentinels = [token for number, words in enumerate(hidden) for token in (f"[X{number}]", *words)]
    said = [" ".join(words) for words in hidden]
    part_b = [" ".join(("[START]", *blank)) for blank in made.blanks]
    return [
        {"name": "BERT, one [MASK] a word", "reads": " ".join(bert), "says": " · ".join(said), "told": TOLD[0]},
        {"name": "T5, a sentinel a span", "reads": " ".join(t5),
         "says": " ".join((*sentinels, f"[X{len(hidden)}]")), "told": TOLD[1]},
        {"name": "GLM, one [MASK] a span", "reads": " ".join((*made.part_a, *part_b)),
         "says": " ".join(token for blank in made.blanks for token in (*blank, "[END]")), "told": TOLD[2]},
    ]
