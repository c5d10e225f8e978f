import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import type { Reporter } from "vitest/reporters";
import { decodePlugins } from "./src/contract/plugins.js";
import { needNames } from "./test/helpers/need-names.js";

/**
 * Unit tests that replace a module, register a plugin or name a server of their own: what they do
 * must not reach the others of a shared process.
 */
const ISOLATED = [
  "test/unit/targets/{clients,own-settings}.test.ts",
  "test/unit/{plugins/load,docs/commands,orchestrator/{run/plugins,request/config-file}}.test.ts",
];
/** What `npm test` runs of the integration tests: the main job. */
const MAIN = "test/integration/**/*.main.test.ts";
/** Tests that judge what was measured: whatever else runs would be in their figures. */
const ALONE = "test/integration/**/*.alone.test.ts";
/** Makes dist/ current, from which the programs run. */
const BUILT = "test/integration/setup.ts";
/** Tests with engines of their own, which see nothing of the others'. */
const HOSTS = "test/containers/hosts.test.ts";

/**
 * Time limits end tests that hang, on a busy machine too; they judge nothing. Unit tests start
 * nothing; integration tests run real stores and programs; browser tests use a real Chromium, and
 * container tests a real engine.
 *
 * A test that fails is repeated once, because the machine may have been held up, and named. Where
 * files run side by side, the repeat would have the same neighbours, so scripts/test.ts repeats the
 * file when nothing else runs.
 */
const project = (
  name: string,
  timeout: number,
  parallel: boolean,
  files: { include: string[]; exclude?: string[]; globalSetup?: string } = {
    include: [`test/${name}/**/*.test.ts`],
  },
) => ({
  test: {
    name,
    testTimeout: timeout,
    hookTimeout: timeout,
    fileParallelism: parallel,
    retry: parallel ? 0 : 1,
    ...files,
  },
});

/** Without isolation the sources are loaded once a worker instead of once a file. */
function unit(name: string, files: { include?: string[]; exclude?: string[] }, isolate: boolean) {
  const { test } = project(name, 60_000, true, { include: ["test/unit/**/*.test.ts"], ...files });
  return { test: { ...test, isolate, unstubEnvs: true } };
}

/**
 * Each may repeat itself twice: the machine may have been held up. One that needs more than one
 * repeat in twenty runs on a quiet machine is to be redesigned, with wider bounds or by statistics.
 */
function alone() {
  const { test } = project("alone", 300_000, false, { include: [ALONE], globalSetup: BUILT });
  return { test: { ...test, retry: 2 } };
}

function browser() {
  const { test } = project("browser", 180_000, true);
  return { test: { ...test, globalSetup: ["test/browser/setup.ts"] } };
}

/** The suites for a plugin of somebody else's: Node itself loads it, as the programs do. */
function plugin() {
  const { test } = project("plugin", 300_000, false);
  const outside = [
    /^file:/,
    ...decodePlugins(process.env).map((path) => new RegExp(`^${escaped(path)}`)),
  ];
  // With the loader that finds our own sources, which Node asks for the hooks.
  return {
    test: { ...test, execArgv: ["--import", "tsx"], server: { deps: { external: outside } } },
  };
}

/** The files that take longest, so that none of them is left when all others are done. */
const LONGEST = [
  "scripts/action-sides",
  "orchestrator/audit-checks",
  "orchestrator/interruption",
  "orchestrator/apps",
  "orchestrator/memory",
  "orchestrator/planned-faults",
  "orchestrator/store-layer",
  "orchestrator/faults",
  "orchestrator/plugin-page",
  "limiters/throttlecrab",
];

/** On a new machine vitest knows no durations, and would begin with the largest files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return index < 0 ? LONGEST.length : index;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

const escaped = (text: string): string => text.replaceAll(/[^\w/]/g, "\\$&");

/** Names the tests that passed when they were repeated, and for scripts/test.ts the files that failed. */
const repeats: Reporter = {
  onTestCaseResult(testCase) {
    if (testCase.diagnostic()?.flaky)
      console.log(`repeated: ${testCase.module.moduleId} ${testCase.name}`);
  },
  onTestModuleEnd(testModule) {
    if (!testModule.ok()) console.log(`failed file: ${testModule.relativeModuleId}`);
  },
};

export default defineConfig({
  test: {
    reporters: ["default", repeats],
    // By default one CPU is left to others: of two that is half.
    maxConcurrency: 3,
    sequence: { sequencer: LongestFirst },
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Each test that needs what a machine may not have is tagged with its name.
    tags: needNames.map((name) => ({ name })),
    projects: [
      unit("unit", { exclude: ISOLATED }, false),
      unit("unit-isolated", { include: ISOLATED }, true),
      project("integration", 300_000, true, {
        include: ["test/integration/**/*.test.ts"],
        exclude: [MAIN, ALONE],
        globalSetup: BUILT,
      }),
      project("main", 300_000, true, { include: [MAIN], globalSetup: BUILT }),
      alone(),
      browser(),
      project("containers", 300_000, false, {
        include: ["test/containers/**/*.test.ts"],
        exclude: [HOSTS],
      }),
      project("hosts", 300_000, false, { include: [HOSTS] }),
      project("kubernetes", 300_000, false),
      plugin(),
    ],
  },
});
