"""Prints the syntax trees of Python files, as a list, in the form that `place.ts` reads
(ESTree)."""

import ast
import json
import sys
from pathlib import Path

SIGNS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "/", "Mod": "%", "Pow": "**",
    "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "===", "NotEq": "!==",
}


def described(node: ast.AST) -> dict[str, object]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {"type": "FunctionDeclaration", "id": ast.Name(name), "body": node.body}
        case ast.Assign(targets=[ast.Name() as name]) | ast.AnnAssign(target=ast.Name() as name):
            return {"type": "VariableDeclarator", "id": name, "init": node.value}
        case ast.BinOp(op=sign) | ast.Compare(ops=[sign]):
            right = node.right if isinstance(node, ast.BinOp) else node.comparators[0]
            operator = SIGNS.get(type(sign).__name__, "")
            return {"type": "BinaryExpression", "operator": operator, "left": node.left, "right": right}
        case ast.BoolOp():
            return {"type": "LogicalExpression", "operands": node.values}
        case ast.Call():
            given = [*node.args, *(each.value for each in node.keywords)]
            return {"type": "CallExpression", "callee": node.func, "arguments": given}
        case ast.Attribute():
            return {"type": "MemberExpression", "object": node.value, "property": ast.Name(node.attr)}
        case ast.Constant(value=str() | int() | float() | bool() as value):
            return {"type": "Literal", "value": value}
        case ast.Name():
            return {"type": "Identifier", "name": node.id}
        case ast.Tuple() | ast.List():
            return {"type": "ArrayExpression", "elements": node.elts}
        case _:
            return {"type": type(node).__name__, **dict(ast.iter_fields(node))}


def tree(value: object, lines: list[bytes]) -> object:
    if isinstance(value, list):
        return [tree(each, lines) for each in value]
    if not isinstance(value, ast.AST):
        return value if isinstance(value, str | int | float) else None
    found = {key: tree(each, lines) for key, each in described(value).items()}
    if (end := position(lines, value, "end_")) is not None:
        found |= {"start": position(lines, value, ""), "end": end}
        if isinstance(value, ast.Attribute):
            found["property"] |= {"start": end - len(value.attr), "end": end}
    return found


def position(lines: list[bytes], node: ast.AST, end: str) -> int | None:
    """In UTF-16, as JavaScript counts."""
    line = getattr(node, f"{end}lineno", None)
    if line is None:
        return None
    before = b"".join(lines[: line - 1]) + lines[line - 1][: getattr(node, f"{end}col_offset")]
    return len(before.decode().encode("utf-16-le")) // 2


sources = [Path(file).read_bytes() for file in sys.argv[1:]]
print(json.dumps([tree(ast.parse(source), source.splitlines(keepends=True)) for source in sources]))
