"""Documents of audits as the harness writes them, with the findings that a test names."""

from typing import Any

HOSTILE = "<img src=x onerror=alert(1)>|`*"


def finding(check: str, status: str, **members: Any) -> dict[str, Any]:
    return {"check": check, "status": status, "seconds": 1, **members}


def audited(label: str, *findings: dict[str, Any]) -> dict[str, Any]:
    return {
        "target": {
            "text": label,
            "label": label,
            "client": "ioredis",
            "store": "redis",
            "topology": "standalone",
            "limiter": "rate-limiter-flexible",
            "options": [],
            "decided_by": "library",
            "algorithm": "fixed window",
        },
        "findings": list(findings),
        "seconds": 2,
    }


def _counts(*targets: dict[str, Any]) -> dict[str, int]:
    findings = [finding for target in targets for finding in target["findings"]]
    statuses = [finding["status"] for finding in findings]
    consequences = sum("consequence_of" in finding for finding in findings)
    return {
        "holds": statuses.count("holds"),
        "broken": statuses.count("broken") - consequences,
        "consequences": consequences,
        "not_promised": statuses.count("not-promised"),
        "skipped": statuses.count("skipped"),
        "failed": statuses.count("failed"),
    }


def audit_of(*targets: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": "ratelimit-bench/audit",
        "schema_version": 2,
        "audit": "20260102_030405",
        "started_at": "2026-01-02T03:04:05.000Z",
        "finished_at": "2026-01-02T03:05:05.000Z",
        "command": "ratelimit-bench audit --clients ioredis",
        "runtime": "local",
        "harness": "0.1.0",
        "node": "24.0.0",
        "programs": {"redis": "8.0.2"},
        "checks": [
            {
                "id": "exact-burst",
                "title": "Exact burst",
                "promise": "The quota.",
                "matters": "It counts.",
            },
            {
                "id": "expiry",
                "title": "Expiry",
                "promise": "No key stays.",
                "matters": "Stores fill.",
            },
        ],
        "targets": list(targets),
        "skips": [{"asked": "none", "reason": HOSTILE}],
        "counts": _counts(*targets),
    }
