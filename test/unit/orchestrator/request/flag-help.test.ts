import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { campaignHelp, topics } from "../../../../src/orchestrator/request/flag-help.js";
import { SETTINGS } from "../../../../src/orchestrator/request/settings.js";
import { ROOT } from "../../../helpers/programs.js";

const help = (topic?: string) =>
  campaignHelp("./scripts/run-all.sh", "./scripts/run-all.sh help", topic);
const flagsOf = (text: string) => [...text.matchAll(/^ {2}--([\w-]+)/gm)].map(([, flag]) => flag);

test("the help of a campaign fits a screen, with the flags that the original had, and names every topic", () => {
  const text = help();
  expect(text.split("\n").length).toBeLessThanOrEqual(61);
  expect(flagsOf(text)).toEqual(["clients", "duration-mode", "concurrency", "workload", "runs"]);
  for (const topic of topics) expect(text).toMatch(new RegExp(`^  ${topic} +\\S`, "m"));
});

test("every flag is in exactly one topic", () => {
  expect(topics.flatMap((topic) => flagsOf(help(topic)))).toEqual(SETTINGS.map(({ key }) => key));
});

test.each([undefined, ...topics])("the help on %s fits 80 columns", (topic) => {
  const widths = help(topic)
    .split("\n")
    .map((line) => line.length);
  expect(Math.max(...widths)).toBeLessThanOrEqual(80);
});

test("the scripts have the texts of these topics and no others", () => {
  const names = readdirSync(join(ROOT, "scripts/help"));
  expect(names.sort()).toEqual([...topics, "run", "single"].map((name) => `${name}.txt`).sort());
});
