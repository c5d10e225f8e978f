import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { build } from "../../helpers/programs.js";

beforeAll(build);
const newFolder = temporaryFolders();

/** Every planned run is there once, whole and vouched for, and nothing else is left. */
async function expectComplete(campaign: Campaign): Promise<void> {
  const { folder, manifest } = campaign;
  const planned = manifest.plan.runs.map(({ file }) => file).sort();
  expect([...campaign.results.keys()]).toEqual(planned);
  expect(campaign.measured.map(({ campaign: name }) => name)).toEqual(planned.map(() => manifest.campaign));
  // As any reader can.
  const checked = execFileSync("sha256sum", ["--strict", "-c", "SHA256SUMS"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(checked.trimEnd().split("\n")).toEqual(planned.map((file) => `${file}: OK`));
  expect(manifest.status).toBe("finished");
  expect(readdirSync(join(folder, "report")).sort()).toEqual(
    expect.arrayContaining(["index.html", "summary.csv"]),
  );
  const left = [folder, join(folder, "report"), join(folder, "..")].flatMap((place) => readdirSync(place));
  expect(left.filter((name) => name.includes(".tmp"))).toEqual([]);
  expect(await campaign.traces()).toEqual([]);
}

describe("a campaign that is killed goes on:", () => {
  test.each([
    ["warm-up", "iovalkey", "  warmup", 2, 1],
    ["measure", "memory", "  measure", 2, 1],
    ["report", "none", "building the report", 1, 2],
  ] as const)("kill -9 in %s", async (_phase, clients, line, times, there) => {
    const home = newFolder();
    const killed = Campaign.run(home, clients, ["--runs", "2"]);
    await killed.reaches(line, times);
    killed.signal("SIGKILL");
    await killed.ended;
    const before = new Map(
      [...killed.results.keys()].map((file) => [file, readFileSync(join(killed.folder, file))]),
    );
    expect(before.size).toBe(there);

    const campaign = Campaign.resume(home, [], { LC_ALL: "C", TZ: "Pacific/Kiritimati" });
    const { code, stdout, stderr } = await campaign.ended;
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`${there} runs are there, ${2 - there} are missing`);
    await expectComplete(campaign);
    for (const [file, bytes] of before) expect(readFileSync(join(campaign.folder, file))).toEqual(bytes);
    expect(await killed.left()).toEqual([]);
    const { sessions = [] } = campaign.manifest;
    // The gap can be read from the manifest; a report alone is no session.
    expect(sessions).toHaveLength(there === 2 ? 1 : 2);
    if (there === 1) {
      expect(sessions[0]).not.toHaveProperty("finished_at");
      expect(sessions[1]?.finished_at).toBe(campaign.manifest.finished_at);
    }
    expect(existsSync(join(campaign.folder, "..", "latest", "manifest.json"))).toBe(true);
  });
});
