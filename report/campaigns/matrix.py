"""What all campaigns and audits of a site found about the questions of the matrix."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from report.analysis import column
from report.analysis.campaign_analysis import Analysis
from report.analysis.column import Column
from report.analysis.frames import table
from report.campaigns.matrix_answers import (
    Answer,
    Source,
    answers_of_audit,
    answers_of_campaign,
    continuous_rows_at_rate,
    is_warm,
)
from report.campaigns.matrix_conditions import Condition, conditions_of
from report.campaigns.matrix_reasons import Reasons
from report.campaigns.matrix_sentences import HeadlineSentence, headline_sentences
from report.campaigns.matrix_targets import Key
from report.results.generated.records import Audit


def _member(name: str) -> column.Read:
    return lambda answer: getattr(answer, name)


#: The table of all answers. A cell of the matrix has those with its condition, key and question.
ANSWER_COLUMNS: Mapping[str, Column] = {
    "condition": column.text(_member("condition")),
    "key": column.thing(_member("key")),
    "question": column.text(_member("question")),
    "started_at": column.text(lambda answer: answer.source.started_at),
    "answer": column.thing(lambda answer: answer),
}


@dataclass(slots=True)
class Matrix:
    """Answers of campaigns and audits, in the order in which they were added, and what the cells
    without an answer say."""

    answers: list[Answer] = field(default_factory=list)
    headlines: list[HeadlineSentence] = field(default_factory=list)
    conditions: dict[str, Condition] = field(default_factory=dict)
    """The conditions of rows by their texts."""
    reasons: Reasons = field(default_factory=Reasons)
    cold: dict[str, str] = field(default_factory=dict)
    """The targets whose open loop at the stated rate was not warm, so that its cost is not used,
    each with the date of the last such campaign."""

    def add_campaign(self, analysis: Analysis, source: Source) -> None:
        self.answers += answers_of_campaign(analysis, source)
        self.headlines += headline_sentences(analysis, source)
        self.reasons.add_campaign(analysis)
        for row in continuous_rows_at_rate(analysis):
            if not is_warm(row):
                self.cold[row.identity.label] = source.started_at[:10]
        for condition in conditions_of(analysis):
            self.conditions.setdefault(condition.text, condition)

    def add_audit(self, audit: Audit, link: str) -> None:
        self.answers += answers_of_audit(audit, link)
        self.reasons.add_audit(audit)

    def frame(self) -> pd.DataFrame:
        """The table of answers, with the newest first."""
        answers = table(ANSWER_COLUMNS, self.answers)
        return answers.sort_values("started_at", ascending=False, kind="stable")

    def target_texts(self) -> dict[Key, list[str]]:
        """The texts by which commands name each target, in the order in which they were added."""
        texts_by_key: dict[Key, dict[str, None]] = {}
        for answer in self.answers:
            texts_by_key.setdefault(answer.key, {})[answer.target_text] = None
        return {key: list(texts) for key, texts in texts_by_key.items()}
