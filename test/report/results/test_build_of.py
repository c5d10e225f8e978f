"""Which targets are builds of one program. test/unit/orchestrator/plan/error-budget.test.ts holds
the same of the plan."""

import pytest

from builder import configuration, result
from report.results.convert import run_of
from report.results.validate import validate_result


@pytest.mark.parametrize(
    ("label", "other", "is_one_program"),
    [
        ("ioredis@valkey", "ioredis@valkey+copy", True),
        ("ioredis@valkey+rate-limiter-flexible~7.1.1", "ioredis@valkey", True),
        ("ioredis~5.6.1", "ioredis", True),
        ("iovalkey", "ioredis@valkey", False),
        ("ioredis@valkey", "ioredis@valkey+autopipelining", False),
        ("ioredis", "ioredis:cluster", False),
        ("ioredis@valkey", "ioredis", False),
    ],
)
def test_builds_of_one_program(label: str, other: str, is_one_program: bool) -> None:
    first, second = (
        run_of(validate_result(result(configuration(text))), "run.json").identity
        for text in (label, other)
    )
    assert (first.build_of == second.build_of) is is_one_program
