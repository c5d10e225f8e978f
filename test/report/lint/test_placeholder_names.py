"""The lint of names: what it refuses in Python and in TypeScript, and what it lets pass."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
LINTS = ROOT / "scripts" / "lint"


def _lint() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "placeholder_names", LINTS / "placeholder_names.py"
    )
    assert spec and spec.loader
    lint = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lint)
    return lint


@pytest.mark.parametrize(
    "text",
    [
        "found = 1",
        "rows = [each.id for each in summaries]",
        "def read(given): ...",
        "first, own = pair",
        "lambda it: it.id",
    ],
)
def test_a_placeholder_is_refused(text: str) -> None:
    assert [line for line, _ in _lint().findings_in(text)] == [1]


@pytest.mark.parametrize("text", ["row.found", "class Run:\n    beside: bool", "read(given=1)"])
def test_a_member_or_a_field_passes(text: str) -> None:
    assert _lint().findings_in(text) == []


def test_both_languages_refuse_the_same_names() -> None:
    text = (LINTS / "placeholder-names.grit").read_text(encoding="utf-8")
    (alternatives,) = re.findall(r"\^\(\?:(.+)\)\$", text)
    assert set(alternatives.split("|")) == _lint().PLACEHOLDERS
