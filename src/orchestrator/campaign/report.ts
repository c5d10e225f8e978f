import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { BenchError, EXIT, type ExitCode } from "../../contract/errors.js";
import { adaptiveSummarySchema, summaryRowSchema, thresholdRowSchema } from "../../contract/summary.js";

const summarySchema = z.object({
  report: z.string(),
  thresholds: z.array(thresholdRowSchema),
  configurations: z.array(summaryRowSchema),
  adaptive: adaptiveSummarySchema.nullable(),
  recommendation: z.object({ sentences: z.array(z.string()) }),
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
  const program = join(packageFolder, "report");
  const building = execa("python3", [program, "generate", campaignFolder, "--summary-json"], {
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
/** What was asked of every client and does not hold, a line each. */
export function missedThresholds({ thresholds }: Summary): string[] {
  return thresholds
    .filter(({ status }) => status !== "held")
    .map(
      ({ label, threshold, value_text, status }) =>
        `${label}: ${threshold} ${status === "missed" ? `was missed: ${value_text}` : "has no figure"}`,
    );
}
