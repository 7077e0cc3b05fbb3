"""Latency of the Alignment Lab in a real JupyterLab with a warm kernel; prints a table.

Run ``python benchmarks/alignment_lab.py``. A model of width 128 with random weights, one thread, on passages of the
small world of about 30 and about 50 words, for which it generates 90 words, the maximum; and a pointer model, which
generates as many words as its source has. First paint, and times from the user action to the painted frame, medians of
30.
"""

import statistics

from labs import ANSWERED, Desk, first_paint, open_desk

MADE = """
import time, torch
from itertools import islice
from random import Random
torch.set_num_threads(1)
from alignment_models import FIXED, SMALL, WORDS, GeneralSeq2Seq, Pointer, Seq2SeqConfig
from plmlab.labs import AlignmentLab
from plmlab.world.datasets.passages import passages
torch.manual_seed(0)
model = GeneralSeq2Seq(Seq2SeqConfig(len(WORDS))).eval()
def made(writer, words):
    told = passages(SMALL, "test", Random(2), range(words, words + 1))
    told = next(one for one in told if len(one.english) > words - 3)
    return AlignmentLab({"drawn": writer, "fixed": FIXED}, WORDS, " ".join(told.english), world=SMALL)
made(model, 12)
"""
SHOWN = {"a pointer, 30 words": "lab = made(Pointer(), 30)\nlab",
         "random weights, 30 words": "lab = made(model, 30)\nlab",
         "random weights, 50 words": "lab = made(model, 50)\nlab"}
SAID = """
start = time.perf_counter()
for position in range(20):
    lab.held = [{"step": 3, "position": position}]
spent = 50 * (time.perf_counter() - start)
lab.held = []
lab._counted.clear()
start = time.perf_counter()
lab.count += 1
print(f"{len(lab.state['source'])} × {len(lab.state['now']['tokens'])} words; Python's own share {spent:.0f} ms; "
      f"counting all words {time.perf_counter() - start:.1f} s")
"""

TIMED = """async ({ act, where, count }) => {""" + ANSWERED + """
    const lab = [...document.querySelectorAll('.plm-lab')].at(-1), spent = [];
    const steps = lab.querySelector("[aria-label='words shown']");
    const chips = () => lab.querySelectorAll('.words.source .chip');
    const acts = {
        hover: (i) => chips()[2 + i % 2].dispatchEvent(new PointerEvent('pointerover', { bubbles: true })),
        steps: (i) => {
            steps.value = i % 2 ? steps.max : 8;
            steps.dispatchEvent(new Event('input', { bubbles: true }));
        },
        label: (i) => lab.querySelectorAll('.one input[type=radio]')[1 - i % 2].click(),
        shut: (i) => chips()[i % 5].click(),
        put: (i) => {
            const heat = lab.querySelector('.looks .heat'), box = heat.getBoundingClientRect();
            heat.dispatchEvent(new MouseEvent('click', { bubbles: true,
                clientX: box.left + box.width * (i % 7 + 0.5) / 10, clientY: box.top + 40 }));
        },
    };
    for (let i = 0; i < count; i++) {
        spent.push(await answered(lab.querySelector(where),
            { childList: true, subtree: true, attributes: true, characterData: true }, () => acts[act](i)));
        await new Promise((done) => setTimeout(done, 150));
    }
    return spent;
}"""
ACTS = {"hover": ("hover", ".why"), "words shown": ("steps", ".links-place"),
        "rows relabelled": ("label", ".matrix-place"), "a word masked (kernel)": ("masked", ".did"),
        "attention moved (kernel)": ("put", ".did")}


def measure(desk: Desk, shown: str) -> tuple[dict[str, str], str]:
    """Action → its median latency in ms; and the output of the kernel about its own share."""
    page = desk.run(MADE, shown, SAID, until=".jp-Notebook-cell:nth-of-type(2) .drawing")
    row = {"first paint": f"{statistics.median(first_paint(page, 1, '.drawing') for _ in range(5)):.0f}"}
    for name, (act, where) in ACTS.items():
        row[name] = f"{statistics.median(page.evaluate(TIMED, {'act': act, 'where': where, 'count': 30})):.0f}"
    return row, desk.run_cell(2)


def main() -> None:
    """Measure and print."""
    rows, said = {}, {}
    with open_desk() as desk:
        for name, shown in SHOWN.items():
            rows[name], said[name] = measure(desk, shown)
    titles = ["first paint", *ACTS]
    print("| Alignment Lab, median ms | " + " | ".join(titles) + " |")
    print("|---|" + "--:|" * len(titles))
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(row.values()) + " |")
    for name, line in said.items():
        print(f"{name}: {line}")


if __name__ == "__main__":
    main()
