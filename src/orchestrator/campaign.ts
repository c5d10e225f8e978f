import { access, constants, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { EXIT, type ExitCode, environmentError, messageOf } from "../contract/errors.js";
import type { Manifest } from "../contract/manifest.js";
import type { Plan } from "../contract/plan.js";
import { unlessAborted } from "./abort.js";
import { discoverStore } from "./external.js";
import type { Journal } from "./journal.js";
import { Lease } from "./lease.js";
import { startManifest } from "./manifest.js";
import { estimateS, makePlan } from "./plan.js";
import { pluginNote, usePlugins } from "./plugins.js";
import { campaignReadme } from "./readme.js";
import { Recorder, type RunOutcome } from "./recorder.js";
import { buildReport, summaryTable } from "./report.js";
import type { Request } from "./request.js";
import { createCampaignFolder, pointLatest, stamp, writeWhole } from "./results-dir.js";
import { hasStore, type OpenedRuntime, openRuntime } from "./runtime.js";
import { reclaimOrphans, takeLock } from "./state.js";

/** The whole story of a campaign, from the request to the report. @returns the exit code */
export async function runCampaign(
  request: Request,
  packageFolder: string,
  journal: Journal,
  signal: AbortSignal,
): Promise<ExitCode> {
  // What is wrong with the request itself is said before anything is looked for, built or started.
  const plugins = await usePlugins(request.plugins);
  makePlan(request, () => true);
  for (const notice of request.notices) journal.warn(notice);
  for (const line of await reclaimOrphans()) journal.warn(line);
  const now = new Date();
  const say = (text: string) => journal.say(text);
  const opening = openRuntime(request, packageFolder, stamp(now), say, signal, plugins);
  const { runtime, choice, workFolder } = await unlessAborted(signal, opening).catch(async (error) => {
    await opening.then(discard, () => {});
    throw error;
  });
  try {
    const external = await discoverStore(request.storeAccess, runtime);
    const plan = makePlan(request, (store) => hasStore(runtime, external, store), external);
    plan.notes.push(...plugins.map(pluginNote));
    const release = request.allowParallel ? async () => {} : await takeLock(stamp(now));
    try {
      await checkOutputFile(request.outputFile);
      const folder = await createCampaignFolder(request.output, now);
      const campaign = basename(folder);
      journal.writeTo(join(folder, "benchmark.log"));
      announce(plan, choice, folder, journal);
      const manifest = await startManifest(campaign, request, plan, runtime, external, packageFolder);
      if (plugins.length > 0) manifest.plugins = plugins.map(({ facts }) => facts);
      for (const condition of manifest.conditions) journal.say(`note: ${condition}`);
      await save(manifest, folder);
      const lease = await Lease.open(campaign, runtime.id, workFolder);
      let outcomes: RunOutcome[] = [];
      try {
        const recorder = new Recorder({
          campaign,
          folder,
          plan,
          runtime,
          lease,
          journal,
          signal,
          request,
          external,
          plugins: plugins.map(({ facts }) => facts),
        });
        outcomes = await recorder.recordAll();
        manifest.status = "finished";
      } finally {
        if (manifest.status === "running") manifest.status = "aborted";
        manifest.finished_at = new Date().toISOString();
        try {
          await lease.close();
        } finally {
          // Neither may hide how the campaign ended.
          await save(manifest, folder).catch((error) => journal.warn(messageOf(error)));
          await pointLatest(folder).catch((error) => journal.warn(messageOf(error)));
        }
      }
      return await conclude(outcomes, packageFolder, folder, journal, signal);
    } finally {
      await release();
    }
  } finally {
    try {
      await runtime.close();
    } finally {
      await rm(workFolder, { recursive: true, force: true });
    }
  }
}

/** Of a runtime that opened when nobody waited for it any more. */
async function discard({ runtime, workFolder }: OpenedRuntime): Promise<void> {
  await runtime.close();
  await rm(workFolder, { recursive: true, force: true });
}

/** @throws environmentError when the folder cannot be written, e.g. because the disk is full */
async function save(manifest: Manifest, folder: string): Promise<void> {
  try {
    await writeWhole(join(folder, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    await writeWhole(join(folder, "README.md"), campaignReadme(manifest));
  } catch (error) {
    throw environmentError(`${folder} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

/** A file that cannot be written is to be known before the first run, not after it. */
async function checkOutputFile(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  try {
    await access(dirname(resolve(path)), constants.W_OK);
  } catch (error) {
    throw environmentError(`OUTPUT_FILE ${path} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

function announce(plan: Plan, choice: string, folder: string, journal: Journal): void {
  journal.say(choice);
  for (const { asked, reason } of plan.skips) journal.say(`skipped ${asked}: ${reason}`);
  for (const note of plan.notes) journal.say(`note: ${note}`);
  const minutes = Math.ceil(estimateS(plan) / 60);
  const counts = `${plan.runs.length} runs of ${plan.configurations.length} configurations, ${plan.order}`;
  journal.say(`${counts}, about ${minutes} min; seed ${plan.seed}; results in ${folder}`);
}

/** The report and the last screen. Failed runs outrank invalid ones in the exit code. */
async function conclude(
  outcomes: readonly RunOutcome[],
  packageFolder: string,
  folder: string,
  journal: Journal,
  signal: AbortSignal,
): Promise<ExitCode> {
  journal.stamp("building the report");
  const summary = await buildReport(packageFolder, folder, signal);
  journal.say("");
  for (const line of summaryTable(summary)) journal.say(line);
  const failed = outcomes.filter(({ status }) => status === "failed").length;
  const invalid = outcomes.filter(({ status }) => status === "invalid").length;
  if (failed > 0)
    journal.warn(`${failed} of ${outcomes.length} runs failed: see the report or benchmark.log`);
  if (invalid > 0) journal.warn(`${invalid} of ${outcomes.length} runs are invalid: the report says why`);
  journal.say(`report: ${summary.report}`);
  if (failed > 0) return EXIT.configurationFailed;
  return invalid > 0 ? EXIT.runsInvalid : EXIT.done;
}
