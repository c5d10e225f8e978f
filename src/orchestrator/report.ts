import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { BenchError, EXIT, type ExitCode } from "../contract/errors.js";

const summarySchema = z.object({
  report: z.string(),
  thresholds: z.array(
    z.object({ label: z.string(), threshold: z.string(), value_text: z.string(), status: z.string() }),
  ),
  configurations: z.array(
    z.object({
      label: z.string(),
      workload: z.string(),
      traffic: z.string(),
      connections: z.number().nullable(),
      load: z.string(),
      control: z.boolean(),
      runs: z.number(),
      valid_runs: z.number(),
      median_run: z.number().nullable(),
      requests_per_second: z.object({ median: z.number(), min: z.number(), max: z.number() }).nullable(),
      latency_p50_ms: z.number().nullable(),
      latency_p99_ms: z.number().nullable(),
      verdict: z.string().nullable(),
    }),
  ),
});
export type Summary = z.infer<typeof summarySchema>;

/** What the report's own exit codes mean after the runs; others are defects. */
const CODES: Readonly<Record<number, ExitCode>> = {
  [EXIT.usage]: EXIT.usage,
  // The runs are over: what is not fit now fails the campaign.
  [EXIT.environment]: EXIT.configurationFailed,
  [EXIT.configurationFailed]: EXIT.configurationFailed,
};

/**
 * Builds the report of a campaign. Medians and spreads are the report's: it holds all statistics, once.
 * @throws BenchError with the report's own last line when it fails
 */
export async function buildReport(
  packageFolder: string,
  campaignFolder: string,
  signal: AbortSignal,
  hold: (pid: number) => Promise<void>,
): Promise<Summary> {
  const script = join(packageFolder, "scripts", "generate_report.py");
  const building = execa("python3", [script, campaignFolder, "--summary-json"], {
    reject: false,
    cancelSignal: signal,
    gracefulCancel: false,
  });
  if (building.pid !== undefined) await hold(building.pid);
  const { stdout, stderr, exitCode, signal: killedBy, failed } = await building;
  if (failed) {
    signal.throwIfAborted();
    const last = stderr.trim().split("\n").at(-1) || `it ended with ${exitCode ?? killedBy}`;
    const code = killedBy ? EXIT.configurationFailed : (CODES[exitCode ?? EXIT.defect] ?? EXIT.defect);
    throw new BenchError(`the report could not be built: ${last}; --resume tries again`, code);
  }
  return summarySchema.parse(JSON.parse(stdout));
}

/** The medians as a table of plain text, best first within what may be compared. */
export function summaryTable({ configurations }: Summary): string[] {
  const rows = configurations.map((row) => {
    const rate = row.requests_per_second;
    return [
      row.label + (row.control ? " (control)" : ""),
      `${row.workload}, ${row.load}, ${row.traffic}`,
      rate
        ? `${Math.round(rate.median)}/s (${Math.round(rate.min)}–${Math.round(rate.max)})`
        : "no valid run",
      row.latency_p50_ms === null ? "" : `p50 ${row.latency_p50_ms.toFixed(2)} ms`,
      row.latency_p99_ms === null ? "" : `p99 ${row.latency_p99_ms.toFixed(2)} ms`,
      `${row.valid_runs}/${row.runs} usable, ${row.verdict ?? "not run"}`,
    ];
  });
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd(),
  );
}

/** What was asked of every client and does not hold, a line each. */
export function missedThresholds({ thresholds }: Summary): string[] {
  return thresholds
    .filter(({ status }) => status !== "held")
    .map(
      ({ label, threshold, value_text, status }) =>
        `${label}: ${threshold} ${status === "missed" ? `was missed: ${value_text}` : "has no figure"}`,
    );
}
