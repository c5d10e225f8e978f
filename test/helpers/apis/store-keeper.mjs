import { spawn } from "node:child_process";
import { once } from "node:events";

/**
 * Keeps a store for commands that break and mend it: `kill -USR1` ends the store as a crash does,
 * `kill -USR2` starts it again. Its arguments are the store's program and that program's own. The
 * first line on standard output is the store's process id.
 */
const [program, ...parameters] = process.argv.slice(2);

const start = () => spawn(program, parameters, { stdio: "ignore" });
let store = start();
process.stdout.write(`${store.pid}\n`);

const hasEnded = () => store.exitCode !== null || store.signalCode !== null;

process.on("SIGUSR1", () => store.kill("SIGKILL"));
process.on("SIGUSR2", async () => {
  if (!hasEnded()) await once(store, "exit");
  store = start();
});
// Signals alone keep no process alive.
setInterval(() => {}, 60_000);
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    store.kill("SIGKILL");
    process.exit(0);
  });
}
