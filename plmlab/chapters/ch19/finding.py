"""A finding of the checklist, and the table of several."""

from collections.abc import Iterable
from dataclasses import dataclass

from plmlab.tables import Table

NOTHING = "–"


@dataclass(frozen=True)
class Finding:
    """One item of the checklist, applied to one claim.

    Attributes:
        item: the item: shapes, normalization, information, complexity, parameters or reproducibility.
        claim: what the text states, in few words, with its section.
        computed: the result of the check; written by the code that computed it.
        holds: whether the claim agrees with the result.
        repair: the smallest change with which the claim can be computed or would hold.
        open: what the check cannot decide.
    """

    item: str
    claim: str
    computed: str
    holds: bool
    repair: str = NOTHING
    open: str = NOTHING

    def row(self) -> tuple[str, ...]:
        """The cells of a table: item, claim, computed, holds, repair, open."""
        return self.item, self.claim, self.computed, "yes" if self.holds else "no", self.repair, self.open


def report(findings: Iterable[Finding]) -> Table:
    """The findings as a table, one row each."""
    return Table(("item", "claim", "computed", "holds", "smallest repair", "open"),
                 tuple(finding.row() for finding in findings))
