"""Latency of the Attention Lab in a real JupyterLab with a warm kernel; prints a table.

Run ``python benchmarks/attention.py``. MiniLM on its default sentence, and a random BERT of 12 layers × 12 heads on 64
tokens. Times run from the user action to the frame that shows its effect, medians of 30; first paint runs from the
start of the cell to the drawn map, median of 5. The kernel is warm: torch, the lab and the model are loaded.
"""

import statistics

from labs import Desk, first_paint, open_desk

WARM = """
import torch
from plmlab.labs.attention.lab import AttentionLab, default_model
from plmlab.models.bert import BERT, BERTConfig
from plmlab.text.tokenizers import Tokenizer
text = "the old baker told the ferryman a long story about the bear"
words = Tokenizer.words([text], 80)
torch.manual_seed(0)
models = {"MiniLM": AttentionLab}
for width in (96, 768):
    model = BERT(BERTConfig(len(words), layers=12, model=width, heads=12, inner=4 * width))
    models[str(width)] = lambda model=model: AttentionLab(model, words, " ".join((text.split() * 6)[:62]))
for make in models.values():
    make()
models["MiniLM"]()
"""
SHOWN = "lab = models[{model!r}]()\nlab"

TIMED = """async ({ act, count }) => {
    const lab = [...document.querySelectorAll('.plm-lab')].at(-1), spent = [];
    const find = (selector) => lab.querySelector(selector);
    const press = (node, key) => node.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    const acts = {
        hover: ['.why', (i) => {
            const box = find('.head-map .heat canvas').getBoundingClientRect();
            const [x, y] = i % 2 ? [0.2, 0.3] : [0.8, 0.7];
            find('.head-map .heat').dispatchEvent(new PointerEvent('pointermove', { bubbles: true,
                clientX: box.left + box.width * x, clientY: box.top + box.height * y }));
        }],
        layer: ['.head-title', (i) => press(find('.overview .cross'), i % 2 ? 'ArrowUp' : 'ArrowDown')],
        cell: ['.arithmetic', (i) => press(find('.head-map .cross'), i % 2 ? 'ArrowLeft' : 'ArrowRight')],
        vectors: ['.arithmetic', (i) => press(find('.overview .cross'), i % 2 ? 'ArrowUp' : 'ArrowDown'),
            () => find('.arithmetic h4')],
        off: ['.changes', () => press(find('.overview .cross'), ' ')],
    };
    const painted = () => new Promise((done) => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = done;
        channel.port2.postMessage(0);
    }));
    const [where, does, until] = acts[act];
    for (let i = 0; i < count; i++) {
        const start = performance.now();
        const changed = new Promise((done) => {
            const watch = new MutationObserver(() => {
                if (until && !until()) return;
                watch.disconnect();
                done();
            });
            watch.observe(act === 'off' ? lab.querySelector('.body') : find(where),
                { childList: true, subtree: true, attributes: true });
        });
        does(i);
        await changed;
        await painted();
        spent.push(performance.now() - start);
        await new Promise((done) => setTimeout(done, 250));
    }
    return spent;
}"""


ACTS = (("hover", "hover"), ("layer switch", "layer"), ("next cell", "cell"),
        ("a head's vectors (kernel)", "vectors"), ("head off (kernel)", "off"))


def measure(desk: Desk, model: str) -> dict[str, float]:
    """Measure all medians for one model."""
    page = desk.run(WARM, SHOWN.format(model=model), until=".jp-Notebook-cell:nth-of-type(2) .head-map")
    row = {"first paint": statistics.median(first_paint(page, 1, ".head-map") for _ in range(5))}
    for name, act in ACTS:
        row[name] = statistics.median(page.evaluate(TIMED, {"act": act, "count": 30}))
    return row


def main() -> None:
    """Measure and print."""
    titles = {"MiniLM": "MiniLM, 6 × 12 × 15 tokens", "96": "12 × 12 × 64 tokens, width 96",
              "768": "12 × 12 × 64 tokens, width 768"}
    with open_desk() as desk:
        rows = {title: measure(desk, model) for model, title in titles.items()}
    print("| Attention Lab, median ms | " + " | ".join(next(iter(rows.values()))) + " |")
    print("|---|" + "--:|" * len(next(iter(rows.values()))))
    for title, row in rows.items():
        print(f"| {title} | " + " | ".join(f"{value:.0f}" for value in row.values()) + " |")


if __name__ == "__main__":
    main()
