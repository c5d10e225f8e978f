"""The rules that verdicts of a campaign name, each with what it says."""

import re
from collections.abc import Iterable

from report.analysis.campaign_analysis import Analysis
from report.base.contract import CONSTANTS
from report.base.format import plural
from report.results.model import Run
from report.sections import section

#: What each rule says, by its number.
RULE_SENTENCES: dict[str, str] = CONSTANTS["rule_sentences"]

_RULE = re.compile(r"\bM\d+\b")


def named_rules(runs: Iterable[Run]) -> list[str]:
    """The rules that reasons of these runs come from or mention, by number."""
    texts = [f"{reason.rule} {reason.text}" for run in runs for reason in run.reasons]
    rules = {rule for text in texts for rule in _RULE.findall(text)} & RULE_SENTENCES.keys()
    return sorted(rules, key=lambda rule: int(rule[1:]))


def rules_section(analysis: Analysis) -> section.Section | None:
    """The section; None where no verdict has a reason."""
    campaign = analysis.campaign
    rules = named_rules([*campaign.counted, *campaign.beside])
    if not rules:
        return None
    rows = [
        section.TableRow(
            "",
            (section.TableCell(rule), section.TableCell(RULE_SENTENCES[rule])),
            anchor=f"rule-{rule}",
        )
        for rule in rules
    ]
    columns = section.words("Rule", "What must hold")
    return section.Section(
        "rules",
        "Rules that spoke here",
        plural(len(rules), "rule"),
        tables=(section.table_of("rule-rows", columns, rows),),
    )
