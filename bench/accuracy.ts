import { interleaved, pairsFromArguments } from "./pairs.js";
import { MeasuredServer, runProgram, statistics } from "./processes.js";
import { needWrk, runWrk } from "./wrk.js";

/**
 * Compares our figures with those of wrk, an independent load generator, on servers that answer
 * after a fixed time: the closed loop, and the p50 of the open loop at half of that throughput.
 */
const DELAYS_MS = [2, 5, 20];
const CONNECTIONS = 10;
const SECONDS = 3;
const THROUGHPUT_TOLERANCE = 0.05;
/** Allowed difference of the p50: a share of it, plus milliseconds. */
const P50_TOLERANCE = { share: 0.1, ms: 0.1 };

interface Figures {
  requests: { average: number };
  latency: { p50: number | null };
}

const median = async (values: readonly number[]): Promise<number> =>
  (await statistics({ question: "median_interval", values })).median ?? Number.NaN;

/**
 * A server that answers every request leaves no percentile open. @throws Error for one that is not
 * identified
 */
function identified({ latency: { p50 } }: Figures): number {
  if (p50 === null) throw new Error("the p50 is not identified: some requests had no answer");
  return p50;
}

const verdict = (isMet: boolean): string => {
  if (!isMet) process.exitCode = 1;
  return isMet ? "met" : "missed";
};

async function compare(server: MeasuredServer, delay_ms: number, pairs: number): Promise<void> {
  const url = `${server.url}/light`;
  const generate = async (env: Record<string, string>) =>
    (await runProgram("dist/benchmark/index.js", {
      TARGET_URL: server.url,
      TRAFFIC: "fixed",
      DURATION: String(SECONDS),
      WARMUP: "1",
      PROGRESS: "json",
      ...env,
    })) as Figures;
  const p50 = { ours: [] as number[], wrk: [] as number[], open: [] as number[] };
  const ours = async () => {
    const run = await generate({ CONNECTIONS: String(CONNECTIONS) });
    p50.ours.push(identified(run));
    const open = await generate({ RATE: String(Math.round(run.requests.average / 2)) });
    p50.open.push(identified(open));
    return run.requests.average;
  };
  const theirs = async () => {
    const run = await runWrk(url, CONNECTIONS, SECONDS);
    p50.wrk.push(run.p50Ms);
    return run.requestsPerSecond;
  };
  const throughput = await interleaved(pairs, ours, theirs);
  const [rate, wrkRate] = [await median(throughput.a), await median(throughput.b)];
  const ratio = rate / wrkRate;
  const rates = `${rate.toFixed(1)}/s, wrk ${wrkRate.toFixed(1)}/s, ratio ${ratio.toFixed(3)}`;
  const isNear = Math.abs(ratio - 1) <= THROUGHPUT_TOLERANCE;
  process.stdout.write(
    `${delay_ms} ms: throughput ${rates}; target 1 ± 0.05: ${verdict(isNear)}\n`,
  );
  const reference = await median(p50.wrk);
  for (const [name, values] of [
    ["closed loop", p50.ours],
    ["open loop at half the rate", p50.open],
  ] as const) {
    const value = await median(values);
    const admitted = P50_TOLERANCE.share * reference + P50_TOLERANCE.ms;
    const text = `${value.toFixed(3)} ms, wrk ${reference.toFixed(3)} ms, ratio ${(value / reference).toFixed(3)}`;
    const isMet = Math.abs(value - reference) <= admitted;
    process.stdout.write(`  p50 of the ${name} ${text}; target 10 % + 0.1 ms: ${verdict(isMet)}\n`);
  }
}

await needWrk();
const pairs = pairsFromArguments(6);
for (const delay_ms of DELAYS_MS) {
  const env = { DELAY_MS: String(delay_ms) };
  const server = await MeasuredServer.start("bench/fixed-server.mjs", env, "/light");
  try {
    await compare(server, delay_ms, pairs);
  } finally {
    await server.stop();
  }
}
