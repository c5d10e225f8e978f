import { EventEmitter } from "node:events";
import { beforeEach, expect, test, vi } from "vitest";
import { describeClient, resolveTarget } from "../../../src/targets/resolve.js";
import type { StorePlace } from "../../../src/targets/target-types.js";
import { targetOf } from "../../helpers/target.js";

/** Options that each library got, and how its connections answer HELLO. */
const library = vi.hoisted(() => ({ made: [] as unknown[], hello: undefined as unknown }));

vi.mock("redis", () => {
  const create = (options: unknown) => {
    library.made.push(options);
    return Object.assign(new EventEmitter(), {
      masters: [{}],
      nodeClient: async () => ({ sendCommand: async () => library.hello }),
      connect: async () => undefined,
      sendCommand: async () => library.hello,
      close: async () => undefined,
      destroy: () => undefined,
    });
  };
  return { createClient: create, createCluster: create };
});

/** ioredis, whose fork has other names. */
const ioredis = vi.hoisted(() => async () => {
  const { EventEmitter: Emitter } = await import("node:events");
  class Connection extends Emitter {
    constructor(...given: unknown[]) {
      super();
      library.made.push(given.at(-1));
      setImmediate(() => this.emit("ready"));
    }
    sendCommand({ settle }: { settle(reply: unknown): void }) {
      settle(library.hello);
    }
  }
  class Command {
    static setReplyTransformer = () => undefined;
    settle: (reply: unknown) => void = () => undefined;
    promise = new Promise((resolve) => {
      this.settle = resolve;
    });
  }
  return { Redis: Connection, Cluster: Connection, Command };
});
vi.mock("ioredis", ioredis);
vi.mock("iovalkey", ioredis);

vi.mock("@valkey/valkey-glide", () => {
  const createClient = async (options: unknown) => {
    library.made.push(options);
    return { customCommand: async () => library.hello, close: () => undefined };
  };
  return {
    Logger: { init: () => undefined },
    ProtocolVersion: { RESP2: 0, RESP3: 1 },
    InfoOptions: { Server: "server" },
    Batch: class {},
    ClusterBatch: class {},
    Script: class {},
    GlideClient: { createClient },
    GlideClusterClient: { createClient },
  };
});

beforeEach(() => {
  library.made = [];
  library.hello = undefined;
});

const nodes = [{ host: "a", port: 1 }];
const access = { username: "me", password: "secret" };

/** What a library got from a target, and what the client reports. */
async function opened(text: string, more: Partial<StorePlace> = {}) {
  const target = targetOf(text);
  const { store, topology } = target;
  const { settings } = await describeClient(target).open({ store, topology, nodes, ...more });
  return { passed: library.made[0], settings };
}

/** Without these a cluster that announces names, or no host, cannot be reached. */
const names = { natMap: expect.any(Function), dnsLookup: expect.any(Function) };

test.each([
  ["ioredis+defaults", { host: "a", port: 1, ...access }],
  ["ioredis:cluster+defaults", { redisOptions: access, ...names }],
  ["iovalkey+defaults", { host: "a", port: 1, ...access }],
  ["iovalkey:cluster+defaults", { redisOptions: access, ...names }],
  ["node-redis+defaults", { ...access, socket: { host: "a", port: 1 } }],
  [
    "node-redis:cluster+defaults",
    {
      rootNodes: [{ socket: { host: "a", port: 1 } }],
      defaults: { ...access, socket: {} },
      nodeAddressMap: expect.any(Function),
    },
  ],
  [
    "valkey-glide+defaults",
    { addresses: nodes, credentials: access, useTLS: false, advancedConfiguration: {} },
  ],
  [
    "valkey-glide:cluster+defaults+same-script",
    { addresses: nodes, credentials: access, useTLS: false, advancedConfiguration: {} },
  ],
])("+defaults passes nothing but what is needed to connect %s", async (text, expected) => {
  expect((await opened(text, { access })).passed).toEqual(expected);
});

test.each([
  [
    "ioredis+tuned",
    { commandTimeout: 5_000, enableAutoPipelining: true, enableOfflineQueue: false },
  ],
  [
    "iovalkey+tuned",
    { commandTimeout: 5_000, enableAutoPipelining: true, enableOfflineQueue: false },
  ],
  ["valkey-glide+tuned", { requestTimeout: 5_000, inflightRequestsLimit: 100_000 }],
  ["node-redis+tuned", { commandOptions: { timeout: 0 }, disableOfflineQueue: true }],
])("+tuned passes one effective bound for a reply %s", async (text, expected) => {
  const { passed } = await opened(text);
  expect(passed).toMatchObject(expected);
  for (const name of ["protocol", "RESP", "socketTimeout", "connectTimeout"])
    expect(passed).not.toHaveProperty(name);
});

test.each([
  ["a map", new Map<string, unknown>([["proto", 3]])],
  ["an object", { proto: 3 }],
  ["a list of words and values", ["server", "redis", "proto", 3]],
  ["a list of pairs", [{ key: "proto", value: 3 }]],
])(
  "the report of the settings has the protocol that the store names as %s",
  async (_form, hello) => {
    library.hello = hello;
    for (const client of ["ioredis", "node-redis", "valkey-glide"])
      expect((await opened(`${client}+defaults`)).settings.protocol, client).toBe("RESP3");
  },
);

test.each([
  ["ioredis+defaults+tuned", "exclude each other"],
  ["ioredis+autopipelining+tuned", "+tuned decides about it"],
  ["memcached+defaults", "only has the settings that all clients share"],
  ["ioredis@throttlecrab+tuned", "only has the settings that all clients share"],
])("%s is skipped: %s", (text, reason) => {
  expect(resolveTarget(text)).toEqual({ skip: expect.stringContaining(reason) });
});
