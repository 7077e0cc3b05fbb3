"""MemRecall from the first round to the answer, and its steps and costs as data for JavaScript."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from plmlab.interpret.readable import inference
from plmlab.labs.memory_recall import state
from plmlab.models.cogltx import CogLTX
from plmlab.models.memory_recall import MemoryBlock, Round, Window, pinned
from plmlab.text.printable import printable
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class Run:
    """The rounds of MemRecall, with the judge's own scores in ``rehearsal``, also for held blocks, and the reasoner's
    answer: position, start, end."""

    rounds: tuple[Round, ...]
    answer: tuple[int, int, int]

    @classmethod
    def of(cls, model: CogLTX, query: Sequence[int], blocks: Sequence[MemoryBlock], held: tuple[int, ...]) -> Self:
        """Recall the blocks, with those at the positions ``held`` in the memory throughout, and read the answer."""
        with inference(model):
            rounds = model.recall(query, blocks, judge=pinned(model.scores, held), held=held)
            scores = model.scores([one.rehearsed for one in rounds])
            return cls(tuple(replace(one, rehearsal=dict(zip(_positions(one.rehearsed.blocks), row, strict=True)))
                             for one, row in zip(rounds, scores, strict=True)), model.answer(rounds[-1].kept))

    def drawn(self, tokenizer: Tokenizer, query: Sequence[int], blocks: Sequence[MemoryBlock]) -> state.Run:
        """The run as data; ``blocks`` is the whole text, excluded blocks included."""
        return {"steps": [*self._steps(len(blocks))], "answer": self.said(tokenizer, blocks),
                "cost": cost(self.rounds, len(query) + sum(len(block) - 1 for block in blocks) + 1)}

    def said(self, tokenizer: Tokenizer, blocks: Sequence[MemoryBlock]) -> state.Answer:
        """The answer, with its text."""
        position, start, end = self.answer
        return {"position": position, "start": start, "end": end,
                "text": printable(tokenizer.decode(blocks[position].ids[start:end]))}

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


def _positions(blocks: Sequence[MemoryBlock]) -> list[int]:
    return [block.position for block in blocks]


def _step(kind: str, number: int, windows: int, scores: Mapping[int, float], count: int, memory: Window, *,
          entered: Sequence[int] = (), dropped: Sequence[int] = (), ended: int | None = None) -> state.Step:
    """A step of a text of ``count`` blocks; scores have six significant digits."""
    return {"kind": kind, "round": number, "windows": windows, "memory": _positions(memory.blocks),
            "scores": [float(f"{scores[at]:.6g}") if at in scores else None for at in range(count)],
            "size": len(memory), "entered": [*entered], "dropped": [*dropped], "ended": ended}


def cost(rounds: Sequence[Round], tokens: int) -> state.Cost:
    """Query–key pairs of full attention on ``tokens`` tokens, and of all windows of judge and reasoner."""
    windows = [window for one in rounds for window in (*one.windows, one.rehearsed)]
    return {"tokens": tokens, "full": tokens ** 2, "windows": len(windows),
            "judge": sum(len(window) ** 2 for window in windows), "reasoner": len(rounds[-1].kept) ** 2}
