import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { GeneratorOutput } from "../src/contract/generator-output.js";
import { sum } from "../src/kit/numbers.js";
import { cpuBetween, readRunDelays } from "../src/runtimes/run-delay.js";
import { drawnCycles } from "../src/traffic/turn-order.js";
import {
  byTurns,
  type Env,
  ninetyPercent,
  printMean,
  printRatio,
  rateOf,
  withServers,
} from "./groups.js";
import { flagValue, long } from "./long-turns.js";
import { MeasuredServer, withStore } from "./processes.js";

/**
 * Whether turns are fair to each target (M16). Every part prints ratios with intervals of 95 % (t,
 * of log ratios of rounds):
 * - rates: servers whose delay fixes the rate, by turns and in a continuous window. Within 1 %.
 *   Delays vary by a fifth: with
 *   equal ones the connections of a continuous window stay in step, and wait for each other in every cycle.
 * - stalled: the ratio of two servers in a group with, and without, a third one whose requests
 *   hang. Contains 1.
 * - order: the rate of each target after each other one, ÷ its mean rate: a line for each of these
 *   pairs, e.g. `order: rate of none-2 after memory-1 ÷ its mean: 1.0012 (0.9978 to 1.0046), …`.
 *   Contains 1. `--json FILE` writes their intervals of 90 %, which `npm run accuracy -- --bench FILE`
 *   reads as the component `order` of throughput. That is more than a ratio can be shifted by, because
 *   no target always has the turn after the same one.
 * - after: CPU of server and store in the 50 ms after their turn, less what they use at rest.
 *   Contains 0.
 * - long: which lead-in and slice give the ratios of long turns, see `long-turns.ts`. It takes hours,
 *   so it is measured only where it is named. `--targets LIST`, `--candidates "5,100 50,100"` and
 *   `--rounds N` leave parts out; `--json FILE` writes the table, `--keep FOLDER` the campaigns.
 * `npm run bench:turns -- rates stalled order after --rounds 20`
 */
const rounds = Number(process.argv[process.argv.indexOf("--rounds") + 1]) || 20;
const parts = process.argv.slice(2).filter((word) => /^[a-z]+$/.test(word));
const isAsked = (part: string): boolean => parts.length === 0 || parts.includes(part);

async function continuous(url: string, env: Env): Promise<number> {
  const child = spawn(process.execPath, ["dist/benchmark/index.js"], {
    env: { PATH: process.env.PATH, NODE_ENV: "production", TARGET_URL: url, WARMUP: "1.5", ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  child.stdout.on("data", (bytes) => {
    text += bytes;
  });
  await once(child, "close");
  return rateOf(JSON.parse(text) as GeneratorOutput);
}

const stub = (behaviour: object) => async () => {
  const program = ["--import", "tsx", "test/helpers/stub-program.ts", JSON.stringify(behaviour)];
  const child = spawn(process.execPath, program, { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  const stop = async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { url: `http://127.0.0.1:${port}`, stop };
};
const fixed = (delay_ms: number) => () =>
  MeasuredServer.start(
    "bench/fixed-server.mjs",
    { DELAY_MS: String(delay_ms), VARIATION: "0.2" },
    "/",
  );
const server = (mode: string) => () =>
  MeasuredServer.start("dist/server/index.js", { MODE: mode }, "/healthz");

async function rates(): Promise<void> {
  for (const [delay_ms, connections] of [
    [10, 50],
    [80, 50],
    [80, 1000],
  ] as const) {
    const env = { CONNECTIONS: String(connections), DURATION: "4" };
    const logs: number[] = [];
    await withServers([fixed(delay_ms), fixed(delay_ms)], async (urls) => {
      for (let round = 0; round < Math.min(rounds, 6); round++) {
        const turns = await byTurns(urls, env, round);
        for (const [index, url] of urls.entries()) {
          const byTurn = turns[index];
          if (byTurn) logs.push(Math.log(rateOf(byTurn) / (await continuous(url, env))));
        }
      }
    });
    printRatio(`rates: ${delay_ms} ms, ${connections} connections, by turns ÷ continuous`, logs);
  }
}

async function stalled(): Promise<void> {
  const env = { CONNECTIONS: "50", DURATION: "3", TIMEOUT: "1" };
  const logs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const ratio = (others: readonly ReturnType<typeof stub>[]) =>
      withServers([stub({ delay_us: 20 }), stub({ delay_us: 20 }), ...others], async (urls) => {
        const [a, b] = await byTurns(urls, env, round);
        if (!a || !b) throw new Error("a target that answers failed");
        return Math.log(rateOf(a) / rateOf(b));
      });
    const withoutHanging = () => ratio([]);
    const withHanging = () => ratio([stub({ hang: 500 })]);
    // The sides take turns in being first.
    if (round % 2 === 0) {
      const without = await withoutHanging();
      logs.push((await withHanging()) - without);
    } else {
      const hanging = await withHanging();
      logs.push(hanging - (await withoutHanging()));
    }
  }
  printRatio("stalled: the others' ratio, with ÷ without a server that hangs", logs);
}

const meanOf = (values: readonly number[]): number => sum(values) / values.length;

/** Requests of each turn, by `target after the one that had the turn before`. */
function countsByPredecessor(
  results: Awaited<ReturnType<typeof byTurns>>,
  names: readonly string[],
  round: number,
): Map<string, number[]> {
  const lengths = results[0]?.turns;
  if (!lengths) throw new Error("a target has no turns");

  const seed = ~round >>> 0;
  const turns = [...drawnCycles([...names.keys()], { lengths, seconds: 5, seed })].flat();
  const binsPerTurn = lengths.slice_ms / 100;
  const turnsTaken = names.map(() => 0);
  const counts = new Map<string, number[]>();
  for (const [place, { target }] of turns.entries()) {
    const turn = turnsTaken[target] ?? 0;
    turnsTaken[target] = turn + 1;
    const predecessor = turns[place - 1]?.target;
    if (predecessor === undefined || predecessor === target) continue;

    const { allowed = [], limited = [] } = results[target]?.slices ?? {};
    const countIn = (bins: readonly number[]) =>
      sum(bins.slice(turn * binsPerTurn, (turn + 1) * binsPerTurn));
    const pair = `${names[target]} after ${names[predecessor]}`;
    counts.set(pair, [...(counts.get(pair) ?? []), countIn(allowed) + countIn(limited)]);
  }
  return counts;
}

async function order(): Promise<void> {
  const modes = ["memory", "none", "memory"];
  const names = [...modes.map((mode, index) => `${mode}-${index + 1}`), "stub"];
  const logs = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    const servers = [...modes.map(server), stub({})];
    await withServers(servers, async (urls) => {
      const results = await byTurns(urls, { CONNECTIONS: "50", DURATION: "5" }, round);
      const countsByPair = countsByPredecessor(results, names, round);
      for (const [pair, counts] of countsByPair) {
        const [name] = pair.split(" ");
        const countsOfTarget = [...countsByPair]
          .filter(([otherPair]) => otherPair.split(" ")[0] === name)
          .flatMap(([, otherCounts]) => otherCounts);
        const log = Math.log(meanOf(counts) / meanOf(countsOfTarget));
        logs.set(pair, [...(logs.get(pair) ?? []), log]);
      }
    });
  }
  const pairs = [...logs].sort();
  for (const [pair, values] of pairs) printRatio(`order: rate of ${pair} ÷ its mean`, values);
  await writeComponents(pairs);
}

/** Writes what the order shifts rates by, where `--json` names a file. */
async function writeComponents(pairs: readonly (readonly [string, number[]])[]): Promise<void> {
  const path = flagValue("--json");
  if (path === undefined) return;

  const components = pairs.map(([pair, logs]) => ({
    component: "order",
    layer: "server",
    figure: "throughput",
    pair,
    ...ninetyPercent(logs),
  }));
  await writeFile(path, `${JSON.stringify({ components }, null, 2)}\n`);
}

/**
 * In percent of a CPU, by role: what the target of the last turn uses, less the same role between
 * two other turns.
 */
async function after(): Promise<void> {
  const modes = ["ioredis", "iovalkey", "valkey-glide"];
  const after_ms = 50;
  const used = new Map<string, { last: number[]; others: number[] }>();
  for (let round = 0; round < rounds; round++) {
    const start = modes.map((mode) => () => withStore("dist/server/index.js", `${mode}@valkey`));
    await withServers(start, async (urls, servers) => {
      const roles = servers.flatMap(({ pid, store }, target) => [
        { name: `server of ${modes[target]}`, target, pid },
        { name: `store of ${modes[target]}`, target, pid: store.pid },
      ]);
      const readAll = () => Promise.all(roles.map(({ pid }) => readRunDelays([pid])));
      const moments: number[][] = [];
      const results = await byTurns(urls, { CONNECTIONS: "50", DURATION: "5" }, round, async () => {
        const before = await readAll();
        await sleep(after_ms);
        const now = await readAll();
        moments.push(
          before.map(
            (from, role) => cpuBetween(from ?? new Map(), now[role] ?? new Map()) / (10 * after_ms),
          ),
        );
      });
      const turns = results[0]?.turns;
      if (!turns) throw new Error("a target has no turns");
      const cycles = [
        ...drawnCycles([...urls.keys()], { lengths: turns, seconds: 5, seed: ~round >>> 0 }),
      ];
      const aSecond = Math.round(1000 / turns.slice_ms);
      // The first two moments and the last one are beyond the window: connected, drained, finished.
      for (const [index, shares] of moments.slice(2, -1).entries()) {
        const last = cycles[Math.min((index + 1) * aSecond, cycles.length) - 1]?.at(-1)?.target;
        for (const [role, { name, target }] of roles.entries()) {
          const sharesOfRole = used.get(name) ?? { last: [], others: [] };
          const list = target === last ? sharesOfRole.last : sharesOfRole.others;
          list.push(shares[role] ?? 0);
          used.set(name, sharesOfRole);
        }
      }
    });
  }
  for (const [name, { last, others }] of used) {
    const rest = sum(others) / others.length;
    printMean(
      `after: CPU of the ${name} in the ${after_ms} ms after its turn, less at rest (${rest.toFixed(2)})`,
      "% of a CPU",
      last.map((share) => share - rest),
    );
  }
}

for (const [name, part] of Object.entries({ rates, stalled, order, after }))
  if (isAsked(name)) await part();
if (parts.includes("long")) await long();
