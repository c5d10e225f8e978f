import { join } from "node:path";
import type { Manifest, MaxRateState } from "../../contract/manifest.js";
import { isCounted, type PlannedRun, plannedConfiguration, unitsOf } from "../../contract/plan.js";
import { hasFigures, resultSchema } from "../../contract/result.js";
import { isSpoiled } from "../../judge/outcome.js";
import { Checksums } from "../files/checksums.js";
import { parseJson, readOwnFile } from "../files/own-files.js";
import { removeTemporaries } from "../files/results-folder.js";
import type { Lease } from "../ownership/lease.js";
import { refuseIfInUse } from "../ownership/state-folder.js";
import { isDecided, requestedRuns } from "../plan/decision-rounds.js";
import { needsSpareRound } from "../plan/spare-round.js";
import { type ExistingCampaign, keptSettingsText } from "../request/existing-campaign.js";
import { type RunOutcome, runOutcomeOf } from "../run/result-documents.js";
import type { EventLog } from "../ui/event-log.js";
import { are, counted } from "../ui/text.js";

interface CompletedRuns {
  completed: ReadonlyMap<string, RunOutcome>;
  outcomes: readonly RunOutcome[];
  missing: number;
  /** One line for each result file that does not count, with the reason. */
  rejected: readonly string[];
}

/** A resumed campaign, with the runs that its earlier sessions have measured. */
export type OpenedCampaign = ExistingCampaign & CompletedRuns;

export const isComplete = ({ manifest, missing, completed }: OpenedCampaign): boolean =>
  missing === 0 && isDecided(manifest) && !needsSpareRound(manifest.plan, completed);

export type CampaignOutcome = {
  folder: string;
  outcomes: readonly RunOutcome[];
  search?: MaxRateState;
};

/**
 * Claims a campaign's folder, removes unfinished files, and reads its runs.
 * @throws environmentError
 */
export async function openExistingCampaign(
  { folder, manifest }: ExistingCampaign,
  lease: Lease,
  eventLog: EventLog,
): Promise<OpenedCampaign> {
  await lease.update({ folder });
  await refuseIfInUse(folder);
  eventLog.writeTo(folder);
  for (const name of await removeTemporaries(folder))
    eventLog.warn(`${name} is ignored and removed: an interrupted write left it behind`);
  const completedRuns = await readCompletedRuns(folder, manifest, await Checksums.read(folder));
  const opened = { folder, manifest, ...completedRuns };
  const { outcomes, missing, rejected } = completedRuns;
  for (const line of rejected) eventLog.warn(line);
  const counts = `${counted(outcomes.length, "run")} completed, ${missing} missing`;
  eventLog.info(`campaign ${manifest.campaign} is resumed: ${counts}`);
  eventLog.info(keptSettingsText());

  // Beyond the bound of a search the target fails its load, which needs no warning.
  if (manifest.plan.max_rate) return opened;
  const invalid = outcomes.filter(({ status }) => status === "invalid").length;
  if (invalid > 0)
    eventLog.warn(`${invalid} of the completed runs ${are(invalid)} invalid: the report says why`);
  const spoiled = outcomes.filter(isSpoiled).length;
  if (spoiled > 0) eventLog.warn(`the target failed its load in ${spoiled} of the completed runs`);
  return opened;
}

/**
 * Checks the result file of every requested run. A run is completed where its result has the right
 * checksum, fits the schema and measures the planned configuration. Invalid and spoiled runs count,
 * because to repeat runs until they are good would be to choose among results. Failed and aborted
 * runs are measured again. By turns a run that failed alone belongs to its round, and a round that
 * is not complete is measured again as a whole.
 */
export async function readCompletedRuns(
  folder: string,
  manifest: Manifest,
  checksums: Checksums,
): Promise<CompletedRuns> {
  const requested = requestedRuns(manifest);
  const completed = new Map<string, RunOutcome>();
  const rejected: string[] = [];
  for (const planned of requested) {
    const run = readCompletedRun(folder, manifest, planned, checksums);
    if (typeof run === "object") completed.set(planned.file, run);
    else if (run !== undefined) rejected.push(`${planned.file} ${run}: it is measured again`);
  }

  // A round is measured as a whole.
  for (const unit of unitsOf(manifest.plan, requested)) {
    if (unit.every(({ file }) => completed.has(file))) continue;
    for (const { file } of unit) completed.delete(file);
  }
  const outcomes = requested.filter(isCounted).flatMap(({ file }) => completed.get(file) ?? []);
  const missing = requested.filter(({ file }) => !completed.has(file));
  return { completed, outcomes, missing: missing.length, rejected };
}

/**
 * The outcome of a completed run, or a text that says why its result does not count; undefined where
 * there is no result.
 */
function readCompletedRun(
  folder: string,
  { campaign, plan }: Manifest,
  { file, run, configuration_hash }: PlannedRun,
  checksums: Checksums,
): RunOutcome | string | undefined {
  const { configuration } = plannedConfiguration(plan, configuration_hash);
  const content = readOwnFile(join(folder, file));
  if (content === undefined) return checksums.has(file) ? "is gone" : undefined;
  if (!checksums.has(file)) return "has no checksum";
  if (!checksums.matches(file, content)) return "has a different checksum than when it was saved";
  const result = parseJson(content.toString("utf8"), resultSchema);
  if (!result) return "is not a result";
  const isOfRun =
    result.configuration_hash === configuration_hash &&
    result.run === run &&
    result.campaign === campaign;
  if (!isOfRun) return "belongs to another run";
  // By turns a run that failed alone belongs to its round.
  const hasFailed = result.status === "failed";
  if (!hasFigures(result) && !(hasFailed && plan.order === "turns"))
    return `is of a run that ${hasFailed ? "failed" : "was aborted"}`;
  const seconds = (Date.parse(result.finished_at) - Date.parse(result.started_at)) / 1000;
  return runOutcomeOf(result, { file, configuration, seconds });
}
