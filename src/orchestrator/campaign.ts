import { access, constants } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { EXIT, type ExitCode, environmentError, messageOf } from "../contract/errors.js";
import type { Manifest } from "../contract/manifest.js";
import type { Plan } from "../contract/plan.js";
import { ensurePythonEnvironment } from "../runtimes/python.js";
import { unlessAborted } from "./abort.js";
import { Checksums } from "./checksums.js";
import { requireFitMachine } from "./doctor.js";
import { estimateS, learnOverheads, type Overheads, overheadsOf } from "./estimate.js";
import { discoverStore } from "./external.js";
import type { Journal } from "./journal.js";
import { Lease } from "./lease.js";
import { endManifest, resumedManifest, startManifest } from "./manifest.js";
import { reclaimOrphans } from "./orphans.js";
import { makePlan } from "./plan.js";
import { Progress } from "./progress.js";
import { campaignReadme } from "./readme.js";
import { Recorder, type RunOutcome } from "./recorder.js";
import { buildReport, missedThresholds } from "./report.js";
import type { Request } from "./request.js";
import { createCampaignFolder, pointLatest, removeTemporaries, stamp, writeWhole } from "./results-dir.js";
import { type Begun, findCampaign, requireSame } from "./resume.js";
import { hasStore, openRuntime } from "./runtime.js";
import { refuseIfWritten, takeLock, thisOwner } from "./state.js";
import { NOTHING, type Stock, takeStock } from "./stock.js";

interface Ground {
  packageFolder: string;
  journal: Journal;
  signal: AbortSignal;
}

/** The whole story of a campaign, from the request to the report. @returns the exit code */
export async function runCampaign(request: Request, ground: Ground): Promise<ExitCode> {
  const { packageFolder, journal } = ground;
  // What is wrong with the request itself is said before anything is looked for, built or started.
  const begun = request.resume === undefined ? undefined : findCampaign(request.output, request.resume);
  if (!begun) makePlan(request, () => true);
  if (request.strict) await requireFitMachine(request.runtime, packageFolder);
  for (const notice of request.notices) journal.warn(notice);
  for (const line of await reclaimOrphans()) journal.warn(line);
  // The report needs it: what is missing is to be known before hours of measuring, not after them.
  await ensurePythonEnvironment(packageFolder, (text) => journal.say(text), ground.signal);
  const campaign = begun?.manifest.campaign ?? stamp(new Date());
  const release = request.allowParallel ? async () => {} : await takeLock(campaign);
  try {
    const lease = await Lease.open(campaign);
    try {
      const { folder, outcomes } = begun
        ? await goOn(request, begun, lease, ground)
        : await measure(request, undefined, lease, ground);
      return await conclude(outcomes, folder, lease, ground);
    } finally {
      await lease.close();
    }
  } finally {
    await release();
  }
}

interface Measured {
  folder: string;
  outcomes: readonly RunOutcome[];
}

/** What a campaign that has begun still lacks. */
async function goOn(request: Request, begun: Begun, lease: Lease, ground: Ground): Promise<Measured> {
  const { folder, manifest } = begun;
  const { journal } = ground;
  await lease.note({ folder });
  await refuseIfWritten(folder);
  journal.writeTo(join(folder, "benchmark.log"));
  for (const name of await removeTemporaries(folder))
    journal.warn(`${name} is ignored and removed: an interrupted write left it behind`);
  const stock = await takeStock(folder, manifest, await Checksums.of(folder));
  for (const line of stock.again) journal.warn(line);
  const missing = manifest.plan.runs.length - stock.there.size;
  journal.say(
    `campaign ${manifest.campaign} goes on: ${stock.there.size} runs are there, ${missing} are missing`,
  );
  if (missing > 0) return measure(request, { ...begun, stock }, lease, ground);
  if (manifest.status !== "finished") await save({ ...manifest, status: "finished" }, folder);
  await pointLatest(folder).catch((error) => journal.warn(messageOf(error)));
  return { folder, outcomes: [...stock.there.values()] };
}

/** Opens the runtime, works through the plan, and gives back what was started. */
async function measure(
  request: Request,
  begun: (Begun & { stock: Stock }) | undefined,
  lease: Lease,
  { packageFolder, journal, signal }: Ground,
): Promise<Measured> {
  const now = new Date();
  const campaignId = begun?.manifest.campaign ?? stamp(now);
  const opening = openRuntime(request, {
    packageFolder,
    workFolder: lease.workFolder,
    owner: await thisOwner(campaignId),
    campaign: campaignId,
    signal,
    hold: (pid) => lease.hold(pid),
    say: (text) => journal.say(text),
  });
  const { runtime, choice } = await unlessAborted(signal, opening).catch(async (error) => {
    // It may yet open when nobody waits for it any more.
    await opening.then(
      (late) => late.runtime.close(),
      () => {},
    );
    throw error;
  });
  try {
    await lease.note({ runtime: runtime.id });
    const external = await discoverStore(request.storeAccess, runtime);
    const available = (store: string) => hasStore(runtime, external, store);
    const plan = begun?.manifest.plan ?? makePlan(request, available, external);
    await checkOutputFile(request.outputFile);
    const folder = begun?.folder ?? (await createCampaignFolder(request.output, now));
    await lease.note({ folder });
    const campaign = begun?.manifest.campaign ?? basename(folder);
    if (!begun) journal.writeTo(join(folder, "benchmark.log"));
    const overheads = await overheadsOf(runtime.id);
    announce({ campaign, folder, runtime: runtime.id, choice }, plan, overheads, journal);
    const fresh = await startManifest(campaign, request, plan, runtime, external, packageFolder);
    if (begun) requireSame(begun.manifest, fresh);
    const manifest = begun ? resumedManifest(begun.manifest, fresh) : fresh;
    for (const condition of manifest.conditions) journal.say(`note: ${condition}`);
    await save(manifest, folder);
    try {
      const { there } = begun?.stock ?? NOTHING;
      const checksums = await Checksums.of(folder);
      const progress = new Progress(journal, plan, overheads);
      const things = { campaign, folder, plan, runtime, lease, journal, progress, signal, request, external };
      const outcomes = await new Recorder({ ...things, there, checksums }).recordAll();
      manifest.status = "finished";
      const measured = outcomes.filter(({ file, status }) => status !== "failed" && !there.has(file));
      await learnOverheads(runtime.id, plan.warmup_s, measured);
      return { folder, outcomes };
    } finally {
      endManifest(manifest);
      try {
        await lease.giveBack();
      } finally {
        // Neither may hide how the campaign ended.
        await save(manifest, folder).catch((error) => journal.warn(messageOf(error)));
        await pointLatest(folder).catch((error) => journal.warn(messageOf(error)));
      }
    }
  } finally {
    await runtime.close();
  }
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

interface Opened {
  campaign: string;
  folder: string;
  runtime: string;
  /** Which runtime was taken, and why. */
  choice: string;
}

function announce({ choice, ...opened }: Opened, plan: Plan, overheads: Overheads, journal: Journal): void {
  journal.say(choice);
  for (const { asked, reason } of plan.skips) journal.say(`skipped ${asked}: ${reason}`);
  for (const note of plan.notes) journal.say(`note: ${note}`);
  journal.tell({
    event: "campaign",
    ...opened,
    runs: plan.runs.length,
    configurations: plan.configurations,
    runs_per_configuration: plan.runs_per_configuration,
    order: plan.order,
    seed: plan.seed,
    estimate_s: Math.round(estimateS(plan, overheads)),
    skips: plan.skips,
  });
}

/** The report. In the exit code failed runs outrank missed thresholds, and those invalid runs. */
async function conclude(
  outcomes: readonly RunOutcome[],
  folder: string,
  lease: Lease,
  { packageFolder, journal, signal }: Ground,
): Promise<ExitCode> {
  journal.tell({ event: "phase", phase: "report" });
  const summary = await buildReport(packageFolder, folder, signal, (pid) => lease.hold(pid));
  const missed = missedThresholds(summary);
  for (const line of missed) journal.warn(`threshold: ${line}`);
  journal.tell({ event: "report", path: summary.report, configurations: summary.configurations });
  const failed = outcomes.filter(({ status }) => status === "failed").length;
  const invalid = outcomes.filter(({ status }) => status === "invalid").length;
  if (failed > 0) return EXIT.configurationFailed;
  if (missed.length > 0) return EXIT.regression;
  return invalid > 0 ? EXIT.runsInvalid : EXIT.done;
}
