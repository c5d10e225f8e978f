import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Campaign } from "./campaign.js";

/** Every planned run has one result with its checksum, there is a report, and nothing else is left. */
export async function expectComplete(campaign: Campaign): Promise<void> {
  const { folder, manifest } = campaign;
  const planned = manifest.plan.runs.map(({ file }) => file).sort();
  expect([...campaign.results.keys()]).toEqual(planned);
  expect(campaign.measured.map(({ campaign: name }) => name)).toEqual(planned.map(() => manifest.campaign));
  const check = ["--strict", "-c", "SHA256SUMS"];
  const checked = execFileSync("sha256sum", check, { cwd: folder, encoding: "utf8" });
  expect(checked.trimEnd().split("\n")).toEqual(planned.map((file) => `${file}: OK`));
  expect(manifest.status).toBe("finished");
  const report = join(folder, "report");
  expect(readdirSync(report)).toEqual(expect.arrayContaining(["index.html", "summary.csv"]));
  const names = [folder, report, join(folder, "..")].flatMap((place) => readdirSync(place));
  expect(names.filter((name) => name.includes(".tmp"))).toEqual([]);
  expect(await campaign.leftovers()).toEqual([]);
}
