"""Latency of the Layer Lab in a real JupyterLab with a warm kernel; prints a table.

Run ``python benchmarks/layer_lab.py``. An ELMo of 96 dimensions per direction with random weights, one thread, with the
vocabulary of the full world, whose occurrences are stored and queried. First paint, and times from the user action to
the painted frame, medians of 30; "dragged" has two columns: the first move, before the products of all pairs are
computed, and the median of the later ones.
"""

import statistics

from labs import ANSWERED, Desk, first_paint, open_desk

MADE = """
import time, torch
torch.set_num_threads(1)
from plmlab.labs import LayerLab
from plmlab.labs.layer.store import Sentences
from plmlab.models.elmo import SMALL, ELMo, ELMoConfig
from plmlab.world.datasets.tokenizer import world_tokenizer
torch.manual_seed(0)
words = world_tokenizer()
elmo = ELMo(ELMoConfig(vocab=len(words), longest=20, model=96, hidden=192, clip=None, filters=SMALL, highways=1)).eval()
elmo.spell(words)
sentences = Sentences.of_the_world()
def made():
    return LayerLab(elmo, words, sentences=sentences, task_shares={"NER": (0.2, 0.5, 0.3)})
made()
"""
SHOWN = "lab = made()\nlab"
SAID = """
spent = {}
for name in ("text", "spelled"):
    start = time.perf_counter()
    for i in range(20):
        setattr(lab, name, f"{'the bank ' * 5}{i}" if name == "text" else f"bankful{i}")
    spent[name] = 50 * (time.perf_counter() - start)
start = time.perf_counter()
lab = made()
print(f"Python's own share: a sentence {spent['text']:.0f} ms, a word {spent['spelled']:.0f} ms, a lab "
      f"{time.perf_counter() - start:.1f} s; {len(sentences.known)} stored, {len(sentences.asked)} asked; "
      f"{sum(len(lab.store[part]['vectors']) for part in ('known', 'asked')) / 1e6:.2f} MB of vectors")
"""

TIMED = """async ({ act, where, count, pause }) => {""" + ANSWERED + """
    const lab = [...document.querySelectorAll('.plm-lab')].at(-1), spent = [];
    const type = (label, text) => {
        const box = lab.querySelector(`[aria-label='${label}']`);
        box.value = text;
        box.dispatchEvent(new Event('input', { bubbles: true }));
    };
    const handle = lab.querySelector('.handle');
    const acts = {
        drag: (i) => handle.dispatchEvent(new KeyboardEvent('keydown',
            { key: i % 20 < 10 ? 'ArrowUp' : 'ArrowDown', bubbles: true })),
        hover: (i) => lab.querySelectorAll('.cosines td')[i % 9].dispatchEvent(
            new PointerEvent('pointerover', { bubbles: true })),
        word: (i) => lab.querySelectorAll('.words')[1].querySelectorAll('.chip')[i % 8].click(),
        text: (i) => type('the first sentence', `the old bank lent the grandmother ${'ab'[i % 2]} .`),
        spell: (i) => type('any word, in the vocabulary or not', `bankful${i}`),
    };
    for (let i = 0; i < count; i++) {
        spent.push(await answered(lab.querySelector(where),
            { childList: true, subtree: true, attributes: true, characterData: true }, () => acts[act](i)));
        await new Promise((done) => setTimeout(done, pause));
    }
    return spent;
}"""
ACTS = {"layer weights dragged": ("drag", ".scores"), "hover": ("hover", ".why"),
        "another word": ("word", ".cosines-place"), "a sentence (kernel)": ("text", ".cosines-place"),
        "a word spelled (kernel)": ("spell", ".spelling-place")}


def measure(desk: Desk) -> tuple[dict[str, str], str]:
    """Action → its latency in ms; and the output of the kernel about its own share."""
    page = desk.run(MADE, SHOWN, SAID, until=".jp-Notebook-cell:nth-of-type(2) .cosines")
    row = {"first paint": f"{statistics.median(first_paint(page, 1, '.cosines') for _ in range(5)):.0f}"}
    first = page.evaluate(TIMED, {"act": "drag", "where": ".scores", "count": 1, "pause": 3000})
    row["first drag"] = f"{first[0]:.0f}"
    for name, (act, where) in ACTS.items():
        spent = page.evaluate(TIMED, {"act": act, "where": where, "count": 30, "pause": 250})
        row[name] = f"{statistics.median(spent):.0f}"
    return row, desk.run_cell(2)


def main() -> None:
    """Measure and print."""
    with open_desk() as desk:
        row, said = measure(desk)
    print("| Layer Lab, median ms | " + " | ".join(row) + " |")
    print("|---|" + "--:|" * len(row))
    print("| 3 × 96 dimensions per direction | " + " | ".join(row.values()) + " |")
    print(said)


if __name__ == "__main__":
    main()
