import { setTimeout as sleep } from "node:timers/promises";
import pidusage from "pidusage";
import { ServerMonitor } from "../src/benchmark/measurement/monitor.js";
import { readUsage } from "../src/benchmark/measurement/server-readings.js";

/**
 * Monitors a server for some seconds, or does nothing: once a second it takes a reading of the server, as the generator
 * does, and of process counters, as the runtime does. Prints the CPU time of this process.
 */
const { URL: url = "", SECONDS: seconds = "5", PIDS: pids = "", MONITOR: on } = process.env;
await readUsage(url);
// The start is not part of the cost of monitoring.
await sleep(1500);
const monitor = on === "1" ? new ServerMonitor([url]) : undefined;
await monitor?.start();
const before = process.cpuUsage();
const watched = pids.split(",").map(Number);
const timer = on === "1" ? setInterval(() => void pidusage(watched), 1000) : undefined;
await sleep(Number(seconds) * 1000);
clearInterval(timer);
await monitor?.stop();
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify({ cpu_us: user + system, samples: monitor?.samples.length ?? 0 }));
process.exit(0);
