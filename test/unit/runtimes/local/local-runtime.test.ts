import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { local } from "../../../../src/runtimes/local/local-runtime.js";
import * as ports from "../../../../src/runtimes/local/ports.js";
import type {
  Part,
  ProgramSource,
  RuntimeOptions,
} from "../../../../src/runtimes/runtime-types.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { ROOT } from "../../../helpers/programs.js";

const newFolder = temporaryFolders();

const optionsOf = (programs: readonly ProgramSource[]): RuntimeOptions => ({
  packageFolder: ROOT,
  workFolder: newFolder(),
  programs,
  owner: { pid: process.pid, started: "1" },
  campaign: "c",
  signal: new AbortController().signal,
  hold: async () => {},
  onSetupStep: () => {},
});

/** A part that does its script and ends. */
const partOf = (program: string, script: string): Part => ({
  role: `${program}-1`,
  program,
  arguments: () => ["-e", script],
  environment: () => ({}),
  workingFolder: "own",
  endsByItself: true,
});

test("a program is found by its id, at the path that the user gave; others are not looked for", async () => {
  const path = join(newFolder(), "mine");
  writeFileSync(path, "#!/bin/sh\necho 'mine 1.2.3'\n");
  chmodSync(path, 0o755);
  vi.stubEnv("PATH", "");
  const runtime = await local.open(optionsOf([{ id: "mystore", command: "my-server", path }]));
  vi.unstubAllEnvs();
  expect(runtime.program("mystore")).toEqual({ path, version: "1.2.3", embedded: false });
  expect(runtime.program("valkey")).toBe("this campaign does not use valkey");
});

test.each(["server", "loadtest"])(
  "the project's own program %s runs in this Node.js",
  async (program) => {
    const runtime = await local.open(optionsOf([]));
    const part = await runtime.start(
      partOf(program, "console.log(process.execPath)"),
      async () => {},
    );
    expect((await part.output()).trim()).toBe(process.execPath);
    await part.stop();
  },
);

test("lines can be written to a part that takes input, and to no other", async () => {
  const runtime = await local.open(optionsOf([]));
  const once = `process.stdin.once("data", (text) => { process.stdout.write("got " + text); process.exit(0); })`;
  const part = await runtime.start({ ...partOf("server", once), takesInput: true }, async () => {});
  expect(part.ask).toBeUndefined();
  part.write?.("read");
  expect(await part.output()).toBe("got read\n");
  expect(() => part.write?.("after its end")).not.toThrow();
  await part.stop();

  const none = `process.stdin.once("data", () => {}).once("end", () => console.log("no input"))`;
  const other = await runtime.start(partOf("server", none), async () => {});
  expect(other.write).toBeUndefined();
  expect(await other.output()).toBe("no input\n");
  await other.stop();
});

test.each([1, 2])(
  "a port that was taken since it was chosen is chosen anew once: %d taken",
  async (count) => {
    const takers = await Promise.all(
      Array.from({ length: count }, async () => {
        const taker = createServer((socket) => socket.destroy());
        await once(taker.listen(0, "127.0.0.1"), "listening");
        return taker;
      }),
    );
    onTestFinished(() => takers.forEach((taker) => void taker.close()));
    // Of each start the first choice is the port, the second one beside it.
    const taken = takers.map((taker) => (taker.address() as AddressInfo).port);
    const chosen = taken.flatMap((port) => [port, 0]);
    const { freePort } = ports;
    vi.spyOn(ports, "freePort").mockImplementation(async () => chosen.shift() || freePort());
    onTestFinished(() => void vi.restoreAllMocks());
    const runtime = await local.open(optionsOf([]));
    const answer = `require("http").createServer((_, response) => response.end("{}"))`;
    const service: Part = {
      ...partOf("server", ""),
      endsByItself: false,
      ready: { path: "/", accepts: () => true },
      arguments: ({ port }) => ["-e", `${answer}.listen(${port}, "127.0.0.1")`],
    };
    const starting = runtime.start(service, async () => {});
    if (count === 2) return expect(starting).rejects.toThrow(/ended with 1/);
    const part = await starting;
    expect(taken).not.toContain(part.address.port);
    await part.stop();
  },
);

test("a store whose port is taken ends, and gets another one", async () => {
  const path = join(newFolder(), "store");
  // As a store does: it ends soon where its port is taken, and else stays.
  writeFileSync(
    path,
    '#!/bin/sh\n[ "$1" = --version ] && exec echo 1.0.0\n[ "$1" = 1 ] && sleep 0.05 && echo "Address already in use" >&2 && exit 1\nexec sleep 600\n',
  );
  chmodSync(path, 0o755);
  const chosen = [1];
  const { freePort } = ports;
  vi.spyOn(ports, "freePort").mockImplementation(async () => chosen.shift() ?? freePort());
  onTestFinished(() => void vi.restoreAllMocks());
  const runtime = await local.open(optionsOf([{ id: "mystore", command: "store", path }]));
  const store: Part = {
    ...partOf("mystore", ""),
    kind: "store",
    endsByItself: false,
    arguments: ({ port }) => [`${port}`],
  };
  const part = await runtime.start(store, async () => {});
  expect(part.address.port).not.toBe(1);
  await part.stop();
});
