"""Which labs the cells of a notebook show. ipywidgets keeps a widget, and with it all that the widget holds, until it
is closed, and does not learn that its cell was run again; so a lab that no cell shows any more is closed here."""

from functools import cache
from typing import Any
from weakref import WeakSet

from ipywidgets import Widget


class Cells:
    """The labs that each cell of a notebook showed when it ran last, by the cell's id.

    ``shell`` is IPython's; where it does not tell which cell runs, nothing is closed.
    """

    def __init__(self, shell: Any) -> None:
        self.shell, self.labs = shell, dict[str, WeakSet[Widget]]()
        self.showing: WeakSet[Widget] = WeakSet()
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)

    def _begin(self, _: Any) -> None:
        self.showing = WeakSet()

    def _end(self, result: Any) -> None:
        """Close what the cell showed before, and no cell shows now."""
        cell = result.info.cell_id
        if cell is None:
            return
        before, self.labs[cell] = self.labs.get(cell, WeakSet()), self.showing
        for lab in set(before).difference(*self.labs.values()):
            lab.close()
            self._forget(lab)

    def _forget(self, lab: Widget) -> None:
        """Let go of a lab as a cell's result, ``Out[3]`` and ``_3``."""
        results = self.shell.user_ns.get("_oh", {})
        for number in [number for number, result in results.items() if result is lab]:
            del results[number]
            for names in (self.shell.user_ns, self.shell.user_ns_hidden):
                names.pop(f"_{number}", None)


@cache
def cells_of(shell: Any) -> Cells:
    """The cells that an IPython runs, watched from now on."""
    return Cells(shell)
