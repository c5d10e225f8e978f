import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { EXIT } from "../../../src/contract/errors.js";
import {
  campaignsIn,
  missingRuns,
  unpackCampaigns,
} from "../../../src/orchestrator/commands/claims/measured.js";
import { expectFailure } from "../../helpers/errors.js";
import { createCampaign, measuredRun } from "../../helpers/existing-campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

let claims: string;
let root: string;
beforeEach(() => {
  // A space: paths are words of their own.
  claims = join(newFolder(), "my claims");
  root = join(claims, "a-and-b");
  mkdirSync(root, { recursive: true });
});

/** A campaign that is there packed alone. @returns its archive */
async function packed(): Promise<string> {
  const { folder, manifest, save } = await createCampaign(root, "20260101_000000");
  for (const [index] of manifest.plan.runs.entries()) save(index, measuredRun(manifest, index));
  const archive = `${folder}.tar.xz`;
  execFileSync("python3", ["-m", "tarfile", "-c", archive, basename(folder)], { cwd: dirname(folder) });
  rmSync(folder, { recursive: true });
  return archive;
}

test("packed campaigns of claims are unpacked whole, once", async () => {
  await packed();
  await unpackCampaigns(claims);
  const [campaign] = campaignsIn(root);
  if (!campaign) throw new Error("nothing was unpacked");
  expect(await missingRuns(campaign)).toBe(0);
  writeFileSync(join(campaign.folder, "mine"), "");
  await unpackCampaigns(claims);
  expect(readdirSync(campaign.folder)).toContain("mine");
  expect(readdirSync(root)).toEqual(["20260101_000000", "20260101_000000.tar.xz"]);
});

test("a damaged archive is named, and nothing of it is left", async () => {
  const archive = await packed();
  writeFileSync(archive, "no archive");
  await expectFailure(() => unpackCampaigns(claims), EXIT.environment, `${archive} cannot be unpacked: `);
  expect(readdirSync(root)).toEqual(["20260101_000000.tar.xz"]);
});
