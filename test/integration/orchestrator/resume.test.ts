import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { expectComplete } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

test("a campaign that is killed in a run, and again in its report, is resumed each time [R-resume-1]", async () => {
  const home = newFolder();
  const bytes = new Map<string, Buffer>();
  /**
   * Kills it once the log says a line for so many times; `there`: how many runs are on the disk
   * then.
   */
  const killed = async (campaign: Campaign, line: string, times: number, expectedFiles: number) => {
    await campaign.waitForLog(line, times);
    // One that hears no other signal.
    if (expectedFiles === 1) process.kill(await campaign.part("server-1"), "SIGSTOP");
    campaign.signal("SIGKILL");
    await campaign.ended;
    await campaign.orphansEnd();
    for (const file of campaign.results.keys()) {
      const read = readFileSync(join(campaign.folder, file));
      expect(read).toEqual(bytes.get(file) ?? read);
      bytes.set(file, read);
    }
    expect(bytes.size).toBe(expectedFiles);
  };
  await killed(Campaign.run(home, "memory", ["--runs", "2"]), "  measure", 2, 1);
  await killed(Campaign.resume(home), "building the report", 1, 2);

  const campaign = Campaign.resume(home, [], { LC_ALL: "C", TZ: "Pacific/Kiritimati" });
  await campaign.ends();
  await expectComplete(campaign);
  for (const [file, read] of bytes) expect(readFileSync(join(campaign.folder, file))).toEqual(read);
  // The gap can be read from the manifest; a report alone is no session.
  const { sessions = [], finished_at } = campaign.manifest;
  expect(sessions).toHaveLength(2);
  expect(sessions[0]).not.toHaveProperty("finished_at");
  expect(sessions[1]?.finished_at).toBe(finished_at);
  expect(existsSync(join(campaign.folder, "..", "latest", "manifest.json"))).toBe(true);
});

/** Changes a result, and vouches for it where the checksum shall be right. */
function change(
  folder: string,
  file: string,
  edit: (text: string) => string,
  vouch: boolean,
): void {
  const text = edit(readFileSync(join(folder, file), "utf8"));
  writeFileSync(join(folder, file), text);
  const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8");
  const sum = createHash("sha256").update(text).digest("hex");
  if (vouch)
    writeFileSync(
      join(folder, "SHA256SUMS"),
      sums.replace(new RegExp(`.{64}(?= {2}${file}\n)`), sum),
    );
}

test("damaged results are measured again with a warning, a full disk keeps the old file, and the exit code counts all runs [R-full-disk-2]", async () => {
  const home = newFolder();
  const first = Campaign.run(home, "memory", [
    "--runs",
    "2",
    "--duration-mode",
    "requests:1000",
    "--warmup",
    "0.1",
  ]);
  // The report's process is found by what killed campaigns leave in their lease; here it is ended
  // under way.
  await first.waitForLog("building the report");
  process.kill(await first.part("helper"), "SIGKILL");
  const { stderr } = await first.ends(4);
  expect(stderr).toContain("--resume");
  expect(first.measured).toHaveLength(2);

  // Something changed since: each difference is named, and nothing is touched.
  const { folder, manifest } = first;
  const path = join(folder, "manifest.json");
  const [kept = "", spoilt = ""] = manifest.plan.runs.map(({ file }) => file);
  change(folder, spoilt, (text) => text.slice(0, -100), false);
  const other = { ...manifest, harness: { ...manifest.harness, node: "1.0.0" } };
  other.machine = { ...manifest.machine, kernel: "another" };
  writeFileSync(path, JSON.stringify(other));
  const refused = await Campaign.resume(home).ended;
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain("harness.node");
  expect(refused.stderr).toContain("machine.kernel");
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(other);
  writeFileSync(path, JSON.stringify(manifest));

  const half = readFileSync(join(folder, spoilt));
  const full = Campaign.onFullDisk(home, Math.floor((0.8 * half.length) / 1024), [
    "run",
    "--resume",
    manifest.campaign,
    "--output",
    join(home, "results root"),
  ]);
  const atFull = await full.ended;
  expect(atFull.stderr).toContain(spoilt);
  expect(atFull.code).toBe(4);
  expect(readFileSync(join(folder, spoilt))).toEqual(half);

  const spoil = (text: string) =>
    text.replace(/("verdict":\{[^{}]*?"status":)"\w+"/, '$1"invalid"');
  change(folder, kept, spoil, true);
  writeFileSync(join(folder, `.${kept}.0badcafe.tmp`), "half");
  const resumed = Campaign.resume(home);
  const end = await resumed.ended;
  for (const file of [`.${kept}.0badcafe.tmp`, spoilt]) expect(end.stderr).toContain(file);
  expect(end.code).toBe(5);
  await expectComplete(resumed);
});
