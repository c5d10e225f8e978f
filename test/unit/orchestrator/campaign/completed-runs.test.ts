import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Result } from "../../../../src/contract/result.js";
import { readCompletedRuns } from "../../../../src/orchestrator/campaign/completed-runs.js";
import { CHECKSUMS, Checksums } from "../../../../src/orchestrator/files/checksums.js";
import { removeTemporaries } from "../../../../src/orchestrator/files/results-folder.js";
import {
  type CampaignFixture,
  createCampaign,
  failedRun,
  measuredRun,
} from "../../../helpers/existing-campaign.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();
let campaign: CampaignFixture;
beforeEach(async () => {
  campaign = await createCampaign(newFolder(), "20260101_000000");
});

const completedRuns = async () =>
  readCompletedRuns(campaign.folder, campaign.manifest, await Checksums.read(campaign.folder));
const result = (index: number) => measuredRun(campaign.manifest, index);

describe("runs of an interrupted campaign", () => {
  test("complete measurements count, also invalid ones; a run without a result is just missing [R-damaged-2]", async () => {
    const first = campaign.save(0, result(0));
    const invalid = result(1);
    invalid.verdict = { ...invalid.verdict, status: "invalid" };
    campaign.save(1, invalid);
    const { completed, missing, rejected } = await completedRuns();
    expect([...completed.values()].map(({ status }) => status)).toEqual([
      result(0).verdict.status,
      "invalid",
    ]);
    expect(completed.get(first)?.file).toBe(first);
    expect({ missing, rejected }).toEqual({ missing: 1, rejected: [] });
  });

  test("runs that the target spoiled count, too, with their outcome: they are never repeated", async () => {
    const file = campaign.save(0, { ...result(0), outcome: "failed", outcome_text: "2 % failed" });
    const { completed, missing } = await completedRuns();
    expect(completed.get(file)).toMatchObject({ status: "valid", outcome: "failed" });
    expect(missing).toBe(2);
  });

  test.each<[string, (file: string, path: string) => void]>([
    ["has no checksum", () => unlinkSync(join(campaign.folder, CHECKSUMS))],
    ["has no checksum", () => writeFileSync(join(campaign.folder, CHECKSUMS), "damaged\n")],
    [
      "has a different checksum",
      (_file, path) => writeFileSync(path, `${readFileSync(path, "utf8")} `),
    ],
    [
      "has a different checksum",
      (_file, path) => writeFileSync(path, readFileSync(path, "utf8").slice(0, 500)),
    ],
    ["is gone", (_file, path) => unlinkSync(path)],
    ["is not a result", () => campaign.save(0, { ...result(0), surprise: 1 } as Result)],
    ["belongs to another run", () => campaign.save(0, { ...result(0), run: 2 })],
    [
      "belongs to another run",
      () => campaign.save(0, { ...result(0), campaign: "20250101_000000" }),
    ],
    [
      "belongs to another run",
      () => campaign.save(0, { ...result(0), configuration_hash: "0".repeat(16) }),
    ],
    ["is of a run that failed", () => campaign.save(0, failedRun(campaign.manifest, 0, "failed"))],
    [
      "is of a run that was aborted",
      () => campaign.save(0, failedRun(campaign.manifest, 0, "aborted")),
    ],
  ])(
    "a run whose result file %s is measured again, with a warning [R-damaged-1]",
    async (why, spoil) => {
      const file = campaign.save(0, result(0));
      spoil(file, join(campaign.folder, file));
      const { completed, missing, rejected } = await completedRuns();
      expect({ completed: completed.size, missing }).toEqual({ completed: 0, missing: 3 });
      expect(rejected).toEqual([expect.stringContaining(`${file} ${why}`)]);
    },
  );
});

test("checksums are read by sha256sum, are added one by one, and leave nothing else", async () => {
  const folder = newFolder();
  const sums = await Checksums.read(folder);
  for (const file of ["b_run1.json", "a_run1.json"]) {
    writeFileSync(join(folder, file), file);
    await sums.add(file, file);
  }
  const printed = execFileSync("sha256sum", ["--strict", "-c", CHECKSUMS], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(printed).toBe("a_run1.json: OK\nb_run1.json: OK\n");
  const again = await Checksums.read(folder);
  expect(again.matches("a_run1.json", Buffer.from("a_run1.json"))).toBe(true);
  expect(again.matches("a_run1.json", Buffer.from("a_run2.json"))).toBe(false);
  expect(readdirSync(folder).sort()).toEqual([CHECKSUMS, "a_run1.json", "b_run1.json"]);
});

test("only files of interrupted writes are removed, and reported [R-crash-1]", async () => {
  const { folder } = campaign;
  mkdirSync(join(folder, "report"));
  const left = [
    ".a_run1.json.1f2e3d4c.tmp",
    ".SHA256SUMS.00000000.tmp",
    "report/.index.html.4711.tmp",
  ];
  for (const name of [...left, "../latest.4711.tmp"]) writeFileSync(join(folder, name), "half");
  for (const name of ["notes.tmp", ".hidden", "report/index.html"])
    writeFileSync(join(folder, name), "own");
  expect(await removeTemporaries(folder)).toEqual([
    ".SHA256SUMS.00000000.tmp",
    ".a_run1.json.1f2e3d4c.tmp",
    ".index.html.4711.tmp",
    "latest.4711.tmp",
  ]);
  expect(readdirSync(folder).sort()).toEqual([".hidden", "manifest.json", "notes.tmp", "report"]);
  expect(readdirSync(join(folder, "report"))).toEqual(["index.html"]);
});
