import { join } from "node:path";
import type { Configuration } from "../../contract/configuration.js";
import { EXIT } from "../../contract/errors.js";
import type { EventOf } from "../../contract/events.js";
import { layerIds } from "../../contract/layers.js";
import type { SummaryRow } from "../../contract/summary.js";
import { isSpoiled } from "../../judge/outcome.js";
import type { CampaignState } from "./campaign-state.js";
import { quoted, REPORT_COMMAND } from "./command-text.js";
import {
  adaptiveLines,
  configurationText,
  entryText,
  extentText,
  loadAndLimitsText,
  percentileText,
  rateText,
  rateUnit,
  runNumberText,
} from "./event-text.js";
import { are, counted, escapeControls, flow, textTable, widthOf, wrap } from "./text.js";

/** Maximum number of failure lines. */
const MAX_FAILURES = 5;

/** `module (GCRA)`; empty for a control, and for a target of a result that does not say. */
function deciderText(configuration: Configuration | undefined): string {
  const { decided_by: decider = "nothing", algorithm } = configuration?.target ?? {};
  return decider === "nothing" ? "" : `${decider}${algorithm ? ` (${algorithm})` : ""}`;
}

/**
 * Names everything that rows of one ranking have in common (M12).
 * @param namesDeciders what decides, or its algorithm, is not the same in all rows of the campaign
 */
function groupTitle(
  row: SummaryRow,
  configuration: Configuration | undefined,
  namesDeciders: boolean,
): string {
  const { workload, traffic } = row;
  const storeTexts = row.control
    ? ["controls"]
    : [row.topology ?? "any topology", row.store ?? "unknown store"];
  if (!configuration) return [...storeTexts, workload, traffic].join(" · ");
  const { target } = configuration;
  const decider = namesDeciders && !row.control ? deciderText(configuration) : "";
  return [
    ...storeTexts,
    ...(decider ? [decider] : []),
    ...(target.options.includes("same-script") ? ["one script for all"] : []),
    entryText(configuration),
    traffic,
    loadAndLimitsText(configuration),
    extentText(configuration),
  ].join(" · ");
}

/** The median, with the range if there are several runs. */
function throughputCell(row: SummaryRow): string {
  const { requests_per_second: rate } = row;
  if (!rate) return row.runs === 0 ? "not run" : row.spoiled_runs > 0 ? "no figures" : "no valid run";
  const range = row.served_runs > 1 ? ` (${Math.round(rate.min)}–${Math.round(rate.max)})` : "";
  return rateText(rate.median) + range;
}

/** `failed its load in 3 of 10`, of the runs in which the target's outcome is known (M24). */
function spoiledText({ served_runs, spoiled_runs }: SummaryRow): string {
  return spoiled_runs === 0 ? "" : `failed its load in ${spoiled_runs} of ${served_runs + spoiled_runs}`;
}

function cellsOf(row: SummaryRow): string[] {
  const { latency_p50_ms: p50, latency_p99_ms: p99 } = row;
  return [
    escapeControls(row.label),
    throughputCell(row),
    percentileText("p50", p50, row.latency_p50_at_least_ms).join(""),
    percentileText("p99", p99, row.latency_p99_at_least_ms).join(""),
    `${row.served_runs} of ${row.runs + row.missing_runs} usable`,
    row.verdict === null || row.verdict === "valid" ? "" : row.verdict,
    spoiledText(row),
  ];
}

function rankings({ campaign, report }: CampaignState): Map<string, SummaryRow[]> {
  const byHash = new Map(campaign?.configurations.map(({ hash, configuration }) => [hash, configuration]));
  const found = new Map<string, SummaryRow[]>();
  const rows = report?.configurations ?? [];
  const ofRow = (row: SummaryRow) => byHash.get(row.configuration_hash ?? "");
  const deciders = rows.flatMap((row) => (row.control ? [] : [deciderText(ofRow(row))]));
  const namesDeciders = new Set(deciders).size > 1;
  for (const row of rows) {
    const title = groupTitle(row, ofRow(row), namesDeciders);
    found.set(title, [...(found.get(title) ?? []), row]);
  }
  return found;
}

const median = (row: SummaryRow): number => row.requests_per_second?.median ?? -1;

/** `requests/s`, `decisions/s`, or both for a campaign of both layers. */
function rateUnits({ campaign }: CampaignState): string {
  const measured = campaign?.configurations.map(({ configuration }) => configuration.layer) ?? ["server"];
  return layerIds.flatMap((layer) => (measured.includes(layer) ? [rateUnit(layer)] : [])).join(" or ");
}

/** A table for each ranking: medians with their range, highest first. */
function rankingLines(state: CampaignState, columns: number): string[] {
  return [...rankings(state)].flatMap(([title, rows]) => {
    const cells = rows.sort((a, b) => median(b) - median(a)).map(cellsOf);
    const table = textTable(cells).map((line) => `  ${line}`);
    const isTooWide = table.some((line) => widthOf(line) > columns);
    const lines = isTooWide
      ? cells.flatMap(([label = "", ...rest]) => [
          ...wrap(`  ${label}`, columns, "  "),
          ...flow(
            rest.filter((cell) => cell !== ""),
            columns,
            "    ",
          ),
        ])
      : table;
    return ["", ...wrap(escapeControls(title), columns), ...lines];
  });
}

/** The lines that end a campaign: medians with ranges, and the paths of report and log. */
export function finalLines(state: CampaignState, columns: number): string[] {
  const { report, ended } = state;
  if (!ended?.folder) return [];
  if (report?.max_rate)
    return [
      ...report.max_rate.flatMap(({ sentence }) => wrap(escapeControls(sentence), columns)),
      ...pathLines(state, columns),
    ];
  const medians = report
    ? [
        ...rankingLines(state, columns),
        "",
        ...wrap(
          `median ${rateUnits(state)} of the usable runs (lowest–highest); the report shows which differences are more than chance`,
          columns,
        ),
      ]
    : [];
  return [
    ...medians,
    ...(report?.adaptive
      ? adaptiveLines(report.adaptive).flatMap((line) => wrap(escapeControls(line), columns))
      : []),
    ...pathLines(state, columns),
  ];
}

function pathLines({ report, ended }: CampaignState, columns: number): string[] {
  if (!ended?.folder) return [];
  return [
    ...(report ? wrap(`report: ${escapeControls(report.path)}`, columns, "") : []),
    ...wrap(`log: ${escapeControls(join(ended.folder, "benchmark.log"))}`, columns, ""),
  ];
}

/** Why a run failed or is invalid, or what the target did with its load. */
function problemText(finished: EventOf<"run_finished">): string {
  const { status, reasons, outcome, outcome_text } = finished;
  if (status === "invalid")
    return `invalid: ${reasons.map(({ rule, text }) => `${rule} ${text}`).join("; ")}`;
  if (isSpoiled(finished)) return `${outcome}: ${outcome_text}`;
  return reasons.map(({ text }) => text).join("; ");
}

/** One line for all runs of a configuration with the same problem. */
function failureLines(state: CampaignState, runs: readonly EventOf<"run_finished">[]): string[] {
  const runsByFailure = new Map<string, EventOf<"run_finished">[]>();
  for (const finished of runs) {
    const started = state.started.get(finished.file);
    const what = started ? configurationText(started.configuration) : finished.file;
    const key = JSON.stringify([what, problemText(finished)]);
    runsByFailure.set(key, [...(runsByFailure.get(key) ?? []), finished]);
  }
  return [...runsByFailure].map(([key, alike]) => {
    const [what, why] = JSON.parse(key) as [string, string];
    const [first, ...others] = alike.map(runNumberText);
    const numbers = others.length > 0 ? `runs ${alike.map(({ run }) => run).join(", ")}` : first;
    return escapeControls(`${what}, ${numbers}: ${why}`);
  });
}

/** Whether the campaign was interrupted after its folder was created. */
const isInterrupted = ({ ended }: CampaignState): boolean =>
  ended?.folder !== undefined && ended.exit_code >= EXIT.interrupted;

/** What an interrupted campaign keeps. */
function keptLine({ report, ended, measured }: CampaignState, done: number): string[] {
  if (!ended?.folder) return [];
  if (measured === 0) return ["no run was measured: there is no report"];
  const runs = `${measured} of ${counted(done + ended.runs.not_begun, "run")} ${are(measured)} measured`;
  return [`${report ? "the report is partial: " : ""}${runs} and kept in ${escapeControls(ended.folder)}`];
}

/** The command that builds the report, on its own line for copying. */
function reportCommand({ report, ended, measured }: CampaignState): string[] {
  if (!ended?.folder || report || measured === 0) return [];
  return [
    "build the report of the measured runs with",
    `  ${REPORT_COMMAND} ${quoted(escapeControls(ended.folder))}`,
  ];
}

/**
 * The runs of a search without what a missed rate says: that its schedule was not kept (M5), and that the target did not
 * serve it. To find such rates is what a search is for.
 */
function withoutMisses({ finished, kept }: CampaignState): Pick<CampaignState, "finished" | "kept"> {
  const isBroken = ({ reasons }: EventOf<"run_finished">) =>
    reasons.some(({ rule, severity }) => severity === "invalid" && rule !== "M5");
  return {
    finished: finished.map((run): EventOf<"run_finished"> => {
      const { outcome: _, ...rest } = run;
      return run.status === "invalid" && !isBroken(run) ? { ...rest, status: "valid" } : rest;
    }),
    kept: kept.map(({ outcome: _, ...rest }): EventOf<"run_kept"> => ({ ...rest, status: "valid" })),
  };
}

/** What went wrong and why, what is kept, and what to do next. For standard error. */
export function problemLines(state: CampaignState, columns = Number.POSITIVE_INFINITY): string[] {
  const { ended } = state;
  if (!ended) return [];
  const { finished, kept } = state.campaign?.objectives ? withoutMisses(state) : state;
  const done = kept.length + finished.length;
  const count = (status: "failed" | "invalid") =>
    [...kept, ...finished].filter((run) => run.status === status).length;
  const [failed, invalid] = [count("failed"), count("invalid")];
  const spoiled = [...kept, ...finished].filter(isSpoiled);
  const failures = failureLines(
    state,
    finished.filter((run) => run.status === "failed" || run.status === "invalid" || isSpoiled(run)),
  );
  const more = failures.length - MAX_FAILURES;
  const suspects = finished.filter(({ status }) => status === "suspect");
  const rules = [...new Set(suspects.flatMap(({ reasons }) => reasons.map(({ rule }) => rule)))].sort();
  const lines = [
    ...(failed > 0 ? [`${failed} of ${counted(done, "run")} failed`] : []),
    ...(invalid > 0 ? [`${invalid} of ${counted(done, "run")} ${are(invalid)} invalid`] : []),
    ...(spoiled.length > 0
      ? [`the target failed its load in ${spoiled.length} of ${counted(done, "run")}`]
      : []),
    ...failures.slice(0, MAX_FAILURES).map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more: see the report and benchmark.log`] : []),
    ...(suspects.length > 0
      ? [
          `${suspects.length} of ${counted(finished.length, "run")} ${are(suspects.length)} suspect (${rules.join(", ")}): the report says why`,
        ]
      : []),
    ...(failed > 0 && ended.folder ? ["measure the failed runs again with --resume"] : []),
    ...(isInterrupted(state) ? keptLine(state, done) : []),
  ];
  return [
    ...lines.flatMap((line) => wrap(line, columns, "    ")),
    ...(isInterrupted(state) ? reportCommand(state) : []),
  ];
}
