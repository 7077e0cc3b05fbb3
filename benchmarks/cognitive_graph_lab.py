"""Latency of the Cognitive Graph Lab in a real JupyterLab with a warm kernel; prints a table.

Run ``python benchmarks/cognitive_graph_lab.py``. ``cogqa-world``, one thread, the full world's pages. First paint, and
times from the user action to the painted frame, medians; Python's share for a question covers all of its steps, without
any cache.
"""

from labs import ANSWERED, REPEATED, tabled

MADE = """
import statistics, time, torch
from functools import partial
from itertools import islice
torch.set_num_threads(1)
torch.manual_seed(0)
from plmlab import world
from plmlab.chapters.ch14.presets import preset
from plmlab.chapters.ch14.training import pages
from plmlab.checkpoints import load
from plmlab.labs import CognitiveGraphLab
from plmlab.models.cogqa_search import CogQASearch
(model, spelled), told = load("cogqa-world"), pages("test")
questions = [preset(one, told, str(i)) for i, one in enumerate(
    one for kind in ("bridge", "comparison") for one in islice(world.full().questions(kind, "test", 0), 30))]
made = CognitiveGraphLab(partial(CogQASearch, model, told, spelled.vocab), spelled, questions)
"""
SHOWN = "made.step = 2\nmade"
SAID = """
spent, steps, nodes = [], [], []
for one in questions:
    made._run.cache_clear()
    start = time.perf_counter()
    made.set_state({"text": one.question, "kind": one.kind})
    spent.append(1000 * (time.perf_counter() - start))
    steps.append(len(made.state["steps"]) - 1)
    nodes.append(len(made.state["nodes"]))
each = statistics.median(a / b for a, b in zip(spent, steps))
print(f"a question {statistics.median(spent):.0f} ms (at most {max(spent):.0f}), a step {each:.0f} ms; "
      f"{statistics.median(steps):.0f} steps, {statistics.median(nodes):.0f} nodes (at most {max(nodes)})")
"""

TIMED = """async ({ act, count }) => {""" + ANSWERED + """
    const lab = [...document.querySelectorAll('.plm-lab')].at(-1), spent = [];
    const button = (text) => [...lab.querySelectorAll('button')].find((one) => one.textContent.startsWith(text));
    const place = lab.querySelector('.graph-place'), choice = lab.querySelector("[aria-label='preset question']");
    const acts = {
        step: (i) => button(i % 2 ? 'Step' : '◂ Back').click(),
        open: (i) => lab.querySelectorAll('.graph .node')[i % 2].click(),
        cut: (i) => button(i % 2 ? 'Allow again' : 'Exclude this node').click(),
        question: (i) => { choice.value = i; choice.dispatchEvent(new Event('change')); },
    };
""" + REPEATED + "}"
ACTS = {"step": "a step", "open": "a node opened", "cut": "a node excluded (kernel)",
        "question": "another question (kernel)"}


def main() -> None:
    """Measure and print."""
    tabled("Cognitive Graph Lab", "cogqa-world", (MADE, SHOWN, SAID), TIMED, ACTS, ".graph")


if __name__ == "__main__":
    main()
