import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { parseCampaign } from "../../../../src/orchestrator/request/parse-request.js";
import { expectFailure } from "../../../helpers/errors.js";
import { ROOT } from "../../../helpers/programs.js";
import { parsed as parse } from "../../../helpers/request.js";

test("--turn gives the shortest lengths of turns in milliseconds", () => {
  const { rounds } = parse(["--clients", "none", "--turn", "7.5,200"]);
  expect(rounds.turn).toEqual({ lead_in_ms: 7.5, slice_ms: 200 });
});

test("the defaults are those of the original", () => {
  expect(parse(["--clients", "all"])).toMatchObject({
    targets: { clients: ["all"] },
    entries: { layers: ["server"], counts: { servers: [1] }, workloads: ["light"] },
    load: { duration: { mode: "dynamic" }, connections: [50, 100], traffic: ["realistic"] },
    limits: { points: [], windowsS: [], costs: [] },
    rounds: { runs: 3, order: "turns" },
    pauses: { warmupS: 10, cooldownS: 5, clientCooldownS: 10 },
    place: { runtime: "auto" },
    output: { folder: "results" },
    start: { allowParallel: false },
    notices: [],
  });
});

test.each<[string[], ...string[]]>([
  [["--duration-mode", "requests:10,x"], "--duration-mode requests:", '"x"', "whole number"],
  [["--duration-mode", "requests:"], "requests:", "at least one value"],
  [["--duration-mode", "requests:10", "--find-max-rate", "--slo", "p99<10ms"], "requests:10"],
  [["--points", "10,x"], "--points", '"x"', "whole number"],
  [["--window", ","], "--window", "at least one value"],
  [["--cost", "0"], "--cost", '"0"', "from 1 to 1000000 points"],
  [["--turn", "50"], "--turn", '"50"', "a lead-in and a slice"],
  [["--turn", "50,130"], "--turn", '"50,130"', "whole 100 ms"],
  [["--turn", "50,100", "--order", "interleaved"], "--turn", "--order turns"],
  [["--layer", "limiter", "--servers", "2"], "--servers 2", "limiter"],
  [["--servers", "17"], "--servers", "from 1 to 16"],
  [["--generators", "33"], "--generators", "from 1 to 32"],
  [["--layer", "store", "--generators", "2"], "--generators 2", "store"],
])("%j is bad usage [R-servers-1]", async (flags, ...parts) => {
  await expectFailure(() => parse(["--clients", "all", ...flags]), EXIT.usage, ...parts);
});

test("servers and layers are lists; what a campaign records repeats it", () => {
  expect(
    parse(["--clients", "all", "--servers", "1 4", "--layer", "server,limiter"]),
  ).toMatchObject({ entries: { counts: { servers: [1, 4] }, layers: ["server", "limiter"] } });
  const { settings } = parse(["--clients", "all", "--layer", "limiter"]).record;
  expect(settings.layer).toBe("limiter");
  // Else a campaign of the limiter layer alone could not be repeated or resumed.
  expect(settings).not.toHaveProperty("servers");
});

test.each<[string[], ...string[]]>([
  [[], "--clients is missing", "--quick"],
  [["--clients", "all", "--quiet", "--verbose"], "--quiet", "--verbose"],
  [["--clients", "all", "--progress", "lines"], "--progress", "live, run, phase"],
  [["--clients", "all", "--progress", "run", "--quiet"], "--quiet", "--progress"],
  [["--clients", "all", "--workload", "ligth"], "light?", "light, heavy, both"],
  [["--layer", "store", "--operations", "sett"], "set?", "set, get, incr, script"],
  [["--layer", "store", "--payload-bytes", "0"], "--payload-bytes", "from 1 to"],
  [["--layer", "store", "--clients", "ioredis"], "--clients", "--stores"],
  [["--layer", "store", "--rate", "100"], "--rate", "store layer"],
  [["--layer", "store", "--runs", "auto"], "--runs auto", "store layer"],
  [["--layer", "store", "--duration-mode", "requests:5"], "requests:5", "custom:"],
  [["--clients", "none", "--stores", "redis"], "--stores", "--layer store"],
  [["--layer", "store", "--store-versions", "valkey~8.1"], "--store-versions", "--stores"],
  [["--clients", "all", "--layer", "sever"], '--layer "sever"', "server, limiter"],
  [["--clients"], "--clients", "argument missing"],
  [["--clients", " , "], "--clients"],
  [["--clents", "all"], "--clents", "--clients"],
  [["--clients", "all", "more"], "too many arguments"],
  [["--clients", "all", "--duration-mode", "custom:0"], "from 1 to 86400 seconds"],
  [["--clients", "all", "--duration-mode", "custom:1.5x"], '"1.5x"', "whole number"],
  [["--clients", "all", "--duration-mode", "fixed31"], "dynamic, fixed30, fixed120 or custom:N"],
  [["--clients", "all", "--concurrency", "0"], "--concurrency", "from 1 to 10000"],
  [["--clients", "all", "--concurrency", "50 abc"], '"abc"', "from 1 to 10000"],
  [["--clients", "all", "--runs", "0"], "--runs", "from 1 to 1000"],
  [["--clients", "all", "--warmup", "-1"], "--warmup", "from 0 to 3600 seconds, or auto"],
  [["--clients", "all", "--warmup", "atuo"], '--warmup "atuo"', "or auto"],
  [["--clients", "all", "--cooldown", "1,2,3"], "--cooldown 1,2,3", "one or two"],
  [["--clients", "all", "--order", "random"], "turns, interleaved, consecutive"],
  [["--clients", "all", "--seed", "4294967296"], "--seed", "from 0 to 4294967295"],
  [["--clients", "all", "--points", "0"], "--points", "from 1 to"],
  [["--clients", "all", "--block", "-1"], "--block", "from 0 to"],
  [["--clients", "all", "--complexity", "0"], "--complexity", "from 1 to"],
  [["--clients", "all", "--workers", "65"], "--workers", "from 1 to 64"],
])(
  "refused as bad usage, naming the flag and what is valid [R-unknown-1]: %j",
  async (argv, ...parts) => {
    await expectFailure(() => parseCampaign(argv, {}), EXIT.usage, ...parts);
  },
);

describe("the warm-up", () => {
  const warmup = (...flags: string[]) => parse(["--clients", "none", ...flags]).pauses.warmupS;

  test("is exactly what is given, or auto, and 10 s by default", () => {
    expect(warmup()).toBe(10);
    expect(warmup("--warmup", "0")).toBe(0);
    expect(warmup("--warmup", "2.5")).toBe(2.5);
    expect(warmup("--warmup", "auto")).toBe("auto");
  });

  test.each([
    ["smoke", 1],
    ["quick", "auto"],
    ["standard", "auto"],
    ["publication", "auto"],
  ])("of preset %s is %s, unless a flag gives another", (preset, expected) => {
    expect(warmup("--preset", preset)).toBe(expected);
    expect(warmup("--preset", preset, "--warmup", "7")).toBe(7);
    expect(parse(["--clients", "none", "--preset", preset]).record.settings.warmup).toBe(
      String(expected),
    );
  });
});

describe("lists", () => {
  test("are separated by commas or spaces, and duplicates are removed, with a notice [R-duplicates-1]", () => {
    const request = parse(["--clients", "a, b  a", "--concurrency", "50,50 10"]);
    expect(request).toMatchObject({
      targets: { clients: ["a", "b"] },
      load: { connections: [50, 10] },
    });
    expect(request.notices).toEqual([
      "--clients: a was given more than once",
      "--concurrency: 50 was given more than once",
    ]);
  });

  test("of a repeated flag are joined", () => {
    const lists = [
      ["--clients", "ioredis", "--clients", "iovalkey,none"],
      ["--limiter", "rate-limiter-flexible", "--limiter", "rate-limiter-flexible~7.1.1"],
      ["--workload", "light", "--workload", "heavy"],
      ["--traffic", "fixed", "--traffic", "sparse"],
      ["--rate", "100", "--rate=200"],
      ["--concurrency", "10", "--concurrency", "20 30"],
    ].flat();
    const request = parse(lists);
    expect(request).toMatchObject({
      targets: {
        clients: ["ioredis", "iovalkey", "none"],
        limiters: ["rate-limiter-flexible", "rate-limiter-flexible~7.1.1"],
      },
      entries: { workloads: ["light", "heavy"] },
      load: { traffic: ["fixed", "sparse"], rates: [100, 200], connections: [10, 20, 30] },
      notices: [],
    });
    expect(request.record.command).toContain("--clients ioredis --clients iovalkey,none");
    const search = parse([
      "--clients",
      "a",
      "--find-max-rate",
      "--slo",
      "p99<10ms",
      "--slo",
      "errors<1%",
    ]);
    expect(search.load.objectives?.map(({ text }) => text)).toEqual(["p99<10ms", "errors<1%"]);
  });
});

describe("environment and flags", () => {
  const flags = ["--clients", "all"];
  const env = {
    RATE_LIMIT_POINTS: "7",
    RATE_LIMIT_DURATION: "8",
    RATE_LIMIT_BLOCK_DURATION: "9",
    VALKEY_SERVER: "/opt/a/valkey-server",
  };

  test("variables set limits and store programs unless a flag does", () => {
    expect(parse(flags, env)).toMatchObject({
      limits: { points: [7], windowsS: [8], costs: [], blockS: 9 },
      place: { programs: { paths: { valkey: "/opt/a/valkey-server" }, images: {} } },
      notices: [],
    });
  });

  test("flags win, with a notice if they differ [R-flag-wins-1]", () => {
    const given = [...flags, "--points", "1", "--window", "8", "--valkey-server", "/opt/b"];
    const request = parse(given, env);
    expect(request.limits).toEqual({ points: [1], windowsS: [8], costs: [], blockS: 9 });
    expect(request.place.programs.paths).toEqual({ valkey: "/opt/b" });
    expect(request.notices).toEqual([
      "--points 1 wins over RATE_LIMIT_POINTS=7",
      "--valkey-server /opt/b wins over VALKEY_SERVER=/opt/a/valkey-server",
    ]);
  });
});

test("--quick stands for rounds by turns of the three clients on one store and of no limiter", () => {
  const { targets, load, rounds } = parse(["--quick"]);
  const names = ["ioredis@valkey", "iovalkey@valkey", "valkey-glide@valkey", "none"];
  expect(targets.clients).toEqual(names);
  expect(load.duration).toEqual({ mode: "fixed", seconds: 3 });
  expect(load.connections).toEqual([50]);
  expect(rounds).toMatchObject({ runs: 7, order: "turns" });
});

describe("the command that repeats a campaign", () => {
  test("holds the seed that was drawn, and gives the same request", () => {
    const argv = [
      "--clients",
      "ioredis@valkey:cluster none",
      "--output",
      "a b/it's",
      "--concurrency",
      "5",
    ];
    const request = parse(argv);
    expect(request.record.command).toBe(
      `./scripts/run-all.sh --clients 'ioredis@valkey:cluster none' --output 'a b/it'\\''s' --concurrency 5 --seed ${request.rounds.seed}`,
    );
    expect(parse([...argv, "--seed", String(request.rounds.seed)])).toEqual(request);
  });

  test("names the variables that it read", () => {
    const env = { RATE_LIMIT_POINTS: "7", VALKEY_SERVER: "/opt/a b/valkey-server", UNRELATED: "x" };
    expect(parse(["--clients", "all", "--seed", "1"], env).record.command).toBe(
      "RATE_LIMIT_POINTS=7 VALKEY_SERVER='/opt/a b/valkey-server' ./scripts/run-all.sh --clients all --seed 1",
    );
  });
});

test("--help prints what a campaign prints before it is installed, and gives no request", () => {
  const written: string[] = [];
  const out = vi
    .spyOn(process.stdout, "write")
    .mockImplementation((text) => written.push(String(text)) > 0);
  try {
    expect(parseCampaign(["--help"], {})).toBeUndefined();
  } finally {
    out.mockRestore();
  }
  expect(written.join("")).toBe(readFileSync(join(ROOT, "scripts/help/run.txt"), "utf8"));
});
