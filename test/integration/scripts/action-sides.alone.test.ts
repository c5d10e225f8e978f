import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { build, ROOT } from "../../helpers/programs.js";
import { runner } from "../../helpers/shell.js";
import { action, environmentOf, step } from "../../helpers/workflows.js";

const { newFolder, shell } = runner();

/** The client as it is installed here. */
const BASE = `module.exports = require(${JSON.stringify(join(ROOT, "node_modules/ioredis"))});`;
/**
 * It takes 2 ms more to send a command: many times what a request takes, so that six rounds decide
 * on a busy machine too.
 */
const HEAD = `${BASE}
const { prototype } = module.exports.Redis;
const send = prototype.sendCommand;
prototype.sendCommand = function (...words) {
  for (const end = performance.now() + 2; performance.now() < end; );
  return send.apply(this, words);
};`;

test("base and head are measured by turns, and a slower head is a regression", {
  timeout: 600_000,
}, () => {
  build();
  const root = newFolder();
  const manifest = (version: string) =>
    JSON.stringify({ name: "ioredis", version, main: "index.js" });
  const commits = [BASE, HEAD].map((text, index) =>
    [
      `printf '%s' '${text}' >index.js; printf '%s' '${manifest(`5.0.${index}`)}' >package.json`,
      `git add .; git commit --quiet --message ${index}`,
    ].join("\n"),
  );
  const init = "git init --quiet; git config user.name a; git config user.email a@b.c";
  const repository = shell([init, ...commits, "git rev-parse HEAD~1"].join("\n"), root);
  const work = newFolder();
  const known = {
    "inputs.target": "ioredis@valkey",
    "inputs.package-folder": ".",
    "inputs.build": "true",
    "inputs.base": repository.stdout.trim(),
    "inputs.head": shell("git rev-parse HEAD", root).stdout.trim(),
    "inputs.concurrency": "10",
    "inputs.duration-mode": "custom:1",
    "inputs.runs": "6",
    "inputs.workload": "light",
    "inputs.traffic": "realistic",
    "inputs.runtime": "local",
    "runner.temp": work,
  };
  const run = (name: string) => {
    const namedStep = step(action.runs.steps, name);
    const env = {
      ...environmentOf(namedStep, known),
      WARMUP: "0",
      COOLDOWN: "0",
      GITHUB_ACTION_PATH: ROOT,
    };
    return shell(namedStep.run, root, env);
  };
  const prepared = run("Base and head");
  expect(prepared.code, prepared.stderr).toBe(0);
  const measured = run("Measure and compare");
  expect(measured.code, measured.stdout + measured.stderr).toBe(0);
  expect(measured.outputs.code).toBe("6");
  const { plan } = JSON.parse(
    readFileSync(join(measured.outputs.campaign ?? "", "manifest.json"), "utf8"),
  );
  expect(plan.order).toBe("turns");
  expect(readFileSync(measured.outputs.comment ?? "", "utf8")).toContain("regression");
});
