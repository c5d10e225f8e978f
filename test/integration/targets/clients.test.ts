import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { TestStore } from "../../helpers/store.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Opens and closes a client in a process of its own, which then ends by itself only if nothing is left open. */
const SCRIPT = `
  import { findClient } from "./src/targets/resolve.ts";
  const [id, port] = process.argv.slice(1);
  const place = { store: "valkey", topology: "standalone", nodes: [{ host: "127.0.0.1", port: Number(port) }] };
  try {
    const client = await findClient(id).open(place);
    process.stdout.write((await client.storeVersion()) + "\\n");
    await client.close();
  } catch (error) {
    process.stdout.write("refused: " + error.message + "\\n");
  }
`;

function run(client: string, port: number): Promise<{ code: number | null; output: string }> {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", SCRIPT, client, String(port)],
    {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

/** Gives the test a store of its own, so that all can run at once: most of their time is waiting. */
async function withStore(use: (store: TestStore) => Promise<void>): Promise<void> {
  const store = await TestStore.start();
  try {
    await use(store);
  } finally {
    await store.stop();
  }
}

describe.concurrent.each(["valkey-glide", "iovalkey", "ioredis"])("%s", (client) => {
  test("leaves no handle behind when it is closed", () =>
    withStore(async (store) => {
      const { code, output } = await run(client, store.port);
      expect(output).toMatch(/^\d+\.\d+\.\d+\n$/);
      expect(code).toBe(0);
    }));

  test("leaves no handle and no unhandled error behind when nobody answers", async () => {
    const { code, output } = await run(client, 1);
    expect(output).toMatch(/^refused: [^\n]*refused[^\n]*\n$/i);
    expect(code).toBe(0);
  });

  test("gives up, with a message, on a store that accepts connections and never answers", () =>
    withStore(async (store) => {
      store.pause();
      const { code, output } = await run(client, store.port);
      expect(output).toMatch(/^refused: [^\n]+\n$/);
      expect(code).toBe(0);
    }));

  test("waits for a store that is still starting", () =>
    withStore(async (store) => {
      await store.kill();
      const opening = run(client, store.port);
      await store.run();
      expect((await opening).output).toMatch(/^\d+\.\d+\.\d+\n$/);
    }));
});
