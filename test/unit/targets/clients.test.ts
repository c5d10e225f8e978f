import { expect, test, vi } from "vitest";
import { clients } from "../../../src/targets/clients/index.js";
import { packageVersion } from "../../../src/targets/libraries.js";
import { limiters } from "../../../src/targets/limiters/index.js";
import { findStore, findTopology } from "../../../src/targets/resolve.js";

/** Loading any of them fails this file: listing clients and limiters must load no library. */
const refuse = vi.hoisted(() => (name: string) => () => {
  throw new Error(`${name} was loaded`);
});
vi.mock("ioredis", refuse("ioredis"));
vi.mock("iovalkey", refuse("iovalkey"));
vi.mock("@valkey/valkey-glide", refuse("@valkey/valkey-glide"));
vi.mock("redis", refuse("redis"));
vi.mock("memcached", refuse("memcached"));
vi.mock("rate-limiter-flexible", refuse("rate-limiter-flexible"));
vi.mock("@fastify/rate-limit", refuse("@fastify/rate-limit"));
vi.mock("fastify", refuse("fastify"));

test("each client is listed once, and everything that it refers to exists", () => {
  const ids = clients.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
  expect(ids).toEqual(
    expect.arrayContaining(["valkey-glide", "iovalkey", "ioredis", "node-redis", "none", "memory"]),
  );
  for (const client of clients) {
    client.stores.forEach(findStore);
    client.topologies.forEach(findTopology);
    expect(limiters.map(({ id }) => id)).toContain(client.limiter);
    expect(client.control).toBe(client.package === undefined);
  }
});

test("a package's version is the installed one, even if the package does not export its package.json", () => {
  for (const name of [
    "ioredis",
    "iovalkey",
    "@valkey/valkey-glide",
    "redis",
    "memcached",
    "rate-limiter-flexible",
    "@fastify/rate-limit",
    "fastify",
  ]) {
    expect(packageVersion(name)).toMatch(/^\d+\.\d+\.\d+/);
  }
  expect(() => packageVersion("no-such-package")).toThrow("no-such-package");
});

test("the controls open without a store", async () => {
  for (const client of clients.filter(({ control }) => control)) {
    const opened = await client.open({ store: client.stores[0], topology: "none", nodes: [] });
    expect(await opened.storeVersion()).toBeUndefined();
    expect(opened.settings).toEqual({});
    await opened.close();
  }
});
