"""Documents of what traffic `boundary` shows of a limiter."""

from builder import Document


def boundary(burst: float, admitted_after: float | None = None) -> Document:
    answers = {"admitted": 900, "limited": 1800}
    promises: list[Document] = [
        {"id": "burst", "promised": 2, "seen": burst, "unit": "quotas", "holds": burst <= 2},
        {"id": "over-admission", "promised": 0, "seen": 7 if burst > 2 else 0, "unit": "requests"},
    ]
    promises[1]["holds"] = burst <= 2
    if admitted_after is not None:
        holds: Document = {"seen": admitted_after, "holds": admitted_after == 1}
        promises.append({"id": "retry-after-admits", "promised": 1, "unit": "share", **holds})
    return {
        "algorithm": "fixed window",
        "quota": 10,
        "window_s": 2,
        "above": {"keys": 200, **answers},
        "below": {"keys": 800, "admitted": 4000, "limited": 0},
        "undecided": 0,
        "windows": [],
        "over_admission": {"total": 7 if burst > 2 else 0, "keys": 1 if burst > 2 else 0},
        "under_admission": {"total": 0, "keys": 0},
        "burst": {"most": round(10 * burst), "factor": burst},
        "rate": {
            "promised_per_second": 5,
            "lowest_per_second": 4,
            "mean_per_second": 4.5,
            "highest_per_second": 5,
        },
        "promises": promises,
    }
