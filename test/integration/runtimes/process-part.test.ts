import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { LocalPart, spawnProgram } from "../../../src/runtimes/local/process-part.js";

/** Whether the process has ended, and waits only for its parent to notice. */
const hasEnded = (pid: number): boolean =>
  /^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

test("a process that has ended before anyone could listen has ended, with its code", async () => {
  const spawn = () => {
    const child = spawnProgram("sh", ["-c", "exit 7"], tmpdir(), { PATH: "/bin" }, "ignore");
    // Nothing else runs meanwhile, so that the next turn of the event loop tells its end.
    while (!hasEnded(child.pid ?? 0));
    return child;
  };
  const part = await LocalPart.begin(
    { role: "server-1", program: "app", hasProcessTree: true } as Parameters<
      typeof LocalPart.begin
    >[0],
    { host: "127.0.0.1", port: 1, ports: {}, folder: "/no/such/folder" } as Parameters<
      typeof LocalPart.begin
    >[1],
    { spawn, path: "sh", isAnswered: async () => false },
  );
  expect(await part.exited).toEqual({ code: 7, signal: null });
  await part.stop();
});
