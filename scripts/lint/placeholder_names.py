#!/usr/bin/env python3
"""Refuses names of variables that do not say what the variable holds. `placeholder-names.grit`
refuses the same names in TypeScript.

    placeholder_names.py FOLDER…

Prints one line for each such name in the Python files of the folders, and ends with 1 if there is
any. A field of a class may have such a name: its class says the rest."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PLACEHOLDERS = frozenset({"found", "each", "own", "given", "told", "beside", "it"})

Finding = tuple[int, str]


def _fields(tree: ast.AST) -> set[ast.expr]:
    return {
        statement.target
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }


def _names(tree: ast.AST) -> Iterator[Finding]:
    fields = _fields(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            yield node.lineno, node.id


def findings_in(text: str) -> list[Finding]:
    """The placeholders in a module, as line and name, in the order of its lines."""
    return sorted((line, name) for line, name in _names(ast.parse(text)) if name in PLACEHOLDERS)


def main(folders: list[str]) -> int:
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    count = 0
    for path in paths:
        for line, name in findings_in(path.read_text(encoding="utf-8")):
            print(f"{path}:{line}: {name}: name the variable after what it holds")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
