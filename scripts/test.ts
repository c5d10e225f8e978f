import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

/**
 * Runs checks and tests side by side. A step has one line when it ends; what it printed is shown if
 * it failed.
 *   test.ts fast   types, lint, generated files, unit tests of both languages
 *   test.ts        the same, and the main job: `*.main.test.ts`, a terminal, and one look at the report in a browser
 *   test.ts all    what `test.ts` leaves out, but for `test:kubernetes`; or one of its groups:
 *                  long, rest, terminal, figures
 */
interface Step {
  name: string;
  command: readonly string[];
  /** Its files run beside each other, so that one may fail because of another's load. */
  sideBySide?: boolean;
  /** Why it cannot run here, if it cannot. On a CI machine it must. */
  lacking?: () => string | undefined;
}

const vitest = (...projects: string[]) => [
  "npx",
  "vitest",
  "run",
  ...projects.map((name) => `--project=${name}`),
];
const python = (part: string) => ["bash", "scripts/check-python.sh", part];

/** Those that take longest come first. */
const FAST: readonly Step[] = [
  { name: "Python unit tests", command: python("unit") },
  { name: "unit tests", command: vitest("unit*"), sideBySide: true },
  { name: "Python lint and types", command: python("lint") },
  { name: "generated files", command: ["npm", "run", "--silent", "generate:check"] },
  { name: "lint", command: ["npm", "run", "--silent", "lint"] },
  { name: "types", command: ["npm", "run", "--silent", "types"] },
];

/** One look at the report in a browser. */
const LOOK = [
  ...vitest("browser"),
  "test/browser/report.test.ts",
  "--testNamePattern=draws every chart, without",
];

const noEngine = () =>
  spawnSync("docker", ["info"], { stdio: "ignore" }).status === 0
    ? undefined
    : "no Docker engine answers";

/** Steps of a group run side by side, the groups of a level one after the other. */
const GROUPS = {
  fast: FAST,
  main: [
    { name: "main job", command: vitest("main"), sideBySide: true },
    { name: "tests at a terminal", command: python("terminal") },
    ...FAST,
    { name: "report in a browser", command: LOOK, sideBySide: true },
  ],
  rest: [
    {
      name: "integration tests",
      command: [...vitest("integration"), "--maxWorkers=3"],
      sideBySide: true,
    },
    { name: "browser tests", command: vitest("browser"), sideBySide: true },
    // Engines and their clean-up leave half of the time to others.
    {
      name: "container tests",
      command: vitest("containers"),
      sideBySide: true,
      lacking: noEngine,
    },
    {
      name: "tests of several engines",
      command: vitest("hosts"),
      sideBySide: true,
      lacking: noEngine,
    },
  ],
  // Simulations: nothing in them depends on what else runs.
  long: [{ name: "long Python tests", command: python("long") }],
  // Their campaigns must be valid, which they are not where others take the CPUs.
  terminal: [{ name: "long tests at a terminal", command: python("terminal-long") }],
  // They judge what was measured: whatever else runs would be in their figures.
  figures: [{ name: "tests of figures", command: vitest("alone") }],
} satisfies Record<string, readonly Step[]>;

const running = new Set<ChildProcess>();
const remarks = new Set<string>();
const tell = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs a step to its end; what it printed is kept, and shown when it fails. */
async function run({ name, command }: Step): Promise<{ passed: boolean; failedFiles: string[] }> {
  const begun = Date.now();
  const [program = "", ...words] = command;
  // A group of its own, so that it can be ended with all that it started.
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  running.add(child);
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => printed.push(chunk));
  child.once("error", (error) => printed.push(Buffer.from(`${error.message}\n`)));
  const code = await new Promise((resolve) => child.once("close", resolve));
  running.delete(child);
  const seconds = Math.round((Date.now() - begun) / 1000);
  const text = Buffer.concat(printed).toString("utf8");
  if (code !== 0) tell(`\n${text.trimEnd()}\n`);
  // A test that was left out or repeated is not passed over in silence.
  for (const line of text.split("\n"))
    if (/^(tests are skipped|repeated): /.test(line)) remarks.add(line);
  const failedFiles = [...text.matchAll(/^failed file: (\S+)$/gm)].map(([, file = ""]) => file);
  tell(`${code === 0 ? "passed" : "FAILED"} ${name} (${seconds} s)`);
  return { passed: code === 0, failedFiles };
}

/** Another's load explains the failure of a few files, not of more. */
const MAX_REPEATS = 6;

/**
 * Runs the steps, one per CPU at a time. Where files of a step failed beside others, these files run
 * once more when nothing else does, and the step passes if they do.
 * @returns the number of steps that failed
 */
async function runGroup(steps: readonly Step[]): Promise<number> {
  const waiting = [...steps];
  const repeats: { step: Step; failedFiles: readonly string[] }[] = [];
  let failed = 0;
  const worker = async (): Promise<void> => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      const lack = process.env.CI ? undefined : step.lacking?.();
      if (lack) {
        tell(`skipped ${step.name}: ${lack}`);
        continue;
      }

      const { passed, failedFiles } = await run(step);
      const isRepeated =
        step.sideBySide && failedFiles.length > 0 && failedFiles.length <= MAX_REPEATS;
      if (!passed && isRepeated) repeats.push({ step, failedFiles });
      else if (!passed) failed++;
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));

  for (const { step, failedFiles } of repeats) {
    const command = [...step.command, "--no-file-parallelism", ...failedFiles];
    const { passed } = await run({ name: `${step.name}, failed files alone`, command });
    if (!passed) failed++;
    for (const file of failedFiles) remarks.add(`repeated: ${file}`);
  }
  return failed;
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.on(signal, () => {
    for (const { pid } of running) if (pid) process.kill(-pid, "SIGTERM");
    process.exit(code);
  });
}

const level = process.argv[2] ?? "main";
const names = level === "all" ? (["long", "rest", "terminal", "figures"] as const) : [level];
const begun = Date.now();
let failed = 0;
for (const name of names) {
  const steps: readonly Step[] | undefined = GROUPS[name as keyof typeof GROUPS];
  if (!steps) {
    process.stderr.write(
      `there are no tests ${JSON.stringify(name)}; valid: ${Object.keys(GROUPS).join(", ")}, all\n`,
    );
    process.exit(2);
  }
  failed += await runGroup(steps);
}
const seconds = Math.round((Date.now() - begun) / 1000);
for (const line of remarks) tell(line);
tell(
  failed === 0
    ? `all passed in ${seconds} s`
    : `failed: ${failed} of the steps above, in ${seconds} s`,
);
process.exitCode = failed === 0 ? 0 : 1;
