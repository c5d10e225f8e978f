import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import { Campaign, withoutEngines } from "../../helpers/campaign.js";
import { expectReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { endsOnBusyMachine, ownInvalidity } from "../../helpers/measured-campaign.js";
import { ROOT } from "../../helpers/programs.js";
import { registryEnvironment } from "../../helpers/registry.js";

const newFolder = temporaryFolders();

const VERSIONS = join("ratelimit-bench", "versions");

/** What lies in the cache of a home, unfinished installations too. */
function cached(home: string): string[] {
  const folder = join(home, "cache", VERSIONS);
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** The environment of a campaign with a cache of its own, and with this in the place of npm. */
function withNpm(home: string, script?: string): Record<string, string> {
  const cache = { XDG_CACHE_HOME: join(home, "cache") };
  if (script === undefined) return { ...registryEnvironment(), ...cache };
  const programs = join(home, "programs");
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(programs, "npm"), `#!/usr/bin/env node\n${script}\n`);
  chmodSync(join(programs, "npm"), 0o755);
  return { ...cache, PATH: `${programs}:${process.env.PATH}` };
}

const refusing = (code: string) =>
  `console.log(JSON.stringify({ error: { code: "${code}", summary: "it says\\nwhy" } })); process.exitCode = 1;`;
const HANGING = `require("node:fs").writeFileSync("half.txt", ""); setInterval(() => {}, 1000);`;

test("versions are installed in a cache of their own and measured side by side, as every result says", async () => {
  const home = newFolder();
  const lock = () => readFileSync(join(ROOT, "package-lock.json"), "utf8");
  const installedVersions = () =>
    JSON.parse(readFileSync(join(ROOT, "node_modules/ioredis/package.json"), "utf8")).version;
  const before = [lock(), installedVersions()];
  const clients = "ioredis~5.6.1@valkey+rate-limiter-flexible~7.1.1,ioredis@valkey";
  const campaign = Campaign.run(home, clients, [], withNpm(home));
  const { code, stderr } = await endsOnBusyMachine(campaign);
  if (code === EXIT.done) expect(stderr).toBe(campaign.suspectWarning);
  expect([lock(), installedVersions()]).toEqual(before);
  expect(cached(home)).toEqual(["ioredis-5.6.1", "rate-limiter-flexible-7.1.1"]);
  const { libraries = {}, versions = [] } = campaign.manifest;
  const seen = campaign.measured.map((result) => {
    expectReconciled(result);
    expect(ownInvalidity(result)).toEqual([]);
    return [result.configuration?.target.label, result.versions.client, result.versions.limiter];
  });
  expect(Object.fromEntries(seen.map(([label, ...versions]) => [label, versions]))).toEqual({
    "ioredis@valkey": [libraries.ioredis, libraries["rate-limiter-flexible"]],
    "ioredis~5.6.1@valkey+rate-limiter-flexible~7.1.1": ["5.6.1", "7.1.1"],
  });
  expect(versions).toMatchObject([
    {
      name: "ioredis",
      version: "5.6.1",
      packages: { ioredis: "5.6.1", debug: expect.any(String) },
    },
    {
      name: "rate-limiter-flexible",
      version: "7.1.1",
      packages: { "rate-limiter-flexible": "7.1.1" },
    },
  ]);
  expect(JSON.stringify(campaign.manifest)).not.toMatch(/resolved|https?:\/\/(?!127\.0\.0\.1)/);
  const summary = campaign.report("summary.csv");
  for (const [label] of seen) expect(summary).toContain(label);

  // What is there needs no registry any more.
  const again = Campaign.run(
    newFolder(),
    "ioredis~5.6.1@valkey",
    [],
    withNpm(home, refusing("ETARGET")),
  );
  await again.waitForLog("  measure");
  await again.interrupted();
});

describe("a version that cannot be installed", () => {
  test.each(["ETARGET", "ECONNREFUSED"])(
    "%s ends the campaign in one line before anything is measured, and leaves nothing [R-no-version-1]",
    async (npm) => {
      const home = newFolder();
      const campaign = Campaign.run(
        home,
        "ioredis~5.99.0@valkey",
        [],
        withNpm(home, refusing(npm)),
      );
      const { code, stderr } = await campaign.ended;
      expect(stderr).toMatch(/^[^\n]*ioredis 5\.99\.0[^\n]*\n$/);
      expect(code).toBe(3);
      expect(cached(home)).toEqual([]);
      expect(existsSync(join(home, "results root"))).toBe(false);
      expect(await campaign.leftovers()).toEqual([]);
    },
  );

  test("a version whose library is incompatible fails, and is named [R-bad-version-1]", async () => {
    const home = newFolder();
    const library = `
      const fs = require("node:fs");
      const packages = { "node_modules/rate-limiter-flexible": { version: "1.0.0" } };
      fs.mkdirSync("node_modules/rate-limiter-flexible", { recursive: true });
      fs.writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages }));
      const manifest = { name: "rate-limiter-flexible", version: "1.0.0" };
      fs.writeFileSync("node_modules/rate-limiter-flexible/package.json", JSON.stringify(manifest));
      fs.writeFileSync("node_modules/rate-limiter-flexible/index.js", "");`;
    const limiter = ["--limiter", "rate-limiter-flexible~1.0.0"];
    const campaign = Campaign.run(home, "ioredis@valkey", limiter, withNpm(home, library));
    const { code, stderr } = await campaign.ended;
    expect(stderr).toContain("rate-limiter-flexible 1.0.0");
    expect(code).toBe(3);
    expect(await campaign.leftovers()).toEqual([]);
  });
});

describe("an installation that is interrupted", () => {
  const begun = async (home: string) => {
    const campaign = Campaign.run(home, "ioredis~5.6.1@valkey", [], withNpm(home, HANGING));
    const npm = await campaign.part("helper");
    while (
      !cached(home).some((name) => existsSync(join(home, "cache", VERSIONS, name, "half.txt")))
    )
      await new Promise((resolve) => setTimeout(resolve, 20));
    return { campaign, npm };
  };

  test("leaves nothing after Ctrl-C [R-install-1]", async () => {
    const home = newFolder();
    const { campaign } = await begun(home);
    await campaign.interrupted();
    expect(cached(home)).toEqual([]);
  });

  test("is cleared by the next start after a kill, with npm [R-install-2]", async () => {
    const home = newFolder();
    const { campaign } = await begun(home);
    campaign.signal("SIGKILL");
    await campaign.ended;
    expect(cached(home)).toMatchObject([expect.stringMatching(/^\.installing-/)]);
    const next = Campaign.command(home, ["clean", "--yes"], withoutEngines(home, withNpm(home)));
    await next.ends();
    expect(cached(home)).toEqual([]);
    expect(await campaign.runningProcesses()).toEqual([]);
  });
});
