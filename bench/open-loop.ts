import { interleaved, pairsFromArguments, printRatio } from "./pairs.js";
import { MeasuredServer, runProgram, statistics } from "./processes.js";

/**
 * CPU per request of our open loop at 5000/s, compared with plain autocannon on the same server
 * with the same requests, and the lateness of the sends. The target is 60 µs where autocannon's
 * closed loop costs 40 µs. In a closed loop all processes are always busy; at a lower rate each
 * request wakes one. So the comparison includes autocannon at the same rate, although it sends a
 * second's requests in one burst.
 */
const RATE = 5000;
const SECONDS = 6;
const TARGET_RATIO = 60 / 40;
const CONNECTIONS = "50";
const CLOSED = { REQUESTS: "60000" };
const PACED = { RATE: String(RATE), REQUESTS: String(RATE * SECONDS) };

interface Figures {
  resources: { "generator-1": { cpu_us_per_request: number } };
  schedule: { lateness_ms?: { p50: number; p99: number } };
  verdict: { reasons: { rule: string; text: string }[] };
}

const server = await MeasuredServer.start("bench/bare-fastify.mjs", { BODY: "{}" }, "/light");
const lateness: { p50: number; p99: number }[] = [];
const paced: number[] = [];
let kept = 0;
try {
  const open = async () => {
    const env = {
      TRAFFIC: "fixed",
      RATE: String(RATE),
      DURATION: String(SECONDS),
      WARMUP: "2",
      PROGRESS: "json",
    };
    const run = (await runProgram("dist/benchmark/index.js", {
      TARGET_URL: server.url,
      ...env,
    })) as Figures;
    if (run.schedule.lateness_ms) lateness.push(run.schedule.lateness_ms);
    if (run.verdict.reasons.every(({ rule }) => rule !== "M5")) kept++;
    return run.resources["generator-1"].cpu_us_per_request;
  };
  const autocannon = async (how: Record<string, string>) => {
    const env = { URL: `${server.url}/light`, CONNECTIONS, ...how };
    const run = (await runProgram("bench/plain-autocannon.mjs", env)) as {
      cpu_us_per_request: number;
    };
    return run.cpu_us_per_request;
  };
  const closed = async () => {
    paced.push(await autocannon(PACED));
    return autocannon(CLOSED);
  };
  const figures = await interleaved(pairsFromArguments(15), open, closed);
  const what = `open loop at ${RATE}/s against autocannon in a closed loop`;
  await printRatio(what, "µs CPU a request", figures, TARGET_RATIO);
  const same = `open loop at ${RATE}/s against autocannon at ${RATE}/s`;
  await printRatio(same, "µs CPU a request", { a: figures.a, b: paced });
  const median = async (name: "p50" | "p99") => {
    const values = lateness.map((run) => run[name]);
    return (await statistics({ question: "median_interval", values })).median?.toFixed(3);
  };
  process.stdout.write(
    `  send lateness, medians of the runs: p50 ${await median("p50")} ms, p99 ${await median("p99")} ms; schedule kept in ${kept} of ${figures.a.length} runs\n`,
  );
} finally {
  await server.stop();
}
