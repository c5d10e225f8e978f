"""JUnit's XML, by which CI shows what was judged: a case for each check and for each threshold."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal
from xml.etree import ElementTree

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.results.generated.records import Audit, Finding
from report.results.load import BROKEN, FAILED
from report.sections.thresholds import HELD, NO_FIGURE, judged_load, judgements

#: Characters that no XML document can contain.
_NOT_IN_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

Mark = Literal["failure", "error", "skipped"]


class Case(Struct, frozen=True, kw_only=True):
    """Something that was judged. Without a mark it is as it should be."""

    suite: str
    name: str
    mark: Mark | None = None
    """A failure is what must not be, an error is what could not be judged, and what is skipped says
    nothing about either."""
    message: str = ""
    kind: str = ""
    """The kind of a failure."""
    details: str = ""
    seconds: float = 0


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)


def _element(case: Case) -> ElementTree.Element:
    attributes = {"classname": case.suite, "name": case.name, "time": f"{case.seconds:.1f}"}
    element = ElementTree.Element(
        "testcase", {key: _clean(text) for key, text in attributes.items()}
    )
    if case.mark:
        kind = {"type": case.kind} if case.kind else {}
        mark = ElementTree.SubElement(element, case.mark, {**kind, "message": _clean(case.message)})
        mark.text = _clean(case.details) or None
    return element


def junit_text(name: str, cases: Sequence[Case]) -> str:
    """The document of these cases. Cases of one suite stand together."""
    root = ElementTree.Element("testsuites", {"name": f"ratelimit-bench {name}"})
    for suite, members in groupby(cases, key=lambda case: case.suite):
        suite_cases = list(members)
        counts = {
            count: str(sum(case.mark == mark for case in suite_cases))
            for count, mark in (
                ("failures", "failure"),
                ("errors", "error"),
                ("skipped", "skipped"),
            )
        }
        seconds = f"{sum(case.seconds for case in suite_cases):.1f}"
        attributes = {
            "name": _clean(suite),
            "tests": str(len(suite_cases)),
            **counts,
            "time": seconds,
        }
        element = ElementTree.SubElement(root, "testsuite", attributes)
        element.extend(map(_element, suite_cases))
    ElementTree.indent(root, "")
    document = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'


def threshold_cases(analysis: Analysis) -> list[Case]:
    """A case for each threshold of each configuration, whose failure has the figure."""
    cases = []
    for judged in judgements(analysis):
        mark: Mark | None = "failure"
        if judged.status in (HELD, NO_FIGURE):
            mark = None if judged.status == HELD else "error"
        message = f"asked {judged.threshold}; measured {judged.value_text}"
        load = judged_load(judged)
        label = judged.summary.identity.label
        cases.append(
            Case(suite=label, name=f"{judged.threshold}, {load}", mark=mark, message=message)
        )
    return sorted(cases, key=lambda case: case.suite)


def audit_cases(audit: Audit) -> list[Case]:
    """A case for each check of each target. Only a broken promise that follows from no other one is
    a failure."""
    return [
        _audit_case(audited.target.label, finding)
        for audited in audit.targets
        for finding in audited.findings
    ]


def _audit_case(label: str, finding: Finding) -> Case:
    mark, message = _audit_mark(finding)
    is_failure = mark == "failure"
    return Case(
        suite=label,
        name=finding.check,
        mark=mark,
        message=message,
        kind=(finding.defect or BROKEN) if is_failure else "",
        details="\n".join(_steps(finding)) if is_failure else "",
        seconds=finding.seconds,
    )


def _audit_mark(finding: Finding) -> tuple[Mark | None, str]:
    if finding.status == FAILED:
        return "error", finding.reason or ""
    if finding.consequence_of:
        return "skipped", f"follows from {finding.consequence_of}"
    if finding.status == "skipped":
        return "skipped", finding.reason or ""
    if finding.status == "not-promised":
        return "skipped", f"not promised; seen: {finding.seen or ''}"
    if finding.status == BROKEN:
        return "failure", f"promised {finding.promised or ''}; seen {finding.seen or ''}"
    return None, ""


def _steps(finding: Finding) -> Iterator[str]:
    """What was sent and came back, a line for each step."""
    for number, step in enumerate(finding.steps or [], start=1):
        yield f"{number}. {step.sent}: {step.answered}"
