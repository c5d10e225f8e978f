"""What the figures of this campaign do not show, one sentence each."""

from collections.abc import Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.comparison_text import name
from report.analysis.rankings import Ranking
from report.base.format import joined, plural
from report.results.model import DIMENSIONS
from report.sections.script_text import store_name, what_varies
from report.sections.section import Line
from report.sections.verdict_text import layer_of, scripts_differ

#: Above this share of the control without a limiter, a client's throughput shows the harness, not the client.
NEAR_CEILING = 0.9


def _script_caveats(rankings: Sequence[Ranking]) -> list[Line]:
    differing = [ranking for ranking in rankings if ranking.compared and scripts_differ(ranking)]
    if not differing:
        return []
    what = joined(list(dict.fromkeys(what_varies(ranking) for ranking in differing)))
    ids = " ".join(row.id for ranking in differing for row in ranking.summaries)
    return [
        Line(
            f"The scripts differ: what is compared is {what} and script together. With +same-script all "
            "clients run the same one.",
            ids,
        )
    ]


def _store_caveats(cells: Sequence[Cell]) -> list[Line]:
    differing = [cell for cell in cells if cell.stores_differ]
    if not differing:
        return []
    stores = dict.fromkeys(store_name(ranking) for cell in differing for ranking in cell.rankings)
    ids = " ".join(row.id for cell in differing for row in cell.summaries)
    return [
        Line(
            f"The stores differ ({joined(list(stores))}): rows on one are not compared with rows on another.",
            ids,
        )
    ]


def _foreign_caveats(rankings: Sequence[Ranking]) -> list[Line]:
    found = {}
    for ranking in rankings:
        for pair in ranking.ranked_by:
            if pair.comparison.blocked and pair.comparison.reason.startswith("other programs"):
                text = f"Not judged: {pair.comparison.reason}."
                found[text] = Line(text, f"{pair.base.id} {pair.new.id}", whole=True)
    return list(found.values())


def _ceiling_caveats(cells: Sequence[Cell]) -> list[Line]:
    found = []
    for cell in cells:
        for pair in cell.ceilings:
            ratio = pair.comparison.ratio
            if ratio is not None and ratio >= NEAR_CEILING and pair.base.identity.client == "none":
                text = (
                    f"{name(pair.new)} is close to the {cell.text.consumer} without a limiter "
                    f"({ratio:.2f}× of none): the harness may limit it, and clients may differ more than "
                    "these figures show."
                )
                found.append(Line(text, pair.new.id))
    return found[:1]


def _suspects(analysis: Analysis) -> str:
    number = sum(row.suspect_runs for row in analysis.summaries)
    counts = "is suspect: it counts" if number == 1 else "are suspect: they count"
    runs = plural(len(analysis.campaign.runs), "run")
    return f"{number} of {runs} {counts}, and the list of all runs says why." if number else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _of_all(analysis: Analysis, rankings: Sequence[Ranking]) -> list[str]:
    manifest = analysis.campaign.manifest
    names = list(dict.fromkeys(part.runtime for part in analysis.runtimes))
    layers = list(dict.fromkeys(part.text.layer for part in analysis.runtimes))
    servers = {row.identity.servers for row in analysis.summaries if row.identity.servers}
    few = any(ranking.compared and ranking.few_runs for ranking in rankings)
    at_capacity = [ranking for ranking in rankings if not ranking.open_loop]
    words = [layer_of(ranking) for ranking in at_capacity]
    cpu, one = (
        " or ".join(dict.fromkeys(texts)) for texts in ([w.cpu for w in words], [w.request for w in words])
    )
    texts = [
        "" if manifest else "The manifest is missing, so machine, plan and requested versions are unknown.",
        "This campaign was aborted: runs that were not made are listed as missing."
        if manifest and manifest["status"] == "aborted"
        else "",
        *(_sentence(condition) for condition in (manifest["conditions"] if manifest else [])),
        f"Runs took place in several runtimes ({joined(names)}): nothing is compared across them."
        if len(names) > 1
        else "",
        f"The load entered at several layers ({joined(layers)}): nothing is compared across them."
        if len(layers) > 1
        else "",
        *(
            f"The number of {dimension.other} differs: rows are compared with rows of the same number."
            for dimension in DIMENSIONS
            if len({row.identity.counts[dimension.key] for row in analysis.summaries} - {0}) > 1
        ),
        "Server CPU is that of all servers together." if max(servers, default=0) > 1 else "",
        "So few runs of each decide nothing." if few else "",
        _suspects(analysis),
        f"p99 and {cpu} per {one} are those at full load (a closed loop), where they follow from the "
        "throughput: --rate measures them at your rate."
        if at_capacity
        else "",
        "Of a figure with § only the bounds are known: requests that failed or got no answer could move it."
        if any(row.figures and row.figures.bounds_ms for row in analysis.summaries)
        else "",
    ]
    return [text for text in texts if text]


def caveats_of(analysis: Analysis) -> tuple[Line, ...]:
    cells = analysis.cells
    rankings = [ranking for cell in cells for ranking in cell.rankings]
    return (
        *(Line(text) for text in _of_all(analysis, rankings)),
        *_store_caveats(cells),
        *_script_caveats(rankings),
        *_foreign_caveats(rankings),
        *_ceiling_caveats(cells),
    )
