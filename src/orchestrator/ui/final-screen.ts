import { join } from "node:path";
import type { EventOf } from "../../contract/events.js";
import { isSpoiled } from "../../judge/outcome.js";
import { REPORT_COMMAND, runnableIn, shellWord } from "../../kit/command-text.js";
import { EXIT } from "../../kit/errors.js";
import type { CampaignState } from "./campaign-state.js";
import { resumeCommand } from "./command-lines.js";
import { adaptiveLines, configurationText, runNumberText } from "./event-text.js";
import { are, counted, escapeControls, wrap } from "./text.js";

const MAX_FAILURES = 5;

/** The lines that end a campaign: the first sentences of the report, and the paths of report and log. */
export function finalLines(state: CampaignState, columns: number): string[] {
  const { report, ended } = state;
  if (!ended?.folder) return [];

  const lines: string[] = [];
  if (report) {
    if (!report.max_rate) lines.push(...report.screen.map(escapeControls));
    for (const sentence of sentencesOf(report)) {
      lines.push(...wrap(escapeControls(sentence), columns));
    }
    lines.push(...wrap(`report: ${escapeControls(report.path)}`, columns, ""));
  }
  lines.push(...wrap(`log: ${escapeControls(join(ended.folder, "benchmark.log"))}`, columns, ""));
  return lines;
}

/** The sentences that say what a search or an adaptive campaign found out. */
function sentencesOf({ max_rate, adaptive }: EventOf<"report">): string[] {
  if (max_rate) return max_rate.map(({ sentence }) => sentence);
  return adaptive ? adaptiveLines(adaptive) : [];
}

/** A text that says why a run failed or is invalid, or what the target did with its load. */
function problemText(finished: EventOf<"run_finished">): string {
  const { status, reasons, outcome, outcome_text } = finished;
  if (status === "invalid")
    return `invalid: ${reasons.map(({ rule, text }) => `${rule} ${text}`).join("; ")}`;
  if (isSpoiled(finished)) return `${outcome}: ${outcome_text}`;
  return reasons.map(({ text }) => text).join("; ");
}

/**
 * The lines on problems, one for all runs with the same problem. A round's problem is that of all its
 * targets.
 */
function failureLines(state: CampaignState, runs: readonly EventOf<"run_finished">[]): string[] {
  const runsByProblem = groupedBy(runs, problemText);
  return [...runsByProblem].map(([problem, failedRuns]) => {
    const runsBySubject = groupedBy(failedRuns, ({ file }) => {
      const started = state.started.get(file);
      return started ? configurationText(started.configuration) : file;
    });
    const subjects = [...runsBySubject].map(([subject, ownRuns]) => {
      const [first, ...others] = ownRuns.map(runNumberText);
      const runNumbers = ownRuns.map(({ run }) => run).join(", ");
      return `${subject}, ${others.length > 0 ? `runs ${runNumbers}` : first}`;
    });
    return escapeControls(`${subjects.join("; ")}: ${problem}`);
  });
}

function groupedBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}

const isInterrupted = ({ ended }: CampaignState): boolean =>
  ended?.folder !== undefined && ended.exit_code >= EXIT.interrupted;

/** How many runs an interrupted campaign has measured, and where they are. */
function keptLines({ report, ended, measured }: CampaignState, done: number): string[] {
  if (!ended?.folder) return [];
  if (measured === 0) return ["no run was measured: there is no report"];
  const runs = `${measured} of ${counted(done + ended.runs.not_begun, "run")} ${are(measured)} measured`;
  return [
    `${report ? "the report is partial: " : ""}${runs} and kept in ${escapeControls(ended.folder)}`,
  ];
}

/** The command that builds a report of an interrupted campaign; empty where there is a report. */
function reportCommandLines({ report, ended, measured }: CampaignState): string[] {
  if (!ended?.folder || report || measured === 0) return [];
  return [
    "build the report of the measured runs with",
    `  ${runnableIn(REPORT_COMMAND)} ${shellWord(escapeControls(ended.folder))}`,
  ];
}

/** The runs of a search without missed rates (M5, not served), because a search looks for these. */
function withoutMisses({
  finished,
  kept,
}: CampaignState): Pick<CampaignState, "finished" | "kept"> {
  const isBroken = ({ reasons }: EventOf<"run_finished">) =>
    reasons.some(({ rule, severity }) => severity === "invalid" && rule !== "M5");
  return {
    finished: finished.map((run): EventOf<"run_finished"> => {
      const { outcome: _, ...withoutOutcome } = run;
      const isMissedRate = run.status === "invalid" && !isBroken(run);
      return isMissedRate ? { ...withoutOutcome, status: "valid" } : withoutOutcome;
    }),
    kept: kept.map(
      ({ outcome: _, ...withoutOutcome }): EventOf<"run_kept"> => ({
        ...withoutOutcome,
        status: "valid",
      }),
    ),
  };
}

/** Lines for standard error on what went wrong and why, what is kept, and what to do next. */
export function problemLines(state: CampaignState, columns = Number.POSITIVE_INFINITY): string[] {
  const { ended } = state;
  if (!ended) return [];

  const { finished, kept } = state.campaign?.objectives ? withoutMisses(state) : state;
  const runs = [...kept, ...finished];
  const ofAll = `of ${counted(runs.length, "run")}`;
  const countOf = (status: EventOf<"run_finished">["status"]) =>
    runs.filter((run) => run.status === status).length;
  const failed = countOf("failed");
  const invalid = countOf("invalid");
  const suspect = countOf("suspect");
  const spoiled = runs.filter(isSpoiled).length;

  const lines: string[] = [];
  if (failed > 0) lines.push(`${failed} ${ofAll} failed`);
  if (invalid > 0) lines.push(`${invalid} ${ofAll} ${are(invalid)} invalid`);
  if (spoiled > 0) lines.push(`the target failed its load in ${spoiled} ${ofAll}`);
  lines.push(...firstFailures(state, finished));
  if (suspect > 0)
    lines.push(
      `${suspect} ${ofAll} ${are(suspect)} suspect${suspectRules(finished)}: the report says why`,
    );
  if (isInterrupted(state)) lines.push(...keptLines(state, runs.length));

  const wrapped = lines.flatMap((line) => wrap(line, columns, "    "));
  if (failed > 0 && ended.folder && !isInterrupted(state))
    wrapped.push("measure the failed runs again with", `  ${resumeCommand(ended.folder)}`);
  if (isInterrupted(state)) wrapped.push(...reportCommandLines(state));
  return [...wrapped, ...exitCodeLines(ended)];
}

/** What the exit codes say that scripts branch on. */
const EXIT_TEXTS: Readonly<Record<number, string>> = {
  [EXIT.configurationFailed]: "a run or the report failed, or a target only failed its load",
  [EXIT.runsInvalid]: "some runs are invalid",
  [EXIT.regression]: "a threshold was missed",
};

/** The exit code of a campaign that measured; empty where it says nothing but what is on the screen. */
function exitCodeLines({ folder, exit_code: code }: EventOf<"ended">): string[] {
  const text = EXIT_TEXTS[code];
  return folder === undefined || text === undefined ? [] : [`exit code ${code}: ${text}`];
}

/** The lines on the first problems of runs, and on how many more there are. */
function firstFailures(
  state: CampaignState,
  finished: readonly EventOf<"run_finished">[],
): string[] {
  const failures = failureLines(
    state,
    finished.filter((run) => run.status === "failed" || run.status === "invalid" || isSpoiled(run)),
  );
  const lines = failures.slice(0, MAX_FAILURES).map((line) => `  ${line}`);
  const hidden = failures.length - MAX_FAILURES;
  if (hidden > 0) lines.push(`  and ${hidden} more: see the report and benchmark.log`);
  return lines;
}

/** The rules by which runs are suspect, in brackets; an empty text without such a rule. */
function suspectRules(finished: readonly EventOf<"run_finished">[]): string {
  const suspects = finished.filter(({ status }) => status === "suspect");
  const rules = new Set(suspects.flatMap(({ reasons }) => reasons.map(({ rule }) => rule)));
  return rules.size > 0 ? ` (${[...rules].sort().join(", ")})` : "";
}
