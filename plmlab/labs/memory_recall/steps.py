"""MemRecall from the first round to the answer, and its steps and costs as data for JavaScript."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from plmlab.labs.memory_recall import state
from plmlab.text.printable import printable
from plmlab.text.tokenizers import Tokenizer


class Reader(Protocol):
    """The model, as needed by the lab: CogLTX."""

    @property
    def config(self) -> Any:
        """Its configuration: ``encoder``, ``capacity`` and ``longest``."""

    def read(self, query: Sequence[int], blocks: Mapping[int, Sequence[int]], held: Sequence[int] = (), /,
             ) -> tuple[tuple[Any, ...], tuple[int, int, int]]:
        """The rounds of MemRecall, and the answer: position of the block, start, end."""


@dataclass(frozen=True)
class Run:
    """The rounds of MemRecall (`plmlab.models.memory_recall.Round`) and the answer: position, start, end."""

    rounds: tuple[Any, ...]
    answer: tuple[int, int, int]

    def drawn(self, tokenizer: Tokenizer, query: Sequence[int], blocks: Mapping[int, Sequence[int]]) -> state.Run:
        """The run as data; ``blocks`` is the whole text, excluded blocks included."""
        return {"steps": [*self._steps(len(blocks))], "answer": self.said(tokenizer, blocks),
                "cost": cost(self.rounds, len(query) + sum(len(block) - 1 for block in blocks.values()) + 1)}

    def said(self, tokenizer: Tokenizer, blocks: Mapping[int, Sequence[int]]) -> state.Answer:
        """The answer, with its text."""
        position, start, end = self.answer
        return {"position": position, "start": start, "end": end,
                "text": printable(tokenizer.decode(blocks[position][start:end]))}

    def _steps(self, count: int) -> Iterator[state.Step]:
        for number, one in enumerate(self.rounds, 1):
            entered, dropped = _positions(one.entered), _positions(one.dropped)
            rest = [position for position in one.competition if position not in entered]
            ended = max(rest, key=one.competition.__getitem__, default=None)
            yield _step("competition", number, len(one.windows), one.competition, count, one.rehearsed,
                        entered=entered, ended=ended)
            yield _step("rehearsal", number, 1, one.rehearsal, count, one.kept,
                        dropped=sorted(dropped, key=lambda position: -one.rehearsal[position]))
        last = self.rounds[-1]
        kept = {position: last.rehearsal[position] for position in _positions(last.kept.blocks)}
        yield _step("answer", len(self.rounds), 0, kept, count, last.kept)


def _positions(blocks: Sequence[Any]) -> list[int]:
    return [block.position for block in blocks]


def _step(kind: str, number: int, windows: int, scores: Mapping[int, float], count: int, memory: Any, *,
          entered: Sequence[int] = (), dropped: Sequence[int] = (), ended: int | None = None) -> state.Step:
    """A step of a text of ``count`` blocks; scores have six significant digits."""
    return {"kind": kind, "round": number, "windows": windows, "memory": _positions(memory.blocks),
            "scores": [float(f"{scores[at]:.6g}") if at in scores else None for at in range(count)],
            "size": len(memory), "entered": [*entered], "dropped": [*dropped], "ended": ended}


def cost(rounds: Sequence[Any], tokens: int) -> state.Cost:
    """Query–key pairs of full attention on ``tokens`` tokens, and of all windows of judge and reasoner."""
    windows = [window for one in rounds for window in (*one.windows, one.rehearsed)]
    return {"tokens": tokens, "full": tokens ** 2, "windows": len(windows),
            "judge": sum(len(window) ** 2 for window in windows), "reasoner": len(rounds[-1].kept) ** 2}
