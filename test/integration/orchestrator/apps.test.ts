import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { processTree } from "../../../src/runtimes/local/process-tree.js";
import { startTimeOf } from "../../../src/runtimes/processes.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { needs } from "../../helpers/needs.js";
import { ROOT } from "../../helpers/programs.js";

const newHome = temporaryFolders();
const folder = join(ROOT, "test/helpers/measured-apps");
const NODE = `${process.execPath} node-app.cjs`;

type Apps = Readonly<Record<string, string>>;

const run = (apps: Apps, ...flags: readonly string[]) => campaignIn(newHome(), apps, ...flags);

function campaignIn(home: string, apps: Apps, ...flags: readonly string[]): Campaign {
  const named = Object.entries(apps).flatMap(([name, command]) => ["--app", `${name}=${command}`]);
  const short = ["--duration-mode", "custom:1", "--warmup", "0.2", "--runs", "1", "--seed", "1"];
  const places = ["--app-folder", folder, "--output", join(home, "results root")];
  return Campaign.command(home, [
    "run",
    ...named,
    ...short,
    ...places,
    "--path",
    "/items",
    ...flags,
  ]);
}

const serverOf = (campaign: Campaign, label: string) => {
  const result = campaign.measured.find(
    ({ configuration }) => configuration?.target.label === label,
  );
  return { result, server: result?.resources["server-1"] };
};

test("apps in Node and Python are measured by turns, with the CPU time of all their processes", async () => {
  const campaign = run(
    {
      plain: NODE,
      forks: `${process.execPath} forking-app.cjs`,
      python: "python3 python-app.py {port}",
    },
    "--header",
    "Authorization: Bearer s3cret",
    "--ready",
    "/not-there",
  );
  await campaign.ends();

  const labels = campaign.measured.map(({ configuration }) => configuration?.target.label);
  expect(labels.toSorted()).toEqual(["forks", "plain", "python"]);
  for (const { outcome, consumers, verdict, cpu_usage, turns } of campaign.measured) {
    expect(outcome).toBe("served");
    expect(consumers).toEqual([]);
    expect(verdict.status).not.toBe("invalid");
    expect(cpu_usage).toBeGreaterThan(0);
    expect(turns?.group).toBe(3);
  }

  const plain = serverOf(campaign, "plain").server;
  const forks = serverOf(campaign, "forks").server;
  expect(forks?.cpu_us_per_request).toBeGreaterThan((plain?.cpu_us_per_request ?? 0) / 3);
  expect(forks?.resident_bytes_mean).toBeGreaterThan(1.3 * (plain?.resident_bytes_mean ?? 0));

  const manifest = readFileSync(join(campaign.folder, "manifest.json"), "utf8");
  expect(manifest).not.toContain("s3cret");
  expect(campaign.manifest.apps?.plain).toMatchObject({ command: NODE });
  expect(readFileSync(join(campaign.folder, "report/index.html"), "utf8")).toContain(NODE);
});

test("an app gets the address of a fresh store in its variable", needs(["redis"]), async () => {
  const app = `${process.execPath} -e 'const net = require("net"); const u = new URL(process.env.CACHE); net.connect(u.port, u.hostname, () => require("http").createServer((q, r) => r.end("{}")).listen(process.env.PORT))'`;
  const campaign = run({ one: app }, "--app-store", "CACHE=redis");
  await campaign.ends();
  const { result } = serverOf(campaign, "one");
  expect(result?.outcome).toBe("served");
  expect(result?.resources["store-1"]?.kind).toBe("store");
  expect(result?.verdict.status).not.toBe("invalid");
});

test("kill -9 ends an app with its workers, and --resume goes on with the headers given again", async () => {
  const home = newHome();
  const header = ["--header", "Authorization: Bearer s3cret"];
  const forks = { forks: `${process.execPath} forking-app.cjs` };
  const killed = campaignIn(home, forks, "--runs", "2", "--no-copy", ...header);
  await killed.waitForLog("measure", 2);
  const app = await processTree(await killed.part("server-1"));
  expect(app.length).toBeGreaterThan(1);
  killed.signal("SIGKILL");
  await killed.ended;
  const isThere = async ({ pid }: (typeof app)[number]) => (await startTimeOf(pid)) !== undefined;
  await vi.waitFor(async () => expect(await Promise.all(app.map(isThere))).not.toContain(true), {
    timeout: 10_000,
  });

  const refused = await Campaign.resume(home).ended;
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/Authorization/)]);
  const resumed = Campaign.resume(home, header);
  await resumed.ends();
  expect(resumed.measured.map(({ outcome }) => outcome)).toEqual(["served", "served"]);
  expect(resumed.manifest.sessions).toHaveLength(2);
});

/** Apps that cannot be measured, with the line that each of them gets. */
const UNFIT = [
  {
    name: "dies",
    command: `${process.execPath} -e 'throw new Error("no licence")'`,
    line: /dies ended with 1/,
  },
  { name: "deaf", command: "sleep 100", line: /deaf .*PORT/ },
  { name: "sick", command: `env STATUS=500 ${NODE}`, line: /sick .*500/ },
  {
    name: "lost",
    command: NODE,
    flags: ["--path", "/elsewhere"],
    line: /lost .*\/elsewhere with 404.*--path/,
  },
  { name: "absent", command: "no-such-program-7", line: /--app absent: .*no-such-program-7/ },
];

test("an app that dies, never listens, or answers with errors is one clear line", async () => {
  const printed = UNFIT.map(async ({ name, command, flags = [], line }) => {
    const { stderr } = await run({ [name]: command }, ...flags).ends(3);
    expect(
      stderr.split("\n").filter((text) => line.test(text)),
      stderr,
    ).toHaveLength(1);
  });
  await Promise.all(printed);
});
