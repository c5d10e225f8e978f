import pidusage from "pidusage";
import { ServerMonitor } from "../src/benchmark/measurement/monitor.js";
import { readUsage } from "../src/benchmark/measurement/server-readings.js";

/**
 * Monitors, or does nothing, for so many seconds: readings of the server once a second by the generator's monitor,
 * and of process counters by the runtime's means. Prints what that cost this process.
 */
const { URL: url = "", SECONDS: seconds = "5", PIDS: pids = "", MONITOR: on } = process.env;
await readUsage(url);
// What starting costs has nothing to do with monitoring.
await new Promise((resolve) => setTimeout(resolve, 1500));
const monitor = on === "1" ? new ServerMonitor(url) : undefined;
await monitor?.start();
const before = process.cpuUsage();
const watched = pids.split(",").map(Number);
const timer = on === "1" ? setInterval(() => void pidusage(watched), 1000) : undefined;
await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
clearInterval(timer);
await monitor?.stop();
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify({ cpu_us: user + system, samples: monitor?.samples.length ?? 0 }));
process.exit(0);
