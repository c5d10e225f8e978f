"""The lint that keeps packed shapes away: what it refuses, and what it lets pass."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LINT = ROOT / "scripts" / "lint" / "packed_python.py"


def _findings(text: str) -> list[int]:
    """The lines of the packed places."""
    spec = importlib.util.spec_from_file_location("packed_python", LINT)
    assert spec and spec.loader
    lint = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lint)
    return [line for line, _ in lint.findings_in(text)]


@pytest.mark.parametrize(
    "packed",
    [
        "low, high = 1, 2",
        'columns = "target rate cpu".split()',
        "word = 'a' if x else 'b' if y else 'c'",
        "names = [*('a', 'b'), *rest]",
        "properties = {**{'a': 1}, **rest}",
        "def steps():\n" + "    step()\n" * 70,
    ],
)
def test_a_packed_shape_is_refused(packed: str) -> None:
    assert _findings(packed) == [1]


@pytest.mark.parametrize(
    "plain",
    [
        "low, high = interval",
        "low, high = high, low",
        "columns = line.split()",
        "word = 'a' if x else 'b'",
        "names = ['a', 'b', *rest]",
        "properties = {'a': 1, **rest}",
        "def steps():\n" + "    step()\n" * 69,
        "def steps():  # long: one step a line is the list\n" + "    step()\n" * 80,
    ],
)
def test_a_plain_shape_passes(plain: str) -> None:
    assert _findings(plain) == []
