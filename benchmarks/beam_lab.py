"""Latency of the Beam Lab in a real JupyterLab with a warm kernel; prints a table.

Run ``python benchmarks/beam_lab.py``. ``lstm-world`` with the full world, one thread, a prompt after which the search
continues for many steps; and the same model with [END] banned, so that the tree has all 20 steps. First paint, and
times from the user action to the painted frame, medians; "exact search and widths" is Python's share of the exact
search and of the searches with ten widths, which follow after the tree.
"""

import statistics

from labs import ANSWERED, Desk, first_paint, open_desk

MADE = """
import time, torch
torch.set_num_threads(1)
from plmlab import checkpoints, world
from plmlab.labs import BeamLab
model, tokenizer = checkpoints.load("lstm-world")
full = world.full()
class Endless:
    start = model.start
    def step(self, tokens, state):
        return model.step(tokens, state).index_fill(-1, torch.tensor([tokenizer.vocab.end]), -torch.inf)
def made(width, writer):
    return BeamLab(writer, tokenizer, "the ball beside", world=full, presets=[], width=width, alpha=2.0)
model = model.eval()
made(2, model)
"""
SHOWN = {"lstm-world": "lab = made(10, model)\nlab", "lstm-world without [END]": "lab = made(10, Endless())\nlab"}
SAID = """
branches = sum(map(len, lab.state["columns"]))
start = time.perf_counter()
lab.width = 9
lab.width = 10
grown = 500 * (time.perf_counter() - start)
lab._likeliest.clear(), lab._widths.clear()
start = time.perf_counter()
lab.seek += 1
print(f"{len(lab.state['columns'])} steps, {branches} branches; Python's own share {grown:.0f} ms; "
      f"exact search and widths {1000 * (time.perf_counter() - start):.0f} ms")
"""

TIMED = """async ({ act, count }) => {""" + ANSWERED + """
    const lab = [...document.querySelectorAll('.plm-lab')].at(-1), spent = [];
    const widths = () => lab.querySelectorAll('button.width'), steps = lab.querySelector("[aria-label='steps shown']");
    const acts = {
        width: (i) => widths()[8 + i % 2].click(),
        steps: (i) => {
            steps.value = i % 2 ? steps.max : 8;
            steps.dispatchEvent(new Event('input', { bubbles: true }));
        },
    };
    for (let i = 0; i < count; i++) {
        spent.push(await answered(lab.querySelector('.tree').closest('.scroll').parentNode,
            { childList: true, subtree: true, attributes: true }, () => acts[act](i)));
        await new Promise((done) => setTimeout(done, 150));
    }
    return spent;
}"""


def measure(desk: Desk, shown: str) -> tuple[dict[str, str], str]:
    """Action → its latency in ms; and the output of the kernel about its own share."""
    page = desk.run(MADE, shown, SAID, until=".jp-Notebook-cell:nth-of-type(2) .tree")
    row = {"first paint": f"{statistics.median(first_paint(page, 1, '.tree') for _ in range(5)):.0f}"}
    for act, name in (("steps", "steps shown"), ("width", "another width (kernel)")):
        row[name] = f"{statistics.median(page.evaluate(TIMED, {'act': act, 'count': 30})):.0f}"
    return row, desk.run_cell(2)


def main() -> None:
    """Measure and print."""
    rows, said = {}, {}
    with open_desk() as desk:
        for name, shown in SHOWN.items():
            rows[name], said[name] = measure(desk, shown)
    titles = list(rows["lstm-world"])
    print("| Beam Lab, width 10, median ms | " + " | ".join(titles) + " |")
    print("|---|" + "--:|" * len(titles))
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(row.values()) + " |")
    for name, line in said.items():
        print(f"{name}: {line}")


if __name__ == "__main__":
    main()
