import { z } from "zod";
import { configurationHash } from "../../contract/configuration.js";
import type { MaxRateState } from "../../contract/manifest.js";
import {
  adaptiveSummarySchema,
  maxRateRowSchema,
  summaryRowSchema,
  thresholdRowSchema,
} from "../../contract/summary.js";
import { isSpoiled } from "../../judge/outcome.js";
import { runnableIn } from "../../kit/command-text.js";
import { definedOnly } from "../../kit/defined-only.js";
import { BenchError, EXIT, type ExitCode, messageOf } from "../../kit/errors.js";
import { type PythonContext, PythonFailed, pythonOutput } from "../host/python.js";
import type { Aborted } from "../ownership/abort.js";
import type { RunOutcome } from "../run/result-documents.js";
import type { EventLog } from "../ui/event-log.js";
import type { CampaignOutcome } from "./completed-runs.js";

const summarySchema = z.object({
  report: z.string(),
  thresholds: z.array(thresholdRowSchema),
  configurations: z.array(summaryRowSchema),
  adaptive: adaptiveSummarySchema.nullable(),
  max_rate: z.array(maxRateRowSchema).nullable(),
  recommendation: z.object({ sentences: z.array(z.string()), screen: z.array(z.string()) }),
});
type Summary = z.infer<typeof summarySchema>;

/** The exit codes of a campaign, by those of the report's program. */
const CODES: Readonly<Record<number, ExitCode>> = {
  [EXIT.usage]: EXIT.usage,
  // The runs are over, so an unfit environment fails the campaign.
  [EXIT.environment]: EXIT.configurationFailed,
  [EXIT.configurationFailed]: EXIT.configurationFailed,
};

async function buildReport(
  python: PythonContext,
  campaignFolder: string,
  junit?: string,
): Promise<Summary> {
  try {
    const junitFlags = junit === undefined ? [] : [`--junit=${junit}`];
    const args = [campaignFolder, "--summary-json", ...junitFlags];
    return summarySchema.parse(JSON.parse(await pythonOutput(python, "report", args)));
  } catch (error) {
    if (!(error instanceof PythonFailed)) throw error;
    const { killedBy, exitCode = EXIT.defect } = error;
    const code = killedBy ? EXIT.configurationFailed : (CODES[exitCode] ?? EXIT.defect);
    throw new BenchError(
      `the report could not be built: ${error.message}; --resume tries again`,
      code,
    );
  }
}

/** Whether the target spoiled runs of a configuration and served its load in none (M24). */
function hasUnserved(outcomes: readonly RunOutcome[]): boolean {
  const spoiled = new Set<string>();
  const served = new Set<string>();
  for (const run of outcomes) {
    const hash = configurationHash(run.configuration);
    if (isSpoiled(run)) spoiled.add(hash);
    if (run.outcome === "served") served.add(hash);
  }
  return [...spoiled].some((hash) => !served.has(hash));
}

/**
 * The exit code of a campaign, where failures come first and invalid runs last.
 * @param search the search that made the runs, if any, which looks for rates that are not kept
 */
export function campaignExitCode(
  outcomes: readonly RunOutcome[],
  missedThresholds: number,
  search?: Pick<MaxRateState, "trials">,
): ExitCode {
  const hasRun = (status: RunOutcome["status"]) => outcomes.some((run) => run.status === status);
  if (hasRun("failed")) return EXIT.configurationFailed;
  if (search) {
    const hasVoid = search.trials.some(({ status }) => status === "void");
    return hasVoid ? EXIT.runsInvalid : EXIT.done;
  }
  if (hasUnserved(outcomes)) return EXIT.configurationFailed;
  if (missedThresholds > 0) return EXIT.regression;
  return hasRun("invalid") ? EXIT.runsInvalid : EXIT.done;
}

/**
 * Builds the report and shows its conclusions.
 * @param junit the file that gets what the thresholds say
 * @returns the exit code of the campaign
 */
export async function buildFinalReport(
  { folder, outcomes, search }: CampaignOutcome,
  python: PythonContext,
  eventLog: EventLog,
  junit?: string,
): Promise<ExitCode> {
  eventLog.emit({ event: "phase", phase: "report" });
  const failed = outcomes.filter(({ status }) => status === "failed").length;
  const summary = await buildReport(python, folder, junit).catch((error) => {
    // Failed runs, e.g. for lack of disk space, have to be fixed first.
    if (failed === 0 || !(error instanceof BenchError)) throw error;
    eventLog.warn(error.message);
    return undefined;
  });
  if (!summary) return EXIT.configurationFailed;

  // The last screen of a search has its results, which need no lines here.
  if (!search) {
    for (const line of summary.recommendation.sentences) eventLog.info(runnableIn(line));
  }
  const missed = missedThresholds(summary);
  for (const line of missed) eventLog.warn(`threshold: ${line}`);
  emitReport(summary, eventLog);
  return campaignExitCode(outcomes, missed.length, search);
}

/** The time for the report of an interrupted campaign, which must end within 15 s altogether. */
const INTERRUPTED_REPORT_MS = 12_000;

/**
 * Builds the report of the runs that an interrupted campaign has measured, if the remaining time
 * allows it.
 */
export async function reportInterrupted(
  { at }: Aborted,
  python: Omit<PythonContext, "signal">,
  eventLog: EventLog,
): Promise<void> {
  const { folder, measured } = eventLog;
  const leftMs = Math.floor(at + INTERRUPTED_REPORT_MS - performance.now());
  if (folder === undefined || measured === 0 || leftMs <= 0) return;
  eventLog.emit({ event: "phase", phase: "report" });
  const signal = AbortSignal.timeout(leftMs);
  try {
    emitReport(await buildReport({ ...python, signal }, folder), eventLog);
  } catch (error) {
    eventLog.warn(signal.aborted ? "there was no time left to build the report" : messageOf(error));
  }
}

function emitReport(summary: Summary, eventLog: EventLog): void {
  const { report, configurations, thresholds, adaptive, max_rate, recommendation } = summary;
  eventLog.emit({
    event: "report",
    path: report,
    screen: recommendation.screen,
    configurations,
    thresholds,
    ...definedOnly({ adaptive: adaptive ?? undefined, max_rate: max_rate ?? undefined }),
  });
}

function missedThresholds({ thresholds }: Summary): string[] {
  const notHeld = thresholds.filter(({ status }) => status !== "held");
  return notHeld.map(({ label, threshold, value_text, status }) => {
    const end = status === "missed" ? `was missed: ${value_text}` : "has no figure";
    return `${label}: ${threshold} ${end}`;
  });
}
