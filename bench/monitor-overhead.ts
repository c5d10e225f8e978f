import { interleaved, pairsFromArguments, printDifference } from "./pairs.js";
import { MeasuredServer, runProgram } from "./processes.js";

/**
 * The CPU cost of monitoring, in percent of one core: the additional CPU time of an idle server and of the monitoring
 * process, measured alternately with and without monitoring.
 */
const SECONDS = 10;

const server = await MeasuredServer.start("dist/server/index.js", { MODE: "none" }, "/healthz");
try {
  const watch = (on: boolean) => async () => {
    const before = await server.cpuUs();
    const watcher = (await runProgram("bench/monitored-process.ts", {
      NODE_OPTIONS: "--import tsx",
      URL: server.url,
      PIDS: Array.from({ length: 8 }, () => process.pid).join(","),
      SECONDS: String(SECONDS),
      MONITOR: on ? "1" : "0",
    })) as { cpu_us: number };
    const server_us = (await server.cpuUs()) - before;
    return (watcher.cpu_us + server_us) / SECONDS / 10_000;
  };
  const figures = await interleaved(pairsFromArguments(15), watch(true), watch(false));
  await printDifference("monitoring, both sides of it", "% of one core", figures, 1);
} finally {
  await server.stop();
}
