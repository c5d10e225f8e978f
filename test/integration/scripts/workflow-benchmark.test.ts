import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { needs } from "../../helpers/needs.js";
import { isSetUp, ROOT } from "../../helpers/programs.js";
import { runner } from "../../helpers/shell.js";
import { environmentOf, step, steps } from "../../helpers/workflows.js";

const { newFolder, shell, script } = runner();

test("actionlint finds nothing", needs(["actionlint"]), () => {
  const { code, stdout } = script("actionlint.sh", []);
  expect([code, stdout]).toEqual([0, ""]);
});

describe("benchmark.yml", () => {
  const list = steps("benchmark.yml");

  test("its steps measure what was asked for and tell it", () => {
    expect(isSetUp()).toBe(true);
    const inputs = {
      clients: "none",
      concurrency: "4",
      duration_mode: "custom:1",
      runs: "1",
      runtime: "local",
    };
    const known = Object.fromEntries(
      Object.entries(inputs).map(([name, value]) => [`inputs.${name}`, value]),
    );
    const results = join(newFolder(), "results");
    const measure = step(list, "Campaign");
    const measured = shell(measure.run, ROOT, {
      ...environmentOf(measure, known),
      OUTPUT: results,
      WARMUP: "0.5",
      COOLDOWN: "0",
    });
    expect(measured.code, measured.stderr).toBe(0);
    const folder = measured.outputs.campaign ?? "";
    expect(readdirSync(folder)).toContain("none_light_4c_1s_run1.json");

    const summaryStep = step(list, "Summary");
    const summary = join(newFolder(), "summary");
    const stepOutputs = { "steps.campaign.outputs.campaign": folder };
    const output = shell(summaryStep.run, ROOT, {
      ...environmentOf(summaryStep, stepOutputs),
      GITHUB_STEP_SUMMARY: summary,
    });
    expect(output.code, output.stderr).toBe(0);
    expect(readFileSync(summary, "utf8")).toContain(basename(folder));
    // What `pages.yml` takes from it.
    expect(script("add-to-history.sh", [folder, join(newFolder(), "history")]).code).toBe(0);
  });

  test.each([
    ["CLIENTS", "$(touch x)"],
    ["CLIENTS", "none; touch x"],
    ["CLIENTS", "--plugin=/tmp/evil.js"],
    ["CLIENTS", "none\n--plugin"],
    ["CONCURRENCY", "50 --plugin /tmp/evil.js"],
    ["DURATION_MODE", "custom:1e9"],
    ["RUNS", "`touch x`"],
    ["WORKLOAD", "light|cat"],
    ["TRAFFIC", "../../x"],
    ["RUNTIME", "local docker"],
  ])("%s=%j is refused in one line, and nothing runs", (name, value) => {
    const cwd = newFolder();
    const { code, stderr } = script("benchmark.sh", [], { CLIENTS: "none", [name]: value }, cwd);
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`^::error::${name} must be [^\\n]+\\n$`));
    expect(readdirSync(cwd)).toEqual([]);
  });
});
