import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { nodeRedis } from "../../../src/targets/clients/node-redis.js";

/** A client of the library that notes how it was made; each test says how it connects. */
class FakeClient extends EventEmitter {
  readonly masters = [];
  connect = vi.fn(async () => this as unknown);
  close = vi.fn(async () => undefined);
  destroy = vi.fn();
}

const made = vi.hoisted(() => ({ options: [] as unknown[], client: undefined as unknown }));
const create = vi.hoisted(() => (options: unknown) => {
  made.options.push(options);
  return made.client;
});
vi.mock("redis", () => ({ createClient: create, createCluster: create }));

const STANDALONE = { store: "redis", topology: "standalone", nodes: [{ host: "a", port: 1 }] };
const CLUSTER = {
  store: "redis",
  topology: "cluster",
  nodes: [
    { host: "a", port: 1 },
    { host: "b", port: 2 },
  ],
};

let client: FakeClient;
beforeEach(() => {
  client = new FakeClient();
  made.client = client;
  made.options = [];
});
afterEach(() => {
  vi.useRealTimers();
});

const connection = {
  RESP: 2,
  disableOfflineQueue: true,
  commandOptions: { timeout: 5_000 },
  pingInterval: 1_000,
  maintNotifications: "disabled",
};
const socket = {
  connectTimeout: 3_000,
  socketTimeout: 5_000,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
  family: 0,
};

test("a standalone client has every setting explicitly", async () => {
  const { settings } = await nodeRedis.open(STANDALONE);
  expect(made.options).toEqual([
    {
      ...connection,
      socket: { ...socket, reconnectStrategy: expect.any(Function), host: "a", port: 1 },
    },
  ]);
  expect(settings).toEqual({
    protocol: "RESP2",
    auto_pipelining: true,
    offline_queue: false,
    auto_resend_unfulfilled_commands: false,
    max_retries_per_request: null,
    request_timeout_ms: 5_000,
    connect_timeout_ms: 3_000,
    reconnect_delay_ms: 200,
    inflight_requests_limit: null,
    tcp_no_delay: true,
    tcp_keep_alive_ms: 30_000,
    ip_family: 0,
    read_from: "primary",
    socket_timeout_ms: 5_000,
    ping_interval_ms: 1_000,
  });
});

test("the connections of a cluster have the same settings, and a fixed delay between attempts", async () => {
  const { settings } = await nodeRedis.open(CLUSTER);
  expect(made.options).toEqual([
    {
      RESP: 2,
      rootNodes: [{ socket: { host: "a", port: 1 } }, { socket: { host: "b", port: 2 } }],
      defaults: { ...connection, socket: { ...socket, reconnectStrategy: expect.any(Function) } },
      useReplicas: false,
    },
  ]);
  const { defaults } = made.options[0] as {
    defaults: { socket: { reconnectStrategy(retries: number): number } };
  };
  expect([0, 1, 50].map(defaults.socket.reconnectStrategy)).toEqual([200, 200, 200]);
  expect(settings).toEqual((await nodeRedis.open(STANDALONE)).settings);
});

test("a client that does not connect by the deadline is destroyed, with the last reason", async () => {
  vi.useFakeTimers();
  client.connect.mockImplementation(() => new Promise(() => undefined));
  const opening = expect(nodeRedis.open(STANDALONE)).rejects.toThrow("refused twice");
  await vi.advanceTimersByTimeAsync(4_000);
  client.emit("error", new Error("refused once"));
  client.emit("error", new Error("refused twice"));
  expect(client.destroy).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1_000);
  await opening;
  expect(client.destroy).toHaveBeenCalledOnce();
});

test("a cluster whose seed nodes do not answer yet is tried again", async () => {
  vi.useFakeTimers();
  client.connect.mockRejectedValueOnce(new Error("no seed")).mockRejectedValueOnce(new Error("no seed"));
  const opening = nodeRedis.open(CLUSTER);
  await vi.advanceTimersByTimeAsync(400);
  await opening;
  expect(client.connect).toHaveBeenCalledTimes(3);
});

test("a client that connects after it was destroyed is destroyed again", async () => {
  vi.useFakeTimers();
  let alive: (client: unknown) => void = () => undefined;
  client.connect.mockImplementation(
    () =>
      new Promise((resolve) => {
        alive = resolve;
      }),
  );
  const opening = expect(nodeRedis.open(STANDALONE)).rejects.toThrow("no answer");
  await vi.advanceTimersByTimeAsync(5_000);
  await opening;
  alive(client);
  await vi.advanceTimersByTimeAsync(0);
  expect(client.destroy).toHaveBeenCalledTimes(2);
});

test("a store that is lost later causes no unhandled error", async () => {
  await nodeRedis.open(STANDALONE);
  expect(() => client.emit("error", new Error("lost"))).not.toThrow();
});

test("closing waits for replies, but destroys every connection to a store that hangs", async () => {
  vi.useFakeTimers();
  const nodes = [{ client: { destroy: vi.fn() } }, { client: undefined }, { client: { destroy: vi.fn() } }];
  Object.assign(client, { masters: nodes });
  const open = await nodeRedis.open(CLUSTER);
  let answered: (value: undefined) => void = () => undefined;
  client.close.mockImplementation(() => {
    // As the library does: it forgets its nodes as soon as it begins to close.
    Object.assign(client, { masters: [] });
    return new Promise((resolve) => {
      answered = resolve;
    });
  });
  const closing = open.close();
  await vi.advanceTimersByTimeAsync(1_000);
  for (const node of nodes) if (node.client) expect(node.client.destroy).toHaveBeenCalledOnce();
  answered(undefined);
  await closing;
});

test("closing a closed client is not an error", async () => {
  const open = await nodeRedis.open(STANDALONE);
  client.close.mockRejectedValue(new Error("The client is closed"));
  await open.close();
});
