import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "../../src/contract/manifest.js";
import type { MeasuredResult, Result } from "../../src/contract/result.js";
import { judgeRun } from "../../src/judge/rules.js";
import { startManifest } from "../../src/orchestrator/campaign/write-manifest.js";
import { makePlan } from "../../src/orchestrator/plan/make-plan.js";
import { failureDocument } from "../../src/orchestrator/run/result-documents.js";
import { validEvidence } from "./evidence.js";
import { FakeRuntime } from "./fake-runtime.js";
import { ROOT } from "./programs.js";
import { everything, requestOf } from "./request.js";

export interface CampaignFixture {
  folder: string;
  manifest: Manifest;
  /** Writes a result with its checksum. */
  save(index: number, result: Result): string;
}

/** The folder of a campaign before its first run. */
export async function createCampaign(
  root: string,
  name: string,
  flags: readonly string[] = ["--clients", "none", "--runs", "3", "--concurrency", "50"],
): Promise<CampaignFixture> {
  const request = requestOf(...flags);
  const plan = makePlan(request, everything);
  const manifest = await startManifest(name, request, plan, new FakeRuntime(), undefined, ROOT);
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  const sums: string[] = [];
  const save = (index: number, result: Result): string => {
    const file = manifest.plan.runs[index]?.file ?? "";
    const text = JSON.stringify(result);
    writeFileSync(join(folder, file), text);
    sums.push(`${createHash("sha256").update(text).digest("hex")}  ${file}\n`);
    writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
    return file;
  };
  return { folder, manifest, save };
}

const plannedOf = ({ plan }: Manifest, index: number) => {
  const planned = plan.runs[index];
  const found = plan.configurations.find(({ hash }) => hash === planned?.configuration_hash);
  if (!planned || !found) throw new Error(`no run ${index} is planned`);
  return { found, run: planned.run };
};

/** A result of a planned run. */
export function measuredRun(manifest: Manifest, index: number): MeasuredResult {
  const { found, run } = plannedOf(manifest, index);
  const evidence = validEvidence();
  return {
    ...evidence,
    campaign: manifest.campaign,
    run,
    configuration: found.configuration,
    configuration_hash: found.hash,
    verdict: judgeRun(evidence),
  };
}

export function failedRun(manifest: Manifest, index: number, status: "failed" | "aborted"): Result {
  const { found: planned, run } = plannedOf(manifest, index);
  const identity = {
    campaign: manifest.campaign,
    planned,
    run,
    runtime: new FakeRuntime(),
    caps: {},
  };
  return failureDocument(identity, status, new Date(), { role: "server-1", text: "it ended" });
}
