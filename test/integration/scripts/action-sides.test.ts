import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { build, ROOT } from "../../helpers/programs.js";
import { registryEnvironment } from "../../helpers/registry.js";
import { runner } from "../../helpers/shell.js";
import { action, actionInputs, environmentOf, examples, step } from "../../helpers/workflows.js";

const { newFolder, shell } = runner();

/** How a sequence of shell lines changes what is checked in. */
interface Change {
  /** Makes the files of the base in the current folder. */
  base: (folder: string) => void;
  /** What the head changes in them. */
  head: string;
}

/** A bare repository as GitHub serves it, and what `actions/checkout` makes of its head. */
function pullRequest({ base, head }: Change) {
  const origin = newFolder();
  base(origin);
  const identity = "git config user.name a; git config user.email a@b.c";
  const commits = [
    `git init --quiet; ${identity}; git add --force .; git commit --quiet --message base`,
    `${head}\ngit add --force .; git commit --quiet --message head`,
    "git rev-parse HEAD~1 HEAD",
  ];
  const committed = shell(commits.join("\n"), origin);
  expect(committed.code, committed.stderr).toBe(0);
  const [baseCommit = "", headCommit = ""] = committed.stdout.trim().split("\n");
  const bare = newFolder();
  const checkout = newFolder();
  const cloned = shell(
    [
      `git clone --quiet --bare '${origin}' '${bare}/repository.git'`,
      `git -C '${bare}/repository.git' config uploadpack.allowAnySHA1InWant true`,
      `git init --quiet; git remote add origin 'file://${bare}/repository.git'`,
      `git fetch --quiet --depth=1 origin ${headCommit}; git checkout --quiet --detach FETCH_HEAD`,
    ].join("\n"),
    checkout,
  );
  expect(cloned.code, cloned.stderr).toBe(0);
  return { checkout, baseCommit, headCommit };
}

/** What an example gives the action, with settings that end sooner. */
function inputsOf(example: string, sooner: Readonly<Record<string, string>>) {
  const workflow = examples.find(({ file }) => file.endsWith(`/${example}.yml`));
  const steps = Object.values(workflow?.jobs ?? {}).flatMap((job) => job.steps);
  const given = steps.find(({ uses }) => uses?.includes("/ratelimit-bench@"))?.with;
  expect(given).toBeDefined();
  return { ...given, ...sooner };
}

/** The action's steps, as a runner makes them for a pull request, up to one that fails. */
function runAction(given: Readonly<Record<string, unknown>>, change: Change) {
  const { checkout, baseCommit, headCommit } = pullRequest(change);
  const summary = join(newFolder(), "summary.md");
  const known = actionInputs(given, {
    "github.event.pull_request.base.sha": baseCommit,
    "github.event.pull_request.head.sha": headCommit,
    "github.job": "compare",
    "github.token": "",
    "runner.temp": newFolder(),
  });
  const run = (name: string) => {
    const namedStep = step(action.runs.steps, name);
    const env = {
      ...registryEnvironment(),
      ...environmentOf(namedStep, known),
      WARMUP: "0",
      COOLDOWN: "0",
      GITHUB_ACTION_PATH: ROOT,
      GITHUB_STEP_SUMMARY: summary,
    };
    return shell(namedStep.run, checkout, env);
  };
  const prepared = run("Base and head");
  expect(prepared.code, prepared.stderr).toBe(0);
  const measured = run("Measure and compare");
  expect(measured.code, measured.stdout + measured.stderr).toBe(0);
  for (const [name, value] of Object.entries(measured.outputs))
    known[`steps.measure.outputs.${name}`] = value;
  expect(run("Summary").code).toBe(0);
  return {
    outputs: measured.outputs,
    summary: readFileSync(summary, "utf8"),
    verdict: run("Verdict").code,
  };
}

/** A head that takes 1 ms more: many times what a request takes, so that a few rounds decide. */
const BUSY = "for (const end = performance.now() + 1; performance.now() < end; );";

/** Turns last as long as several requests of the slowest target, which wait little for so few others. */
const QUICK = { build: "true", concurrency: "2", "duration-mode": "custom:1", runs: "8" };

/** Two rounds decide nothing, so that the audit decides, by one check. */
const AUDITED = { ...QUICK, runs: "2", checks: "exact-burst" };

describe("the example workflows, run as a runner does", { timeout: 600_000 }, () => {
  test("a limiter that is slower and admits one more fails, with both told", () => {
    build();
    // Seven pairs can decide a family of two figures, and a busy machine may spoil one.
    const ended = runAction(inputsOf("limiter", { ...QUICK, checks: "exact-burst" }), {
      base: (folder) =>
        cpSync(join(ROOT, "node_modules/rate-limiter-flexible"), folder, { recursive: true }),
      head: [
        `sed -i 's/^  _consume(.*{$/&\\n    ${BUSY}/' lib/RateLimiterStoreAbstract.js`,
        // A quota of nothing, for used-up keys, stays nothing.
        "sed -i 's/else if (res.consumedPoints > this.points)/else if (res.consumedPoints > this.points + (this.points \\&\\& 1))/' lib/RateLimiterStoreAbstract.js",
        "[[ $(git diff --numstat) == 2* ]]",
      ].join("\n"),
    });
    expect(ended.outputs.code).toBe("6");
    expect(ended.verdict).toBe(6);
    const { plan } = JSON.parse(
      readFileSync(join(ended.outputs.campaign ?? "", "manifest.json"), "utf8"),
    );
    expect(plan.order).toBe("turns");
    expect(ended.summary).toContain("**fails**");
    expect(ended.summary).toMatch(/\d % slower.* but exact-burst broke/);
  });

  test("a client that two rounds cannot decide passes with a warning", () => {
    build();
    const ended = runAction(inputsOf("client", AUDITED), {
      base: (folder) => cpSync(join(ROOT, "node_modules/ioredis"), folder, { recursive: true }),
      head: "echo changed >>README.md",
    });
    expect(ended.outputs.code).toBe("7");
    expect(ended.verdict).toBe(0);
    const campaign = ended.outputs.campaign ?? "";
    const { plan } = JSON.parse(readFileSync(join(campaign, "manifest.json"), "utf8"));
    const labels = plan.configurations.map(
      ({ configuration }: { configuration: { target: { label: string } } }) =>
        configuration.target.label,
    );
    expect(labels.sort()).toEqual(["ioredis-base@valkey", "ioredis-head@valkey"]);
  });

  test("an app that is slower fails", () => {
    build();
    const server = `require("node:http").createServer((request, reply) => {
  reply.end("ok");
}).listen(process.env.PORT, "127.0.0.1");`;
    const ended = runAction(inputsOf("app", QUICK), {
      base: (folder) =>
        shell(`printf '%s' '${server}' >server.js; echo '{}' >package.json`, folder),
      head: `sed -i 's/^  reply/  ${BUSY}\\n&/' server.js`,
    });
    expect(ended.outputs.code).toBe("6");
    expect(ended.summary).toContain("% slower");
  });
});

/** Limiters of other web frameworks, and what admits one request more in each. */
const LIMITERS = [
  {
    name: "express-rate-limit@8.7.5",
    target: "ioredis@valkey+express-rate-limit",
    head: "sed -i 's/totalHits > limit/totalHits > limit + (limit \\&\\& 1)/' dist/index.mjs dist/index.cjs",
  },
  {
    name: "@fastify/rate-limit@11.2.0",
    target: "ioredis@valkey+fastify-rate-limit",
    head: "sed -i 's/isExceeded: current > max/isExceeded: current > max + (max \\&\\& 1)/' index.js",
  },
  {
    name: "@nestjs/throttler@6.7.1",
    target: "ioredis@valkey+nestjs-throttler",
    head: "sed -i 's/if (isBlocked)/if (isBlocked \\&\\& totalHits > limit + (limit \\&\\& 1))/' dist/throttler.guard.js",
  },
];

test.each(LIMITERS)(
  "the action finds that $name admits one more",
  { timeout: 600_000 },
  ({ name, target, head }) => {
    build();
    // What npm has is built already: its scripts would want the tools of a checkout.
    const unpacked = `npm pack --silent '${name}' | xargs -I TARBALL tar -xzf TARBALL --strip-components=1
rm ./*.tgz; npm pkg delete scripts`;
    const ended = runAction(inputsOf("limiter", { ...AUDITED, target }), {
      base: (folder) => expect(shell(unpacked, folder, registryEnvironment()).code).toBe(0),
      head: `${head}\n[[ $(git diff --numstat) ]]`,
    });
    expect(ended.outputs.code).toBe("6");
    expect(ended.summary).toContain("exact-burst broke");
  },
);
