#!/usr/bin/env python3
"""Refuses shapes of Python whose only sense is to be short: no rule of Ruff knows them.

    packed_python.py FOLDER…

Prints one line for each shape in the Python files of the folders, and ends with 1 if there is any.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

MAX_LINES = 70
#: A comment on the line of `def` waives the length of that function, with its reason after it.
WAIVER = "# long:"

Finding = tuple[int, str]


def _long_functions(tree: ast.AST, lines: list[str]) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        if length > MAX_LINES and WAIVER not in lines[node.lineno - 1]:
            yield node.lineno, f"{node.name} has {length} lines, more than {MAX_LINES}: split it"


def _is_swap(targets: ast.Tuple, values: ast.Tuple) -> bool:
    """Whether the values are those of the targets in another order."""
    return sorted(map(ast.unparse, targets.elts)) == sorted(map(ast.unparse, values.elts))


def _packed_assignments(tree: ast.AST) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if (
            isinstance(target, ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            and not _is_swap(target, node.value)
        ):
            yield node.lineno, "values that are assigned together: give each a line"


def _split_texts(tree: ast.AST) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "split"
            and isinstance(node.func.value, ast.Constant)
        ):
            yield node.lineno, "a list written as one text: write the list"


def _chained_conditions(tree: ast.AST) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp) and any(
            isinstance(part, ast.IfExp) for part in (node.test, node.body, node.orelse)
        ):
            yield node.lineno, "a chain of conditional expressions: write ifs"


def _spread_literals(tree: ast.AST) -> Iterator[Finding]:
    literals = ast.Tuple | ast.List | ast.Set
    for node in ast.walk(tree):
        if isinstance(node, ast.Starred) and isinstance(node.value, literals):
            yield node.lineno, "a literal that is spread: write its elements"
        if isinstance(node, ast.Dict):
            spread = (value for key, value in zip(node.keys, node.values, strict=True) if not key)
            for value in spread:
                if isinstance(value, ast.Dict):
                    yield value.lineno, "a dict that is spread: write its members"


def findings_in(text: str) -> list[Finding]:
    """The packed places of a module, as line and text, in the order of its lines."""
    tree = ast.parse(text)
    return sorted(
        [
            *_long_functions(tree, text.splitlines()),
            *_packed_assignments(tree),
            *_split_texts(tree),
            *_chained_conditions(tree),
            *_spread_literals(tree),
        ]
    )


def main(folders: list[str]) -> int:
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    count = 0
    for path in paths:
        for line, text in findings_in(path.read_text(encoding="utf-8")):
            print(f"{path}:{line}: {text}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
