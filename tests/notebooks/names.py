"""Which names a cell of code takes from the cells before it, and which it makes."""

import symtable
from collections.abc import Iterator


def made(code: str) -> set[str]:
    """What a cell assigns, imports or defines."""
    return {symbol.get_name() for symbol in symtable.symtable(code, "cell", "exec").get_symbols()
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()}


def taken(code: str) -> set[str]:
    """What a cell refers to and does not make itself, also inside of functions."""
    whole = symtable.symtable(code, "cell", "exec")
    return {symbol.get_name() for table in _all(whole) for symbol in table.get_symbols()
            if symbol.is_referenced() and (table is whole or symbol.is_global())} - made(code)


def _all(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _all(child)
