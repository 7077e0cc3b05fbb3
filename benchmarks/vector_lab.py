"""Latency of the Vector Lab in a real JupyterLab with a warm kernel; prints a row.

Run ``python benchmarks/vector_lab.py``. 1,500 words × 100 dimensions × 20 snapshots, two groups, counts and an analogy.
For panning, zooming, scrubbing and playing: the time from one frame to the next, median and 95th percentile; otherwise
the time from the user action to the painted frame, median.
"""

import statistics

from labs import ANSWERED, Desk, first_paint, open_desk

MADE = """
import torch
from plmlab.labs import VectorLab
from plmlab.vectors import WordVectors
generator = torch.Generator().manual_seed(0)
words = tuple(f"word{i}" for i in range(1500))
end, noise = (torch.randn(1500, 100, generator=generator) for _ in range(2))
found = {1000 * i: WordVectors(words, (0.3 + i / 20) * end + (1 - i / 20) * noise) for i in range(20)}
def made():
    return VectorLab(found, word="word7", analogy=words[1:5], groups={"a": words[10:60], "b": words[100:140]},
                     counts=range(1500, 0, -1))
made()
"""
SHOWN = "lab = made()\nlab"

FRAMES = """async ({ act, count }) => {
    const lab = [...document.querySelectorAll('.plm-lab')].at(-1), canvas = lab.querySelector('.cloud canvas');
    const box = canvas.getBoundingClientRect(), range = lab.querySelector('.scrubber input');
    canvas.setPointerCapture = () => {};
    const send = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0,
        clientX: box.left + x, clientY: box.top + y }));
    const acts = {
        pan: (i) => send('pointermove', 200 + 80 * Math.sin(i / 6), 200 + i / 2),
        hover: (i) => send('pointermove', 100 + 3 * i, 120 + 2 * i),
        zoom: (i) => canvas.dispatchEvent(new WheelEvent('wheel', { ctrlKey: true, bubbles: true, cancelable: true,
            deltaY: i < 50 ? -20 : 20, clientX: box.left + 250, clientY: box.top + 200 })),
        scrub: (i) => {
            if (i % 5) return;
            range.value = (i / 5) % 20;
            range.dispatchEvent(new Event('input', { bubbles: true }));
        },
        play: (i) => { if (i === 0) lab.querySelector('.play').click(); },
    };
    const gaps = [];
    if (act === 'pan') send('pointerdown', 200, 200);
    let last = 0;
    for (let i = 0; i < count; i++) {
        acts[act](i);
        const now = await new Promise(requestAnimationFrame);
        if (last) gaps.push(now - last);
        last = now;
    }
    if (act === 'pan') send('pointerup', 200, 200);
    await new Promise((done) => setTimeout(done, 1000));
    return gaps;
}"""

SELECT = """async (count) => {""" + ANSWERED + """
    const lab = [...document.querySelectorAll('.plm-lab')].at(-1), spent = [];
    for (let i = 0; i < count; i++) {
        spent.push(await answered(lab.querySelector('.views > :last-child'),
            { childList: true }, () => lab.querySelectorAll('.near button')[i % 5].click()));
        await new Promise((done) => setTimeout(done, 250));
    }
    return spent;
}"""


def measure(desk: Desk) -> dict[str, str]:
    """Action → its times."""
    page = desk.run(MADE, SHOWN, until=".jp-Notebook-cell:nth-of-type(2) .cloud canvas")
    row = {"first paint": f"{statistics.median(first_paint(page, 1, '.cloud canvas') for _ in range(5)):.0f}"}
    for act in ("pan", "zoom", "hover", "scrub", "play"):
        gaps = sorted(page.evaluate(FRAMES, {"act": act, "count": 101}))
        row[f"a frame, {act}"] = f"{gaps[50]:.1f} ({gaps[95]:.1f})"
    row["select a word"] = f"{statistics.median(page.evaluate(SELECT, 30)):.0f}"
    return row


def main() -> None:
    """Measure and print."""
    with open_desk() as desk:
        row = measure(desk)
    print("| Vector Lab, ms | " + " | ".join(row) + " |")
    print("|---|" + "--:|" * len(row))
    print("| 1,500 × 100 × 20 | " + " | ".join(row.values()) + " |")


if __name__ == "__main__":
    main()
