import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { appClientId } from "../../../src/contract/app.js";
import { askDirectly } from "../../../src/kit/direct-http.js";
import { EXIT } from "../../../src/kit/errors.js";
import { appPart } from "../../../src/orchestrator/run/app-role.js";
import type { RunSettings } from "../../../src/orchestrator/run/run-settings.js";
import { processTree } from "../../../src/runtimes/local/process-tree.js";
import { startTimeOf } from "../../../src/runtimes/processes.js";
import { Campaign } from "../../helpers/campaign.js";
import { failureOf } from "../../helpers/errors.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { openLocalRuntime } from "../../helpers/local-runtime.js";
import { endsOnBusyMachine, ownInvalidity } from "../../helpers/measured-campaign.js";
import { ROOT } from "../../helpers/programs.js";
import { until } from "../../helpers/store.js";

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

const serverOf = (campaign: Campaign, label: string) =>
  campaign.measured.find(({ configuration }) => configuration?.target.label === label)?.resources[
    "server-1"
  ];

/** Listens as soon as it has reached the store whose address is in CACHE. */
const CACHED = `${process.execPath} -e 'const net = require("net"); const u = new URL(process.env.CACHE); net.connect(u.port, u.hostname, () => require("http").createServer((q, r) => r.end("{}")).listen(process.env.PORT))'`;

test("apps in Node and Python are measured by turns, each with a fresh store, and with the CPU time of all their processes", async () => {
  const campaign = run(
    {
      plain: NODE,
      forks: `${process.execPath} forking-app.cjs`,
      python: "python3 python-app.py {port}",
      cached: CACHED,
    },
    "--app-store",
    "CACHE=valkey",
    "--header",
    "Authorization: Bearer s3cret",
    "--ready",
    "/not-there",
  );
  await endsOnBusyMachine(campaign);

  const labels = campaign.measured.map(({ configuration }) => configuration?.target.label);
  expect(labels.toSorted()).toEqual(["cached", "forks", "plain", "python"]);
  expect(campaign.measured.flatMap(ownInvalidity)).toEqual([]);
  for (const { counts, consumers, cpu_usage, turns, resources } of campaign.measured) {
    expect(counts.allowed + counts.followed).toBe(counts.sent);
    expect(consumers).toEqual([]);
    expect(cpu_usage).toBeGreaterThan(0);
    expect(turns?.group).toBe(4);
    expect(resources["store-1"]?.kind).toBe("store");
  }

  const plain = serverOf(campaign, "plain");
  const forks = serverOf(campaign, "forks");
  expect(forks?.cpu_us_per_request).toBeGreaterThan((plain?.cpu_us_per_request ?? 0) / 3);
  expect(forks?.resident_bytes_mean).toBeGreaterThan(1.3 * (plain?.resident_bytes_mean ?? 0));

  const manifest = readFileSync(join(campaign.folder, "manifest.json"), "utf8");
  expect(manifest).not.toContain("s3cret");
  expect(campaign.manifest.apps?.plain).toMatchObject({ command: NODE });
  expect(readFileSync(join(campaign.folder, "report/index.html"), "utf8")).toContain(NODE);
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
  await endsOnBusyMachine(resumed);
  expect(resumed.measured).toHaveLength(2);
  expect(resumed.measured.flatMap(ownInvalidity)).toEqual([]);
  for (const { counts } of resumed.measured)
    expect(counts.allowed + counts.followed).toBe(counts.sent);
  expect(resumed.manifest.sessions).toHaveLength(2);
});

/** Apps that cannot be measured, with the line that each of them gets. */
const UNFIT = [
  {
    name: "dies",
    command: `${process.execPath} -e 'throw new Error("no licence")'`,
    line: /dies ended with 1/,
  },
  {
    name: "lost",
    command: NODE,
    flags: ["--path", "/elsewhere"],
    line: /lost .*\/elsewhere with 404.*--path/,
  },
  { name: "absent", command: "no-such-program-7", line: /--app absent: .*no-such-program-7/ },
];

test("an app that dies, is not there, or does not know the path is one clear line", async () => {
  const printed = UNFIT.map(async ({ name, command, flags = [], line }) => {
    const { stderr } = await run({ [name]: command }, ...flags).ends(3);
    expect(
      stderr.split("\n").filter((text) => line.test(text)),
      stderr,
    ).toHaveLength(1);
  });
  await Promise.all(printed);
});

/** Starts an app as a run does. @param isAnswering whether to wait until it answers at all */
async function failureToStart(name: string, words: readonly string[], isAnswering: boolean) {
  const client = appClientId(name);
  const [command = "", ...parameters] = words;
  const runtime = await openLocalRuntime(newHome(), [{ id: client, command }]);
  const settings = { configuration: { target: { client } }, caps: {} } as RunSettings;
  const part = appPart(
    "server-1",
    settings,
    { parameters, folder, request: { path: "/items" } },
    [],
  );

  // It has a long time to become ready, which the test lets pass at once.
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return failureOf(() =>
    runtime.start(part, async ({ address: { host, port } }) => {
      const passes = async () => {
        const url = `http://${host}:${port}/items`;
        if (isAnswering)
          await until(() => askDirectly(url, { timeout_ms: 2_000 }).then(Boolean, () => false));
        await delay(200);
        vi.advanceTimersByTime(60_000);
      };
      void passes();
    }),
  );
}

test.each([
  { name: "deaf", words: ["sleep", "100"], isAnswering: false, line: /deaf .*PORT/ },
  {
    name: "sick",
    words: ["env", "STATUS=500", process.execPath, "node-app.cjs"],
    isAnswering: true,
    line: /sick .*500/,
  },
])(
  "an app that is $name is not waited for without end, and the line says what it did",
  async ({ name, words, isAnswering, line }) => {
    const { message, exitCode } = await failureToStart(name, words, isAnswering);
    expect(exitCode).toBe(EXIT.environment);
    expect(message).toMatch(line);
  },
);
