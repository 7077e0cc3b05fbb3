"""Track which labs each notebook cell displays, and close labs that are no longer displayed.

ipywidgets keeps every widget, with everything it references, alive until the widget is closed, and does not notice that
a cell was run again."""

from functools import cache
from typing import Any
from weakref import WeakSet

from ipywidgets import Widget


class Cells:
    """The labs that each notebook cell displayed on its last run, by cell id.

    ``shell`` is the IPython shell; if it does not report cell ids, no lab is closed.
    """

    def __init__(self, shell: Any) -> None:
        self.shell, self.labs = shell, dict[str, WeakSet[Widget]]()
        self.showing: WeakSet[Widget] = WeakSet()
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)

    def _begin(self, _: Any) -> None:
        self.showing = WeakSet()

    def _end(self, result: Any) -> None:
        """Close the labs that this cell displayed on its previous run and that no cell displays any more."""
        cell = result.info.cell_id
        if cell is None:
            return
        before, self.labs[cell] = self.labs.get(cell, WeakSet()), self.showing
        for lab in set(before).difference(*self.labs.values()):
            lab.close()
            self._forget(lab)

    def _forget(self, lab: Widget) -> None:
        """Remove the references to a lab from the cell results, ``Out[3]`` and ``_3``."""
        results = self.shell.user_ns.get("_oh", {})
        for number in [number for number, result in results.items() if result is lab]:
            del results[number]
            for names in (self.shell.user_ns, self.shell.user_ns_hidden):
                names.pop(f"_{number}", None)


@cache
def cells_of(shell: Any) -> Cells:
    """The cell tracker of an IPython shell, created and registered on the first call."""
    return Cells(shell)
