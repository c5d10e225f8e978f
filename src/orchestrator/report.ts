import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { BenchError, EXIT } from "../contract/errors.js";
import { summaryRowSchema } from "../contract/summary.js";

const summarySchema = z.object({ report: z.string(), configurations: z.array(summaryRowSchema) });
export type Summary = z.infer<typeof summarySchema>;

/**
 * Builds the report of a campaign. Medians and spreads are the report's: it holds all statistics, once.
 * @throws BenchError with the report's own last line when it fails
 */
export async function buildReport(
  packageFolder: string,
  campaignFolder: string,
  signal: AbortSignal,
): Promise<Summary> {
  const script = join(packageFolder, "scripts", "generate_report.py");
  const { stdout, stderr, exitCode, failed } = await execa(
    "python3",
    [script, campaignFolder, "--summary-json"],
    {
      reject: false,
      cancelSignal: signal,
      gracefulCancel: false,
    },
  );
  if (failed) {
    signal.throwIfAborted();
    const last = stderr.trim().split("\n").at(-1) || `it ended with ${exitCode}`;
    throw new BenchError(`the report could not be built: ${last}`, EXIT.defect);
  }
  return summarySchema.parse(JSON.parse(stdout));
}
