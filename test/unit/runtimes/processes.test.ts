import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../../src/runtimes/local/ports.js";
import { removeSocketsOf, startTimeOf } from "../../../src/runtimes/processes.js";

test("ports are free, unique, and outside the range of outgoing connections", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBe(50);
  // Outgoing connections take theirs from there: such a port may be gone before it is used.
  expect(Math.max(...ports)).toBeLessThan(32_768);
  const server = createServer().listen(ports[0], "127.0.0.1");
  await once(server, "listening");
  server.close();
});

test("the start time distinguishes processes with the same id; a process that ended has none", async () => {
  const started = await startTimeOf(process.pid);
  expect(started).toMatch(/\S/);
  expect(await startTimeOf(process.pid)).toBe(started);
  const child = spawn("/bin/sh", ["-c", "sleep 60"], { stdio: "ignore" });
  const pid = child.pid ?? 0;
  expect(await startTimeOf(pid)).toMatch(/\S/);
  expect(await startTimeOf(pid)).not.toBe(started);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await startTimeOf(pid)).toBeUndefined();
});

test("the sockets that valkey-glide leaves are removed, those of other processes are not", async () => {
  // Beyond any process id, so that these belong to nobody.
  const [mine, longer] = [4_999_999, 49_999_999];
  const sockets = [`/tmp/glide-socket-${mine}-a.sock`, `/tmp/glide-socket-${longer}-a.sock`];
  onTestFinished(() => removeSocketsOf(longer));
  for (const path of sockets) writeFileSync(path, "");
  await removeSocketsOf(mine);
  expect(sockets.map(existsSync)).toEqual([false, true]);
});
