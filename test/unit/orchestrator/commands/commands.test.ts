import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Argument } from "commander";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { versionReportSchema } from "../../../../src/contract/version-report.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { runAudit } from "../../../../src/orchestrator/audit/run-audit.js";
import { audit } from "../../../../src/orchestrator/commands/audit-command.js";
import type { CliContext } from "../../../../src/orchestrator/commands/command-types.js";
import {
  completionOf,
  SETTING_VALUES,
} from "../../../../src/orchestrator/commands/completion-command.js";
import {
  doctor,
  resolutionLines,
  resolutionOf,
  roundsIn,
} from "../../../../src/orchestrator/commands/doctor-command.js";
import { findCommand } from "../../../../src/orchestrator/commands/help-command.js";
import { commands } from "../../../../src/orchestrator/commands/index.js";
import {
  createCommand,
  parseCommandLine,
} from "../../../../src/orchestrator/request/command-line.js";
import { topics } from "../../../../src/orchestrator/request/flag-help.js";
import { SETTINGS } from "../../../../src/orchestrator/request/settings.js";
import { clients } from "../../../../src/targets/clients/index.js";
import { profiles } from "../../../../src/traffic/profiles.js";
import { expectFailure } from "../../../helpers/errors.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { ROOT } from "../../../helpers/programs.js";

const found = (name: string) => completionOf(commands).find((command) => command.name === name);
function helpOf(name: string): string {
  let text = "";
  const command = findCommand(name, commands).definition({ commands });
  command.configureOutput({ writeOut: (written) => (text += written) }).outputHelp();
  return text;
}
const flag = (name: string) => found("run")?.flags.find((known) => known.name === name);

describe("commands", () => {
  test("that do not exist are refused with a suggestion", async () => {
    await expectFailure(
      () => findCommand("rnu", commands),
      EXIT.usage,
      "did you mean run?",
      "clean",
    );
    await expectFailure(
      () => findCommand("plan-capacity", commands),
      EXIT.usage,
      "--servers",
      "servers.csv",
    );
    await expectFailure(
      () => findCommand(`x\n${"y".repeat(300)}`, commands),
      EXIT.usage,
      "valid: run",
    );
  });

  test("that are gone say what to use instead", async () => {
    await expectFailure(() => findCommand("claims", commands), EXIT.usage, "--config claims/");
  });

  test("refuse unknown arguments in one line that names their help", async () => {
    const command = createCommand("ratelimit-bench thing").addArgument(
      new Argument("<kind>").choices(["a", "b"]),
    );
    await expectFailure(() => parseCommandLine(command, ["c"]), EXIT.usage, "a, b", "thing --help");
    await expectFailure(
      () => parseCommandLine(command, ["a", "b"]),
      EXIT.usage,
      "too many arguments",
    );
    await expectFailure(
      () => parseCommandLine(command, ["--no\nsuch"]),
      EXIT.usage,
      "unknown option",
    );
  });
});

test("the help of a single run names each variable once, with its meaning", () => {
  const help = helpOf("single");
  const lines = help.split("\n");
  for (const variable of [
    "RATE_LIMITER_TYPE",
    "OUTPUT_FILE",
    "RATE_LIMIT_POINTS",
    "STORE_CA",
    "STORE_URL",
  ])
    expect(lines.filter((line) => new RegExp(`^  ${variable} +\\S`).test(line))).toHaveLength(1);
  for (const { variable } of SETTINGS) if (variable) expect(help).toContain(`  ${variable} `);
  expect(help).toMatch(/^ {2}DURATION {2,}measured seconds of a run \(default: 30\)$/m);
});

const newFolder = temporaryFolders();

test("version --json holds everything that the text shows, and matches its schema", async () => {
  const printed = async (...argv: string[]) => {
    let text = "";
    const context: CliContext = {
      packageFolder: ROOT,
      // No store of this machine is asked for its version.
      env: { VALKEY_SERVER: "/no/such/valkey", REDIS_SERVER: "/no/such/redis" },
      commands,
      campaign: async () => ({ exitCode: EXIT.done }),
      audit: async () => ({ exitCode: EXIT.done }),
      apiAudit: async () => ({ exitCode: EXIT.done }),
      print: (line) => {
        text += `${line}\n`;
      },
    };
    expect(await findCommand("version", commands).run(argv, context)).toBe(EXIT.done);
    return text;
  };
  // It knows no --version, and would start.
  const program = join(newFolder(), "gubernator");
  writeFileSync(program, `#!/bin/sh\n: >"$0.started"\n`, { mode: 0o755 });
  vi.stubEnv("PATH", dirname(program));
  onTestFinished(() => void vi.unstubAllEnvs());
  const report = versionReportSchema.parse(JSON.parse(await printed("--json")));
  const text = await printed();
  expect(report).toMatchObject({
    node: process.versions.node,
    stores: { redis: { image: "redis:8.0" } },
  });
  expect(Object.keys(report.clients)).toEqual(
    clients.filter((each) => each.package).map(({ id }) => id),
  );
  const packages = [report.clients, report.limiters, report.load_generator, report.server];
  for (const [id, { version }] of packages.flatMap((each) => Object.entries(each)))
    expect(text).toMatch(new RegExp(`^  ${id} +${version}$`, "m"));
  for (const [id, { program, reason, image }] of Object.entries(report.stores)) {
    const here = program ? `${program.version} (${program.path})` : reason;
    const line = text.split("\n").findLast((each) => each.startsWith(`  ${id} `));
    expect(line).toContain(image ? ` ${here}; in containers ${image}` : ` ${here}`);
  }
  expect(report.stores.gubernator?.program?.path).toBe(program);
  expect(existsSync(`${program}.started`)).toBe(false);
  expect(text).toContain(`ratelimit-bench ${report.version}\nnode ${report.node}\n`);
});

describe("completion", () => {
  test("knows every flag of every command and its values", () => {
    const run = commands.find(({ name }) => name === "run")?.definition({ commands });
    for (const option of run?.options ?? [])
      expect(flag(option.long ?? "")?.summary).toBe(option.description);
    for (const { id } of clients) expect(flag("--clients")?.values).toContain(id);
    expect(flag("--clients")?.values).toContain("ioredis@valkey:cluster");
    expect(flag("--traffic")?.values).toEqual(profiles.map(({ id }) => id));
    expect(flag("--warmup")?.values).toEqual(["auto"]);
    expect(flag("--output")?.isPath).toBe(true);
    expect(flag("--quick")).not.toHaveProperty("placeholder");
    expect(found("completion")?.words).toEqual(["bash", "zsh"]);
    expect(found("help")?.words).toEqual([...commands.map(({ name }) => name), ...topics]);
  });

  test("has values only for existing flags", () => {
    for (const name of Object.keys(SETTING_VALUES))
      expect(flag(name)?.values.length).toBeGreaterThan(0);
  });

  test("covers every flag whose help lists its values", () => {
    for (const { name, summary, values } of found("run")?.flags ?? []) {
      const [words] = /^[\w-]+(\|[\w:-]+)+/.exec(summary) ?? [];
      for (const word of words?.split("|") ?? []) {
        expect(values, name).toContain(word.replace(/:N$/, ":"));
      }
    }
  });
});

describe("what doctor says that a machine can show", () => {
  const power = {
    ratio: 1.004,
    interval: { low: 0.98, high: 1.03 },
    deviation: 0.0312,
    detectable: 0.061,
  };

  test("is the rounds of each difference, and their time here", () => {
    const found = resolutionOf(
      { ...power, rounds_needed: [null, 14, 5] },
      { rounds: 8, slices_s: 1, seconds: 60 },
    );
    expect(found).toMatchObject({ rounds: 8, ratio: 1.004, interval: power.interval });
    expect(found.deviation_percent).toBeCloseTo(3.12);
    expect(found.found_in_7_rounds_percent).toBeCloseTo(6.1);
    expect(found.differences).toEqual([
      { percent: 3, rounds: null, minutes: null },
      { percent: 5, rounds: 14, minutes: 1.75 },
      { percent: 10, rounds: 5, minutes: 0.625 },
    ]);
    const [, ratio, , , seven, ...differences] = resolutionLines(found);
    expect(ratio).toContain("1.004 (0.980–1.030)");
    expect(seven).toContain("6.1 %");
    expect(differences.slice(0, 2).map((line) => line.match(/\d+/g)?.map(Number))).toEqual([
      [3, 1000],
      [5, 14, 2],
    ]);
  });

  test("may be nothing, of rounds too few for an interval", () => {
    const none = { ...power, interval: null, detectable: null, rounds_needed: [null, null, null] };
    const found = resolutionOf(none, { rounds: 2, slices_s: 1, seconds: 15 });
    expect(found).toMatchObject({ interval: null, found_in_7_rounds_percent: null });
    expect(resolutionLines(found)[1]).toContain("1.004 (too few rounds for an interval)");
  });
});

test.each([
  [20, 2, 1],
  [60, 7, 1],
  [90, 9, 2],
  [600, 51, 3],
])(
  "%d s have the rounds that fit, and from eight on longer slices",
  (seconds, rounds, slices_s) => {
    expect(roundsIn(seconds, { once_s: 4, round_s: 5.5 })).toEqual({ rounds, slices_s });
  },
);

test("seconds for fewer than two rounds are refused with the seconds that they take", async () => {
  await expectFailure(
    () => roundsIn(20, { once_s: 4, round_s: 23 }),
    EXIT.usage,
    "--seconds",
    "54 s",
  );
});

const CONTEXT: CliContext = {
  packageFolder: ROOT,
  env: {},
  commands,
  campaign: async () => ({ exitCode: EXIT.done }),
  audit: (request, checks) => runAudit(request, checks, { packageFolder: ROOT } as never),
  apiAudit: async () => ({ exitCode: EXIT.done }),
  print: () => {},
};

test.each(["-1", "1.5", "601", "abc", "", "1e2"])(
  "doctor refuses --seconds %j",
  async (seconds) => {
    const refused = () => doctor.run([`--seconds=${seconds}`], CONTEXT);
    await expectFailure(refused, EXIT.usage, "--seconds", "0 to 600");
  },
);

test("a dry run of an audit prints its plan and starts nothing", async () => {
  const output = newFolder();
  const printed: string[] = [];
  const context: CliContext = {
    ...CONTEXT,
    audit: async () => {
      throw new Error("an audit was started");
    },
    print: (text) => printed.push(text),
  };
  const flags = ["--clients", "memory,none", "--checks", "exact-burst", "--runtime", "local"];
  expect(await audit.run([...flags, "--dry-run", "--output", output], context)).toBe(EXIT.done);
  expect(printed.join()).toMatch(/1 target, 1 check each.*memory/);
  expect(readdirSync(output)).toEqual([]);
});

test.each<[flags: string[], words: string, env?: Record<string, string>]>([
  [["--clients", "memory", "--checks", "exact-brust"], "exact-burst"],
  [["--clients", "no-such-client"], "no-such-client"],
  [["--clients", "none"], "nothing"],
  [[], "--clients"],
  [["--clients", "ioredis"], "STORE_URL", { STORE_URL: "redis://127.0.0.1:1" }],
  [["--quota", "100/60s"], "--url"],
  [["--url", "http://127.0.0.1:1", "--clients", "memory"], "give one of them"],
  [["--url", "http://127.0.0.1:1", "--key", "heder:X"], "header:NAME"],
  [["--url", "http://127.0.0.1:1", "--checks", "actve"], "active"],
  [["--url", "http://192.0.2.1/items"], "--yes"],
])("audit refuses %j before anything is started", async (flags, words, env = {}) => {
  const output = newFolder();
  const refused = () => audit.run([...flags, "--output", output], { ...CONTEXT, env });
  await expectFailure(refused, EXIT.usage, words);
  expect(existsSync(join(output, "audits"))).toBe(false);
});
