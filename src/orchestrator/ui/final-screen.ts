import { join } from "node:path";
import { type Configuration, loadText } from "../../contract/configuration.js";
import { EXIT } from "../../contract/errors.js";
import type { EventOf } from "../../contract/events.js";
import type { SummaryRow } from "../../contract/summary.js";
import type { CampaignState } from "./campaign-state.js";
import { quoted, REPORT_COMMAND } from "./command-text.js";
import { adaptiveLines, configurationText, msText, rateText } from "./event-text.js";
import { are, counted, flow, plain, textTable, widthOf, wrap } from "./text.js";

/** So many of the runs that went wrong are told one by one. */
const SHOWN = 5;

/** What must be alike, so that rows may stand in one ranking (M12). */
function groupTitle(row: SummaryRow, configuration: Configuration | undefined): string {
  const { workload, traffic } = row;
  const place = row.control ? ["controls"] : [row.topology ?? "any place", row.store ?? "store not known"];
  if (!configuration) return [...place, workload, traffic].join(" · ");
  const { load, extent, target } = configuration;
  const { complexity } = configuration.workload;
  return [
    ...place,
    ...(target.options.includes("same-script") ? ["one script for all"] : []),
    complexity === undefined ? workload : `${workload} (${complexity} rounds)`,
    traffic,
    loadText(load),
    "duration_s" in extent ? `${extent.duration_s} s` : `${extent.requests} requests`,
  ].join(" · ");
}

/** The median, with the range where there is more than one run. */
function throughput(row: SummaryRow): string {
  const { requests_per_second: rate } = row;
  if (!rate) return row.runs > 0 ? "no valid run" : "not run";
  const range = row.valid_runs > 1 ? ` (${Math.round(rate.min)}–${Math.round(rate.max)})` : "";
  return rateText(rate.median) + range;
}

function cellsOf(row: SummaryRow): string[] {
  const { latency_p50_ms: p50, latency_p99_ms: p99 } = row;
  return [
    plain(row.label),
    throughput(row),
    p50 === null ? "" : `p50 ${msText(p50)}`,
    p99 === null ? "" : `p99 ${msText(p99)}`,
    `${row.valid_runs} of ${row.runs + row.missing_runs} usable`,
    row.verdict === null || row.verdict === "valid" ? "" : row.verdict,
  ];
}

function groups({ campaign, report }: CampaignState): Map<string, SummaryRow[]> {
  const byHash = new Map(campaign?.configurations.map(({ hash, configuration }) => [hash, configuration]));
  const found = new Map<string, SummaryRow[]>();
  for (const row of report?.configurations ?? []) {
    const title = groupTitle(row, byHash.get(row.configuration_hash ?? ""));
    found.set(title, [...(found.get(title) ?? []), row]);
  }
  return found;
}

const median = (row: SummaryRow): number => row.requests_per_second?.median ?? -1;

/** The medians with their spread, highest first within what may be compared. */
function figures(state: CampaignState, columns: number): string[] {
  return [...groups(state)].flatMap(([title, rows]) => {
    const cells = rows.sort((a, b) => median(b) - median(a)).map(cellsOf);
    const table = textTable(cells).map((line) => `  ${line}`);
    const narrow = table.some((line) => widthOf(line) > columns);
    const lines = narrow
      ? cells.flatMap(([label = "", ...rest]) => [
          ...wrap(`  ${label}`, columns, "  "),
          ...flow(
            rest.filter((cell) => cell !== ""),
            columns,
            "    ",
          ),
        ])
      : table;
    return ["", ...wrap(plain(title), columns), ...lines];
  });
}

/** The last screen: medians with spread, where report and log are. Lines fit into so many columns. */
export function lastScreen(state: CampaignState, columns: number): string[] {
  const { report, ended } = state;
  if (!ended?.folder) return [];
  const medians = report
    ? [
        ...figures(state, columns),
        "",
        ...wrap(
          "median requests/s of the runs that count (lowest–highest); the report says which differences are more than noise",
          columns,
        ),
      ]
    : [];
  return [
    ...medians,
    ...(report?.adaptive ? adaptiveLines(report.adaptive).flatMap((line) => wrap(plain(line), columns)) : []),
    ...(report ? wrap(`report: ${plain(report.path)}`, columns, "") : []),
    ...wrap(`log: ${plain(join(ended.folder, "benchmark.log"))}`, columns, ""),
  ];
}

/** Runs of one configuration that went wrong alike, as one. */
function alike(state: CampaignState, runs: readonly EventOf<"run_finished">[]): string[] {
  const found = new Map<string, number[]>();
  for (const { file, run, status, reasons } of runs) {
    const started = state.started.get(file);
    const what = started ? configurationText(started.configuration) : file;
    const why = reasons.map(({ rule, text }) => (status === "invalid" ? `${rule} ${text}` : text)).join("; ");
    const key = JSON.stringify([what, status === "invalid" ? `invalid: ${why}` : why]);
    found.set(key, [...(found.get(key) ?? []), run]);
  }
  return [...found].map(([key, numbers]) => {
    const [what, why] = JSON.parse(key) as [string, string];
    return plain(`${what}, ${numbers.length > 1 ? "runs" : "run"} ${numbers.join(", ")}: ${why}`);
  });
}

/** It was interrupted after it had begun. */
const isCutShort = ({ ended }: CampaignState): boolean =>
  ended?.folder !== undefined && ended.exit_code >= EXIT.interrupted;

/** What is kept of a campaign that was cut short. */
function keptLine({ report, ended }: CampaignState, measured: number, done: number): string[] {
  if (!ended?.folder) return [];
  if (measured === 0) return ["no run was measured: there is no report"];
  const runs = `${measured} of ${counted(done + ended.runs.not_begun, "run")} ${are(measured)} measured`;
  return [`${report ? "the report is partial: " : ""}${runs} and kept in ${plain(ended.folder)}`];
}

/** A command in a line of its own, which is there to be copied. */
function reportCommand({ report, ended }: CampaignState, measured: number): string[] {
  if (!ended?.folder || report || measured === 0) return [];
  return ["build the report of what was measured with", `  ${REPORT_COMMAND} ${quoted(plain(ended.folder))}`];
}

/** What went wrong and why, what is kept, and what can be done next: for standard error. */
export function troubles(state: CampaignState, columns = Number.POSITIVE_INFINITY): string[] {
  const { ended, finished, kept } = state;
  if (!ended) return [];
  const of = (...statuses: string[]) => finished.filter(({ status }) => statuses.includes(status));
  const done = kept.length + finished.length;
  const count = (status: "failed" | "invalid") =>
    [...kept, ...finished].filter((run) => run.status === status).length;
  const [failed, invalid] = [count("failed"), count("invalid")];
  const told = alike(state, of("failed", "invalid"));
  const more = told.length - SHOWN;
  const suspects = of("suspect");
  const rules = [...new Set(suspects.flatMap(({ reasons }) => reasons.map(({ rule }) => rule)))].sort();
  const measured = done - ended.runs.failed - ended.runs.aborted;
  const lines = [
    ...(failed > 0 ? [`${failed} of ${counted(done, "run")} failed`] : []),
    ...(invalid > 0 ? [`${invalid} of ${counted(done, "run")} ${are(invalid)} invalid`] : []),
    ...told.slice(0, SHOWN).map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more: the report and benchmark.log have them all`] : []),
    ...(suspects.length > 0
      ? [
          `${suspects.length} of ${counted(finished.length, "run")} ${are(suspects.length)} suspect (${rules.join(", ")}): the report says why`,
        ]
      : []),
    ...(failed > 0 && ended.folder ? ["measure what failed once more with --resume"] : []),
    ...(isCutShort(state) ? keptLine(state, measured, done) : []),
  ];
  return [
    ...lines.flatMap((line) => wrap(line, columns, "    ")),
    ...(isCutShort(state) ? reportCommand(state, measured) : []),
  ];
}
