import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { encodePlugins } from "../../../src/contract/plugins.js";
import { freePort } from "../../../src/runtimes/local/ports.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { TestServer } from "../../helpers/server.js";
import { TestStore, until } from "../../helpers/store.js";

const newFolder = temporaryFolders();

describe.concurrent("a server that cannot start says why in one line", () => {
  // What else is refused: test/unit/server/config.test.ts.
  test("a value that cannot be ends with 2", async () => {
    const end = await TestServer.spawn({ MODE: "a\nb; touch x" }).ended;
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toMatch(/^[^\n]*MODE[^\n]*\n$/);
  });

  test("an address that is taken ends with 3", async () => {
    const port = await freePort();
    const other: Server = createServer().listen(port, "127.0.0.1");
    try {
      const end = await TestServer.spawn({ MODE: "none", PORT: String(port) }).ended;
      expect(end).toMatchObject({ code: 3, stdout: "" });
      expect(end.stderr).toMatch(new RegExp(`^[^\\n]*${port}[^\\n]*\\n$`));
    } finally {
      other.close();
    }
  });
});

test("a library that throws when nobody waits for it ends it with 1, and the last line says what it threw, and where in the plugin", async () => {
  const folder = newFolder();
  const plugin = join(folder, "late.mjs");
  writeFileSync(
    plugin,
    `async function open() {
  setTimeout(() => Promise.reject(new Error("too late")), 200);
  return { settings: {}, storeVersion: async () => undefined, shardKeys: async () => [], close: async () => {} };
}
export const plugin = { clients: [{
  id: "late", open, stores: ["memory"], topologies: ["none"], control: false, limiter: "rate-limiter-flexible",
  survivesStoreRestart: true, survivesScriptFlush: true, flexible: { className: "RateLimiterMemory" },
  autoPipelining: () => "it has no connection",
}] };
`,
  );
  const end = await TestServer.spawn({ MODE: "late", ...encodePlugins([plugin]) }).ended;
  expect(end.code).toBe(1);
  expect(end.stderr.trimEnd().split("\n").at(-1)).toContain(`too late (${plugin}:2:35)`);
  expect(end.stderr).toMatch(/^ +at .*late\.mjs/m);
});

test("a store of another kind is refused with 3, naming both [R-other-store-1]", async () => {
  const store = await TestStore.start();
  try {
    const end = await TestServer.spawn({ MODE: "ioredis", REDIS_PORT: String(store.port) }).ended;
    expect(end).toMatchObject({ code: 3, stdout: "" });
    expect(end.stderr).toMatch(/^[^\n]*valkey [^\n]*redis[^\n]*\n$/);
  } finally {
    await store.stop();
  }
});

describe("a server that runs", () => {
  let server: TestServer | undefined;
  afterEach(() => server?.stop());

  test("says its address in one line of JSON, and nothing else, and ends with 0 on SIGTERM under load, idle connections open", async () => {
    server = await TestServer.start({ MODE: "memory" });
    const running = server;
    await running.statuses(20, () => "/light");
    // Connections that have just been refused are part of a server that stops: only the end counts.
    const load = Promise.allSettled(Array.from({ length: 50 }, () => running.request("/heavy")));
    const { code, stdout, stderr } = await running.stop("SIGTERM");
    expect(code).toBe(0);
    await load;
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(stdout)).toEqual({
      event: "listening",
      url: server.url,
      pid: server.process.pid,
    });
    expect(stderr).toBe("");
  });

  test("logs requests when asked, on standard error, and ends with 0 on SIGINT", async () => {
    server = await TestServer.start({ MODE: "none", LOG_LEVEL: "info" });
    await server.request("/light?userId=seen");
    const { code, stdout, stderr } = await server.stop("SIGINT");
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain("userId=seen");
  });
});

describe.concurrent("a store that is in trouble", () => {
  test("ends with 0 on SIGTERM also while the store hangs over an open request", async () => {
    const store = await TestStore.start();
    try {
      const running = await TestServer.start({
        MODE: "node-redis@valkey",
        VALKEY_PORT: String(store.port),
      });
      store.pause();
      const answer = running.request("/light").catch((error: Error) => error);
      await until(async () => (await running.usage()).in_flight === 1);
      expect(await running.stop()).toMatchObject({ code: 0, stderr: "" });
      await answer;
    } finally {
      await store.stop();
    }
  });

  test("ends with 3 and one line when nobody answers", async () => {
    const { code, stdout, stderr } = await TestServer.spawn({ MODE: "iovalkey", VALKEY_PORT: "1" })
      .ended;
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(/^[^\n]*127\.0\.0\.1:1\b[^\n]*\n$/);
  });
});
