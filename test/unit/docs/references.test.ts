import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AUTO_WARMUP, LEAD_IN_S } from "../../../src/contract/configuration.js";
import { DEFAULT_COUNT, dimensions } from "../../../src/contract/dimensions.js";
import { DELAY_MS } from "../../../src/contract/fault-actions.js";
import {
  defaultLengthS,
  FAULT_START_S,
  LEAST_BASELINE_S,
  SETTLES_S,
} from "../../../src/contract/fault-times.js";
import {
  MANIFEST_SCHEMA_VERSION,
  OLDEST_REPORTED_VERSION,
} from "../../../src/contract/manifest.js";
import { findNamedFault, namedFaults } from "../../../src/contract/named-faults.js";
import { PLAN_SCHEMA_VERSION } from "../../../src/contract/plan.js";
import { MAX_KEY_LENGTH } from "../../../src/contract/ranges.js";
import { RESULT_SCHEMA_VERSION } from "../../../src/contract/result.js";
import { FOREIGN_CPU_PERCENT } from "../../../src/contract/role-resources.js";
import {
  MARGIN_SHARE,
  MIN_PAIRS,
  MIN_ROUNDS_TO_PAIR,
  MIN_TRIALS_PER_RATE,
} from "../../../src/contract/statistics.js";
import { MIN_CYCLES } from "../../../src/contract/turns.js";
import { rules as judgedRules } from "../../../src/judge/rules.js";
import { EXIT } from "../../../src/kit/errors.js";
import { numberWord, withThousands } from "../../../src/kit/numbers.js";
import { SECONDS_TO_STOP } from "../../../src/orchestrator/campaign/dry-run.js";
import { MIN_ROUNDS_FOR_A_COPY } from "../../../src/orchestrator/plan/rankings.js";
import { CLUSTERS, GROUP_SIZE } from "../../../src/orchestrator/plan/turn-groups.js";
import {
  CUSTOM_DURATION,
  DYNAMIC,
  NAMED_DURATIONS,
} from "../../../src/orchestrator/request/durations.js";
import { DEFAULT_MAX_RUNS } from "../../../src/orchestrator/request/measure-settings.js";
import { DEFAULT_CAPS } from "../../../src/orchestrator/request/place-settings.js";
import { ORIGINAL, PRESETS } from "../../../src/orchestrator/request/presets.js";
import { defaultOf } from "../../../src/orchestrator/request/settings.js";
import { lengthsFor, SHORTEST_SEPARATE } from "../../../src/traffic/turn-order.js";
import { ROOT } from "../../helpers/programs.js";

const FOLDERS = ["src", "report", "test", "scripts", "bench", "docs", "docker", "claims"];

/** Folders of src/ and report/ whose files comments name without that prefix. */
const INNER_FOLDERS = [
  "orchestrator",
  "runtimes",
  "targets",
  "benchmark",
  "contract",
  "judge",
  "sections",
  "analysis",
];

const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(ROOT, path)));

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The text of a page on one line, so that a sentence is found whatever its line breaks. */
const flowing = (path: string): string => read(path).replaceAll(/\s+/g, " ");

/** Paths of source files in a text, without placeholders such as `NAME`. */
function pathsIn(text: string, folders: readonly string[]): string[] {
  const path = new RegExp(
    `(?<![\\w/.~-])(?:${folders.join("|")})/[\\w./-]*\\.(?:ts|py|mjs|sh|md)\\b`,
    "g",
  );
  return (text.match(path) ?? []).filter((found) => !/[A-Z]{4}/.test(found));
}

const commentsIn = (source: string): string =>
  (source.match(/\/\*[\s\S]*?\*\/|\/\/.*|^\s*#.*$/gm) ?? []).join("\n");

const isThere = (path: string): boolean =>
  ["", "src", "report"].some((folder) => existsSync(join(ROOT, folder, path)));

/** Names the document beside each path that leads nowhere. */
function deadPaths(file: string, text: string, folders: readonly string[]): string[] {
  return pathsIn(text, folders)
    .filter((path) => !isThere(path))
    .map((path) => `${file}: ${path}`);
}

test("every source file that a document names is there", () => {
  const documents = listed.filter((path) => /^(docs\/.*|README|CONTRIBUTING)\.md$/.test(path));
  expect(documents.length).toBeGreaterThan(30);
  expect(documents.flatMap((path) => deadPaths(path, read(path), FOLDERS))).toEqual([]);
});

/** Names of files, and ends of their paths, such as `flag-help.ts` or `audit/expected.ts`. */
const namedFiles = (page: string): string[] =>
  [...page.matchAll(/`([\w./-]+\.(?:ts|py|mjs|js|sh|md|json|yaml))`/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !name.includes("NAME"));

test.each(["docs/architecture.md", "docs/extending.md"])(
  "every file that %s names without its folder is there",
  (page) => {
    const names = namedFiles(read(page));
    expect(names.length).toBeGreaterThan(20);
    const isListed = (name: string) => listed.some((path) => `/${path}`.endsWith(`/${name}`));
    expect(names.filter((name) => !isListed(name))).toEqual([]);
  },
);

/** The folders that the tree of architecture.md has directly below a folder. */
function foldersInTree(parent: string): string[] {
  const [, tree = ""] = /^```text\n(.*?)^```$/ms.exec(read("docs/architecture.md")) ?? [];
  const [, children = ""] = new RegExp(`^${parent}/\n((?: .*\n)*)`, "m").exec(tree) ?? [];
  return [...children.matchAll(/^ {2}(\w+)\//gm)].map(([, folder = ""]) => folder);
}

test.each(["src", "report"])("the tree of architecture.md has every folder of %s/", (parent) => {
  const folders = new Set(listed.flatMap((path) => folderBelow(parent, path)));
  expect(foldersInTree(parent).toSorted()).toEqual([...folders].toSorted());
});

function folderBelow(parent: string, path: string): string[] {
  const [first, folder, ...others] = path.split("/");
  return first === parent && folder !== undefined && others.length > 0 ? [folder] : [];
}

test("every source file that a comment names is there", () => {
  const sources = listed.filter((path) =>
    /^(src|report|bench|scripts|test)\/.*\.(ts|py|sh|mjs)$/.test(path),
  );
  const folders = [...FOLDERS, ...INNER_FOLDERS];
  expect(sources.length).toBeGreaterThan(500);
  expect(sources.flatMap((path) => deadPaths(path, commentsIn(read(path)), folders))).toEqual([]);
});

test("each identifier of the glossary is in the code", () => {
  const identifiers = [...read("docs/glossary.md").matchAll(/\| `(\w+)` +\|$/gm)].map(
    ([, name]) => name,
  );
  expect(identifiers.length).toBeGreaterThan(50);
  const sources = listed.filter((path) => /^(src|report)\/.*\.(ts|py)$/.test(path));
  const words = new Set(sources.flatMap((path) => read(path).match(/\w+/g) ?? []));
  expect(identifiers.filter((name = "") => !words.has(name))).toEqual([]);
});

test("no type or class is called facts, as the glossary bans the word", () => {
  const sources = listed.filter((path) =>
    /^(src|report|test|scripts|bench)\/.*\.(ts|py)$/.test(path),
  );
  const declared = sources.flatMap((path) =>
    [...read(path).matchAll(/^\s*(?:export )?(?:declare )?(?:type|interface|class) (\w+)/gm)].map(
      ([, name = ""]) => `${path}: ${name}`,
    ),
  );
  expect(declared.length).toBeGreaterThan(1000);
  expect(declared.filter((declaration) => declaration.endsWith("Facts"))).toEqual([]);
});

test("numbers of the methodology are those of the code", () => {
  const page = flowing("docs/methodology.md");
  const rules = flowing("docs/rules.md");
  const { lead_in_ms, slice_ms } = lengthsFor(0);

  expect(page).toContain(
    `The last ${LEAD_IN_S} s of the warm-up (of a shorter one than ${2 * LEAD_IN_S} s`,
  );
  expect(rules).toContain(
    `until ${withThousands(AUTO_WARMUP.min_requests)} requests of the target were sent and its last ` +
      `${numberWord(AUTO_WARMUP.slices)} slices have no trend`,
  );
  expect(rules).toContain(
    `After ${AUTO_WARMUP.max_s} s of load it ends in any case. A slice is a turn, or ` +
      `${AUTO_WARMUP.slice_s} s where`,
  );
  expect(page).toContain(`counted (${lead_in_ms} ms or more`);
  expect(page).toContain(`at least ${numberWord(MIN_CYCLES)} cycles`);
  expect(page).toContain(
    `a slice of ${slice_ms} ms, at the limiter layer ${SHORTEST_SEPARATE.slice_ms} ms`,
  );
  expect(page).toContain(
    `up to ${numberWord(GROUP_SIZE)} of equal load (${numberWord(CLUSTERS)} on`,
  );
  expect(rules).toContain(`From ${MIN_ROUNDS_FOR_A_COPY} rounds on a copy of each reference`);
  expect(flowing("docs/reading.md")).toContain(
    `from ${MIN_ROUNDS_FOR_A_COPY} rounds on the reference`,
  );
});

test("the page of the report names the versions that the report reads", () => {
  expect(RESULT_SCHEMA_VERSION).toBe(MANIFEST_SCHEMA_VERSION);
  expect(PLAN_SCHEMA_VERSION).toBe(MANIFEST_SCHEMA_VERSION);
  const page = flowing("docs/report.md");
  expect(page).toContain(`written in schema version ${MANIFEST_SCHEMA_VERSION}, which`);
  expect(page).toContain(`versions ${OLDEST_REPORTED_VERSION} to ${MANIFEST_SCHEMA_VERSION}, and`);
});

test("the page of rules has a heading for each rule that is judged", () => {
  const headings = read("docs/rules.md").match(/^### M\d+(?=: )/gm) ?? [];
  const described = headings.map((heading) => heading.replace("### ", ""));
  expect(new Set(described).size).toBe(described.length);
  expect(described).toEqual(expect.arrayContaining(judgedRules.map(({ id }) => id)));
});

test("numbers of the statistics are those of the code, on every page", () => {
  const methodology = flowing("docs/methodology.md");
  const rules = flowing("docs/rules.md");
  const margin = `± ${100 * MARGIN_SHARE} %`;

  expect(rules).toContain(`(Wilcoxon), from ${numberWord(MIN_PAIRS)} rounds on`);
  expect(rules).toContain(`_no difference_ within ${margin}`);
  expect(rules).toContain(`≥ ${FOREIGN_CPU_PERCENT} % of one CPU`);
  expect(methodology).toContain(`get ${numberWord(MIN_TRIALS_PER_RATE)} trials each`);
  expect(flowing("docs/comparing.md")).toContain(
    `otherwise from ${numberWord(MIN_ROUNDS_TO_PAIR)} rounds on`,
  );
  expect(flowing("docs/comparing.md")).toContain(
    `of at least ${numberWord(MIN_PAIRS)} rounds each`,
  );
  expect(flowing("docs/reading.md")).toContain(`the interval lies within ${margin}`);
  expect(flowing("README.md")).toContain(
    `With fewer than ${numberWord(MIN_PAIRS)} rounds by turns`,
  );
});

test("the page of faults names each with its length, and the times of one without", () => {
  const page = flowing("docs/faults.md");
  const rows = read("docs/faults.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(rows).toHaveLength(namedFaults.length);

  for (const fault of namedFaults) {
    const row = rows.find((line) => line.startsWith(`| \`${fault.id}\``));
    const length_s = defaultLengthS({ name: fault.id, action: fault.action });
    expect(row, fault.id).toContain(length_s === undefined ? fault.id : ` ${length_s} s`);
  }
  expect(rows.join("\n")).toContain(`${DELAY_MS} ms longer`);
  const { settles_s } = findNamedFault("primary-kill") ?? {};
  expect(page).toContain(
    `begins at ${FAULT_START_S} s, and the window goes on for ${SETTLES_S} s after it (${settles_s} s after \`primary-kill\`)`,
  );
  expect(page).toContain(
    `With times of your own ${LEAST_BASELINE_S} s before and after are enough`,
  );
});

test("defaults and ranges of flags are those of the code, in docs and compose files", () => {
  const campaigns = flowing("docs/campaigns.md");
  const { cpus, memory } = DEFAULT_CAPS;

  expect(campaigns).toContain(`\`--max-runs\` (${DEFAULT_MAX_RUNS})`);
  expect(flowing("docs/flags.md")).toContain(
    `${dimensions.map(({ key, max }) => `\`--${key}\` ${DEFAULT_COUNT} to ${max}`).join(", ")}: there must`,
  );
  expect(flowing("docs/containers.md")).toContain(
    `\`STORE_CPUS\`, \`STORE_MEMORY\` (${cpus}, ${memory})`,
  );
  expect(read("docker/common.yml")).toContain(`cpus: \${STORE_CPUS:-${cpus}}`);
  expect(read("docker/common.yml")).toContain(`mem_limit: \${STORE_MEMORY:-${memory}}`);
  expect(flowing("docs/flags.md")).toContain(
    `${DYNAMIC.seconds} s up to ${DYNAMIC.most_connections} connections, ${DYNAMIC.seconds_above} s above, ${DYNAMIC.more_in_a_cluster} s more for a cluster`,
  );
  expect(campaigns).toContain(`${SECONDS_TO_STOP} s remain to stop`);
  expect(campaigns).toContain(
    `The ${numberWord(Number(defaultOf("runs")))} runs of a plain command`,
  );
  expect(campaigns).toContain(ORIGINAL.concurrency);
  for (const { id, settings } of PRESETS.filter((preset) => preset.id !== "smoke")) {
    const [, text = ""] = new RegExp(`- \`${id}\`: (.*?)(?= - |$)`).exec(campaigns) ?? [];
    const seconds = settings["duration-mode"]?.slice(CUSTOM_DURATION.length);
    expect(text, id).toContain(`${settings.runs} rounds of ${seconds} s by turns`);
  }
  expect(flowing("docs/audit.md")).toContain(`keys of ${MAX_KEY_LENGTH} characters`);
});

test("the action and the workflows take the durations and the rounds of the code", () => {
  expect(read("scripts/ci/common.sh")).toContain(
    `'${NAMED_DURATIONS.join("|")}|${CUSTOM_DURATION}[0-9]{1,5}'`,
  );
  expect(read("action.yml")).toContain(`${NAMED_DURATIONS.join(", ")} or ${CUSTOM_DURATION}N`);
  // A gate judges two figures as one family, which takes one round more.
  expect(read("action.yml")).toContain(
    `with fewer than ${MIN_PAIRS + 1} no difference can be shown`,
  );
});

test("exit codes of docs and of the action's scripts are those of the code", () => {
  const page = read("docs/troubleshooting.md");
  const [, list = ""] = page.split("## Exit codes\n");
  const codes = [...list.matchAll(/^- \*\*([\d, ]+)\*\*/gm)].flatMap(([, text = ""]) =>
    text.split(", "),
  );
  expect(codes.map(Number)).toEqual(Object.values(EXIT));

  const { done, regression, notDecided, configurationFailed, runsInvalid } = EXIT;
  const compared = [done, regression, notDecided];
  expect(read("scripts/ci/exit-by-verdict.sh")).toContain(`must_be CODE '${compared.join("|")}'`);
  expect(read("scripts/ci/measure-sides.sh")).toContain(
    `case $code in ${compared.join(" | ")}) ;;`,
  );
  expect(read("action.yml")).toContain(
    `${done} passes, ${regression} fails, ${notDecided} not decided`,
  );
  const common = read("scripts/ci/common.sh");
  expect(common).toContain(`${configurationFailed}) printf '::warning::runs failed`);
  expect(common).toContain(`${runsInvalid}) printf '::warning::some runs are invalid`);
});
