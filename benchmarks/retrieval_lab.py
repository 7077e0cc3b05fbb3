"""Latency of the Retrieval Lab in a real JupyterLab with a warm kernel; prints a table.

Run ``python benchmarks/retrieval_lab.py``. The bundled ``realm-world``, one thread, the blocks of a medium world. First
paint, and times from the user action to the painted frame, medians; Python's share is that of one change, without any
cache.
"""

from labs import ANSWERED, REPEATED, tabled

MADE = """
import statistics, time, torch
torch.set_num_threads(1)
from plmlab.chapters.ch16.corpora import corpus
from plmlab.checkpoints import load
from plmlab.labs import RetrievalLab, RetrievalPreset
from plmlab.models.retrieve_and_read import RetrieveAndRead
from plmlab.world.datasets.tokenizer import world_tokenizer
lookup = RetrieveAndRead.of(load("realm-world")[0], world_tokenizer(), corpus(1).blocks)
said = [" ".join("[MASK]" if place in one.salient else word for place, word in enumerate(one.cloze.words))
        for one in corpus(1).statements[:12]]
made = RetrievalLab(lookup, [RetrievalPreset(str(i), text) for i, text in enumerate(said[:2])])
"""
SHOWN = "made"
SAID = """
def spent(changes):
    found = []
    for change in changes:
        made._read.cache_clear()
        start = time.perf_counter()
        made.set_state(change)
        found.append(1000 * (time.perf_counter() - start))
        assert not made.stale
    return f"{statistics.median(found):.0f} ms (at most {max(found):.0f})"
one = corpus(1).blocks[0]
shown = {"a statement": spent([{"text": text} for text in said]),
         "another temperature": spent([{"temperature": 0.5 + i / 12} for i in range(12)]),
         "k = 8": spent([{"text": text, "k": 8} for text in said]), "k = 4 again": spent([{"k": 4}])}
made._read.cache_clear()
each = []
for i in range(12):
    start = time.perf_counter()
    made.replaced = {"0": [one.title, f"{one.text} {said[i % 9]}".replace("[MASK]", "Alder")[:100 + i]]}
    each.append(1000 * (time.perf_counter() - start))
shown["a character typed into a document"] = f"{statistics.median(each):.0f} ms (at most {max(each):.0f})"
start = time.perf_counter()
for _ in range(20): lookup.corpus.copied()
shown["a copy of the corpus"] = f"{50 * (time.perf_counter() - start):.2f} ms"
print("; ".join(f"{name} {value}" for name, value in shown.items()))
"""

TIMED = """async ({ act, count }) => {""" + ANSWERED + """
    const lab = [...document.querySelectorAll('.plm-lab')].at(-1), spent = [];
    const place = lab.querySelector('.board-place');
    const set = (label, value) => {
        const input = lab.querySelector(`[aria-label="${label}"]`);
        input.value = value;
        input.dispatchEvent(new Event('input'));
    };
    const acts = {
        answer: (i) => lab.querySelectorAll('.answer')[i % 2].click(),
        out: () => lab.querySelector('.card [aria-pressed]').click(),
        k: (i) => set('k documents', 3 + i % 2),
        preset: (i) => lab.querySelectorAll('.preset')[i % 2].click(),
    };
""" + REPEATED + "}"
ACTS = {"answer": "an answer chosen", "out": "a document excluded (kernel)", "preset": "another statement (kernel)",
        "k": "k (kernel, includes a wait of 150)"}


def main() -> None:
    """Measure and print."""
    tabled("Retrieval Lab", "realm-world, 120 documents", (MADE, SHOWN, SAID), TIMED, ACTS, ".board")


if __name__ == "__main__":
    main()
