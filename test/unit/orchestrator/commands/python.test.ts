import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../../../src/kit/env.js";
import { EXIT, type ExitCode } from "../../../../src/kit/errors.js";
import type { CliContext } from "../../../../src/orchestrator/commands/command-types.js";
import { compare } from "../../../../src/orchestrator/commands/compare-command.js";
import { commands } from "../../../../src/orchestrator/commands/index.js";
import { memory } from "../../../../src/orchestrator/commands/memory-command.js";
import { report } from "../../../../src/orchestrator/commands/report-command.js";
import { runPython } from "../../../../src/orchestrator/host/python.js";
import type { Request } from "../../../../src/orchestrator/request/request.js";
import { expectFailure } from "../../../helpers/errors.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();

/** A package whose Python report writes down its arguments and ends with a code. */
function packageOf(code: number): { packageFolder: string; receivedArgs: () => string[] } {
  const packageFolder = newFolder();
  const receivedArgs = join(packageFolder, "received");
  mkdirSync(join(packageFolder, "report"));
  const words = `open(${JSON.stringify(receivedArgs)}, "w").write("\\n".join(sys.argv[2:]))`;
  writeFileSync(
    join(packageFolder, "report", "__main__.py"),
    `import sys\n${words}\nsys.exit(${code})\n`,
  );
  return { packageFolder, receivedArgs: () => readFileSync(receivedArgs, "utf8").split("\n") };
}

const FOLDER = "/results/20260102_030405";

function contextOf(packageFolder: string, ended: ExitCode = EXIT.done) {
  const requests: Request[] = [];
  const context: CliContext = {
    packageFolder,
    env: {},
    commands,
    campaign: async (request) => {
      requests.push(request);
      return { exitCode: ended, folder: FOLDER };
    },
    audit: async () => ({ exitCode: ended, folder: FOLDER }),
    apiAudit: async () => ({ exitCode: ended, folder: FOLDER }),
    print: () => {},
  };
  return { context, requests };
}

test("commands of the Python report end with a known exit code; any other code is a defect", async () => {
  expect(await runPython(packageOf(6).packageFolder, "compare", [])).toBe(EXIT.regression);
  const { packageFolder } = packageOf(99);
  await expectFailure(() => runPython(packageFolder, "compare", []), EXIT.defect, "with 99");
});

describe("compare", () => {
  test("passes its arguments on unchanged", async () => {
    const { packageFolder, receivedArgs } = packageOf(7);
    const words = ["results/a b#iovalkey", "x;y", "--metric", "cpu", "--margin=3%"];
    expect(await compare.run(words, contextOf(packageFolder).context)).toBe(EXIT.notDecided);
    expect(receivedArgs()).toEqual(words);
  });

  test("refuses unknown arguments before anything starts", async () => {
    const { context } = contextOf("/nowhere");
    await expectFailure(
      () => compare.run(["a", "b", "c"], context),
      EXIT.usage,
      "too many arguments",
    );
    await expectFailure(() => compare.run(["--metric", "speed"], context), EXIT.usage, "p99, cpu");
  });
});

describe("report", () => {
  test.each<[string[], string[]]>([
    [[], ["results/latest"]],
    [
      ["results/a b", "--images"],
      ["results/a b", "--images"],
    ],
    [["--", "-x"], ["./-x"]],
    [
      ["--output-format", "csv", "--keep-going", "x"],
      ["x", "--output-format=csv", "--keep-going"],
    ],
    [["--compare-runs"], ["--compare-runs=results"]],
    [
      ["--compare-runs", "there", "--include-trends", "--baseline", "main"],
      ["--compare-runs=there", "--include-trends", "--baseline=main"],
    ],
  ])("%j", async (words, expected) => {
    const { packageFolder, receivedArgs } = packageOf(0);
    expect(await report.run(words, contextOf(packageFolder).context)).toBe(EXIT.done);
    expect(receivedArgs()).toEqual(expected);
  });

  test("of several folders ends with the worst exit code", async () => {
    const { packageFolder, receivedArgs } = packageOf(2);
    expect(await report.run(["a", "b"], contextOf(packageFolder).context)).toBe(EXIT.usage);
    expect(receivedArgs()).toEqual(["b"]);
  });

  test.each([
    [["--include-trends"], "--compare-runs"],
    [["--compare-runs", "--images"], "--images"],
    [["--output-format", "pdf"], "html, csv"],
  ])("refuses %j before anything starts", async (words, part) => {
    await expectFailure(() => report.run(words, contextOf("/nowhere").context), EXIT.usage, part);
  });
});

describe("memory", () => {
  test("is a campaign of fresh keys, whose table Python prints", async () => {
    const { packageFolder, receivedArgs } = packageOf(0);
    const { context, requests } = contextOf(packageFolder);
    const words = ["--clients", "ioredis memory", "--output", "out", "--format", "json"];
    expect(await memory.run(words, context)).toBe(EXIT.done);
    expect(requests).toMatchObject([
      {
        targets: { clients: ["ioredis", "memory"] },
        entries: { layers: ["limiter"] },
        load: {
          traffic: ["variable"],
          duration: { mode: "requests", counts: [10_000, 50_000, 100_000] },
        },
        limits: { points: [10], windowsS: [3600] },
        pauses: { warmupS: 0 },
        rounds: { runs: 3 },
        output: { folder: "out", ownResult: true },
      },
    ]);
    expect(receivedArgs()).toEqual([FOLDER, "--format", "json"]);
  });

  test("its flags replace the defaults", async () => {
    const { context, requests } = contextOf(packageOf(0).packageFolder);
    const words = "--clients ioredis --keys 100,200 --keys 300 --window 60 --runs 1".split(" ");
    await memory.run([...words, "--program", "redis=/a", "--program", "valkey=/b"], context);
    expect(requests).toMatchObject([
      {
        load: { duration: { counts: [100, 200, 300] } },
        limits: { windowsS: [60] },
        rounds: { runs: 1 },
        place: { programs: { paths: { redis: "/a", valkey: "/b" } } },
      },
    ]);
  });

  test.each<[ExitCode, ExitCode, boolean]>([
    [EXIT.runsInvalid, EXIT.runsInvalid, true],
    [EXIT.interrupted, EXIT.interrupted, true],
    [EXIT.environment, EXIT.environment, false],
    [EXIT.done, EXIT.usage, true],
  ])("a campaign that ends with %i: ends with %i", async (ended, expected, isAnalysed) => {
    const { packageFolder, receivedArgs } = packageOf(EXIT.usage);
    const { context } = contextOf(packageFolder, ended);
    expect(await memory.run(["--clients", "ioredis"], context)).toBe(expected);
    if (isAnalysed) expect(receivedArgs()).toEqual([FOLDER]);
    else expect(receivedArgs).toThrow();
  });

  test.each<[string[], Environment, ...string[]]>([
    [[], {}, "--clients is missing"],
    [["--clients", "ioredis", "--keys", "100"], {}, "--keys 100", "two numbers"],
    [["--clients", "ioredis", "--keys", "100,100"], {}, "two numbers"],
    [["--clients", "ioredis", "--keys", "100,x"], {}, '--keys "x"', "whole number"],
    [["--clients", "ioredis", "--traffic", "fixed"], {}, "--traffic"],
    [["--clients", "ioredis", "--runs", "auto"], {}, "--runs auto", "fixed number"],
    [
      ["--clients", "ioredis"],
      { STORE_URL: "redis://:secret@127.0.0.1" },
      "STORE_URL",
      "fresh store",
    ],
  ])("%j is bad usage", async (words, env, ...parts) => {
    const { context, requests } = contextOf("/nowhere");
    await expectFailure(() => memory.run(words, { ...context, env }), EXIT.usage, ...parts);
    expect(requests).toEqual([]);
  });
});
