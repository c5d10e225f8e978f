import { TURN_BEGINS, type TurnPhase } from "../src/contract/progress.js";
import { mean } from "../src/kit/numbers.js";
import { cpuBetween, type RunDelays, readRunDelays } from "../src/runtimes/run-delay.js";
import { flagValue } from "./flag-value.js";
import { byRates, type Env, printDifference, withServers } from "./groups.js";
import { MeasuredServer } from "./processes.js";

/**
 * Whether a load curve shows the CPU time that two servers differ by (M15, M35). Each round has
 * fresh processes, which have one turn at each rate. CPU time is read by thread, in nanoseconds,
 * when the turn begins and has ended. Every part prints the difference at each rate with its interval
 * of 95 % (t), and whether it contains what the second server says that it burnt:
 * - requests: 20 µs of CPU for each request, 25 against 5;
 * - wakes: 50 µs for each wake-up of the event loop in which requests come, which at high rates
 *   several requests share, 55 against 5.
 * Half of the interval is printed as a share of the difference, and of what a request costs.
 * `npm run bench:curve -- requests wakes --rates 100,250,500,1000,2000 --rounds 20 --seconds 2` are
 * the defaults (half an hour). Where a wake-up serves several requests, less of the server's other
 * work falls on each of them, too.
 */
const rates = flagValue("--rates", "100,250,500,1000,2000").split(",").map(Number);
const rounds = Number(flagValue("--rounds", "20"));
const slice_ms = 1000 * Number(flagValue("--seconds", "2"));
const parts = process.argv.slice(2).filter((word) => /^[a-z]+$/.test(word));

/** The variables of the cheap server and of the costly one. */
const costs: Readonly<Record<string, readonly [Env, Env]>> = {
  requests: [{ REQUEST_US: "5" }, { REQUEST_US: "25" }],
  wakes: [{ WAKE_US: "5" }, { WAKE_US: "55" }],
};

const start = (env: Env) => () => MeasuredServer.start("bench/costly-server.mjs", env, "/");

/** What a server used in the turns of one run. */
interface Used {
  cpu_us: number;
  burnt_us: number;
}

interface Reading {
  delays: RunDelays;
  burnt_us: number;
}

/** Its answer costs CPU time, so it is asked before the turn begins and after its CPU was read. */
const burntUs = async (server: MeasuredServer): Promise<number> =>
  (await server.ask<{ burnt_us: number }>("burnt", "burnt_us")).burnt_us;

async function delaysOf(server: MeasuredServer): Promise<RunDelays> {
  const delays = await readRunDelays([server.pid]);
  if (!delays) throw new Error("this system does not report the CPU time of threads");
  return delays;
}

/** One round of two servers. @returns the microseconds a request of each run */
async function round(
  servers: readonly MeasuredServer[],
  urls: readonly string[],
  seed: number,
): Promise<Used[]> {
  const before = new Map<number, Reading>();
  const used: Used[] = [];
  const onTurn = async (phase: TurnPhase, run: number): Promise<void> => {
    const server = servers[Math.floor(run / rates.length)];
    if (!server) throw new Error(`there is no server of run ${run}`);
    if (phase === TURN_BEGINS) {
      const burnt_us = await burntUs(server);
      before.set(run, { burnt_us, delays: await delaysOf(server) });
      return;
    }
    const delays = await delaysOf(server);
    const from = before.get(run);
    if (!from) throw new Error(`the turn of run ${run} did not begin`);
    const burnt_us = (await burntUs(server)) - from.burnt_us;
    used[run] = { cpu_us: cpuBetween(from.delays, delays), burnt_us };
  };
  const outputs = await byRates(urls, rates, { seed, slice_ms }, onTurn);
  return outputs.map((output, run) => {
    const ofRun = used[run];
    if (!output || !ofRun) throw new Error(`run ${run} failed`);
    const requests = output.counts.sent + output.warmup.lead_in.requests;
    return { cpu_us: ofRun.cpu_us / requests, burnt_us: ofRun.burnt_us / requests };
  });
}

async function part(name: string, [cheapCost, costlyCost]: readonly [Env, Env]): Promise<void> {
  const differences = rates.map((): (Used & { cheap_us: number })[] => []);
  for (let seed = 0; seed < rounds; seed++) {
    const used = await withServers([start(cheapCost), start(costlyCost)], (urls, servers) =>
      round(servers, urls, seed),
    );
    for (const [index, ofRate] of differences.entries()) {
      const [cheap, costly] = [used[index], used[index + rates.length]];
      if (!cheap || !costly) throw new Error("a run is missing");
      ofRate.push({
        cpu_us: costly.cpu_us - cheap.cpu_us,
        burnt_us: costly.burnt_us - cheap.burnt_us,
        cheap_us: cheap.cpu_us,
      });
    }
  }
  for (const [index, ofRate] of differences.entries())
    printDifference(`${name}: CPU a request at ${rates[index]}/s, costly less cheap`, "µs", {
      values: ofRate.map(({ cpu_us }) => cpu_us),
      truth: mean(ofRate.map(({ burnt_us }) => burnt_us)),
      whole: mean(ofRate.map(({ cheap_us }) => cheap_us)),
    });
}

for (const [name, cost] of Object.entries(costs))
  if (parts.length === 0 || parts.includes(name)) await part(name, cost);
