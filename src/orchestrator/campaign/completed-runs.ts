import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Configuration } from "../../contract/configuration.js";
import { messageOf } from "../../contract/errors.js";
import type { Manifest } from "../../contract/manifest.js";
import type { Plan } from "../../contract/plan.js";
import { resultSchema } from "../../contract/result.js";
import { Checksums } from "../files/checksums.js";
import { pointLatest, removeTemporaries } from "../files/results-folder.js";
import type { Lease } from "../ownership/lease.js";
import { refuseIfWritten } from "../ownership/state-folder.js";
import { overheadsOf } from "../plan/estimate.js";
import { askedRuns, isSettled } from "../plan/looks.js";
import type { ExistingCampaign } from "../request/existing-campaign.js";
import { Progress } from "../run/progress.js";
import type { RunOutcome } from "../run/result-documents.js";
import type { EventLog } from "../ui/event-log.js";
import { are, counted } from "../ui/text.js";
import { announce } from "./announce.js";
import { saveManifest } from "./manifest.js";

/** What a campaign already has of its plan. */
export interface CompletedRuns {
  /** Runs that are measured and whole, by result file. */
  there: ReadonlyMap<string, RunOutcome>;
  /** How many runs are not. */
  missing: number;
  /** One line for each result that there is and that will not do. */
  again: readonly string[];
}

/** Whether there is nothing left to measure. */
export const isComplete = ({ manifest }: ExistingCampaign, { missing }: CompletedRuns): boolean =>
  missing === 0 && isSettled(manifest);

/** Of a campaign that begins. */
export const NOTHING: CompletedRuns = { there: new Map(), missing: Number.POSITIVE_INFINITY, again: [] };

/** The outcomes of all runs of a campaign, whoever measured them. */
export interface CampaignOutcome {
  folder: string;
  outcomes: readonly RunOutcome[];
}

/**
 * Claims the folder of a campaign that has begun, tidies it, and says what there is.
 * @throws environmentError when somebody else is writing there
 */
export async function openExistingCampaign(
  { folder, manifest }: ExistingCampaign,
  lease: Lease,
  eventLog: EventLog,
): Promise<CompletedRuns> {
  await lease.note({ folder });
  await refuseIfWritten(folder);
  eventLog.writeTo(join(folder, "benchmark.log"));
  for (const name of await removeTemporaries(folder))
    eventLog.warn(`${name} is ignored and removed: an interrupted write left it behind`);
  const stock = await readCompletedRuns(folder, manifest, await Checksums.of(folder));
  for (const line of stock.again) eventLog.warn(line);
  const { size } = stock.there;
  const counts = `${counted(size, "run")} ${are(size)} there, ${stock.missing} ${are(stock.missing)} missing`;
  eventLog.info(`campaign ${manifest.campaign} goes on: ${counts}`);
  const invalid = [...stock.there.values()].filter(({ status }) => status === "invalid").length;
  if (invalid > 0)
    eventLog.warn(`${invalid} of those that are there ${are(invalid)} invalid: the report says why`);
  return stock;
}

/** Of a campaign whose runs are all there, though it may have been killed before it could say so. */
export async function finishCompleteCampaign(
  { folder, manifest }: ExistingCampaign,
  { there }: CompletedRuns,
  eventLog: EventLog,
): Promise<CampaignOutcome> {
  const { runtime, campaign } = manifest;
  const plan = { ...manifest.plan, runs: askedRuns(manifest) };
  const overheads = await overheadsOf(runtime.id);
  const choice = "nothing is missing: the report is built anew";
  announce({ campaign, folder, runtime: runtime.id, choice }, plan, overheads, eventLog);
  const progress = new Progress(eventLog, plan, overheads);
  for (const planned of plan.runs) {
    const outcome = there.get(planned.file);
    if (outcome) progress.kept(planned, outcome.status);
  }
  if (manifest.status !== "finished") await saveManifest({ ...manifest, status: "finished" }, folder);
  await pointLatest(folder).catch((error) => eventLog.warn(messageOf(error)));
  return { folder, outcomes: [...there.values()] };
}

/**
 * Looks at what there is of every planned run. A run counts as there when its result has the right checksum, passes
 * the schema, and is a measurement of the planned configuration: an invalid one too, since measuring until a run
 * comes out valid would choose among results. What failed or was aborted is measured again.
 */
export async function readCompletedRuns(
  folder: string,
  manifest: Manifest,
  sums: Checksums,
): Promise<CompletedRuns> {
  const { plan, campaign } = manifest;
  const asked = askedRuns(manifest);
  const byHash = new Map(plan.configurations.map(({ hash, configuration }) => [hash, configuration]));
  const there = new Map<string, RunOutcome>();
  const again: string[] = [];
  for (const planned of asked) {
    const configuration = byHash.get(planned.configuration_hash);
    if (!configuration) throw new Error(`the plan has no configuration ${planned.configuration_hash}`);
    const found = await look(folder, campaign, planned, configuration, sums);
    if (typeof found === "object") there.set(planned.file, found);
    else if (found !== undefined) again.push(`${planned.file} ${found}: it is measured again`);
  }
  return { there, missing: asked.length - there.size, again };
}

/** @returns the run as it is there; or why it does not count; undefined where there is no result */
async function look(
  folder: string,
  campaign: string,
  { file, run, configuration_hash }: Plan["runs"][number],
  configuration: Configuration,
  sums: Checksums,
): Promise<RunOutcome | string | undefined> {
  const content = await readFile(join(folder, file)).catch(() => undefined);
  if (content === undefined) return sums.has(file) ? "is gone" : undefined;
  if (!sums.has(file)) return "has no checksum";
  if (!sums.matches(file, content)) return "has another checksum than when it was saved";
  const result = resultSchema.safeParse(parsed(content)).data;
  if (!result) return "is no result";
  if (result.configuration_hash !== configuration_hash || result.run !== run || result.campaign !== campaign)
    return "belongs to another run";
  if (result.status !== "measured")
    return `is of a run that ${result.status === "failed" ? "failed" : "was aborted"}`;
  const seconds = (Date.parse(result.finished_at) - Date.parse(result.started_at)) / 1000;
  return { file, status: result.verdict.status, configuration, seconds };
}

function parsed(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString("utf8"));
  } catch {
    return undefined;
  }
}
