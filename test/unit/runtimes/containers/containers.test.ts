import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { hostname } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { describe, expect, onTestFinished, test } from "vitest";
import type { PlacedKind } from "../../../../src/contract/machines.js";
import {
  checkEngine,
  EngineConnection,
  NoAnswer,
} from "../../../../src/runtimes/containers/container-engine.js";
import {
  appliedCaps,
  containerOptions,
  podCaps,
  refusedUlimit,
  ULIMITS,
} from "../../../../src/runtimes/containers/container-options.js";
import { hostOf } from "../../../../src/runtimes/containers/container-runtime.js";
import { countersOf } from "../../../../src/runtimes/containers/control-group.js";
import { ownerOf, ownerText } from "../../../../src/runtimes/containers/labels.js";
import { Addresses } from "../../../../src/runtimes/containers/networks.js";
import { partOf } from "../../../helpers/fake-runtime.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();
/** A busy machine answers within them, too. */
const LIMITS_MS = { read: 1_000, change: 1_200, watch: 20, lost: 1_500 };

/** A connection to a stand-in for an engine, which answers as told. */
async function connected(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  limits_ms = LIMITS_MS,
): Promise<EngineConnection> {
  const socketPath = join(newFolder(), "docker.sock");
  const server = createServer(answer).listen(socketPath);
  const connection = new EngineConnection(new Docker({ socketPath }), "Docker on far", limits_ms);
  onTestFinished(() => {
    connection.close();
    server.closeAllConnections();
    server.close();
  });
  return connection;
}

test("a read from an engine that hangs ends with the engine's name [R-engine-hangs-1]", async () => {
  const { docker } = await connected(() => {});
  await expect(docker.info()).rejects.toThrow(
    /^Docker on far does not answer: nothing within 1 s$/,
  );
  await expect(docker.getContainer("x").remove()).rejects.toBeInstanceOf(NoAnswer);
});

test("an engine that stops answering is lost: what waits for it fails, and it is used again once it answers", async () => {
  let hangs = false;
  // It waits for the end of a container, which has no time-out of its own.
  const connection = await connected((request, response) => {
    if (!hangs && !request.url?.includes("/wait")) response.end('"OK"');
  });
  connection.watch();
  const lost = new Promise<string>((resolve) => connection.onLost(resolve));
  const waiting = connection.docker.getContainer("x").wait();
  await connection.docker.info();
  hangs = true;
  await expect(waiting).rejects.toBeInstanceOf(NoAnswer);
  expect(await lost).toMatch(/^Docker on far does not answer/);
  hangs = false;
  await expect.poll(() => connection.docker.info().catch(() => "lost")).toBe("OK");
});

const host = (name: string, ...roles: PlacedKind[]) => ({ spec: { name, roles } });
const shared = host("d", "store", "generator");
const hosts = [host("a", "store"), host("b", "server"), host("c", "generator"), shared];
const nameOf = (part: Parameters<typeof hostOf>[0]) => hostOf(part, hosts).spec.name;

test.each([
  [{ role: "store-1", kind: "store", program: "valkey" }, "a"],
  [{ role: "store-2", kind: "store", program: "valkey" }, "d"],
  [{ role: "store-3", kind: "store", program: "valkey" }, "a"],
  [{ role: "service", kind: "service", program: "envoy-ratelimit" }, "a"],
  [{ role: "server-2", kind: "server", program: "server" }, "b"],
  [{ role: "probe", kind: "helper", program: "server" }, "b"],
  [{ role: "relay-1", kind: "helper", program: "server" }, "b"],
  [{ role: "generator-2", kind: "generator", program: "loadtest" }, "d"],
  [{ role: "probe", kind: "helper", program: "server", machine: "c" }, "c"],
] as const)("%o runs on %s", (part, name) => {
  expect(nameOf(part)).toBe(name);
});

test("a machine that is not there is refused by its name", () => {
  expect(() => nameOf({ role: "probe", program: "server", machine: "z" })).toThrow(
    /no machine z for probe/,
  );
});

test("every part has an address of its own, and those given back are the last to be used again", () => {
  const addresses = new Addresses("172.18.0.0/28");
  const all = Array.from({ length: 5 }, () => addresses.take());
  expect(all).toEqual(["172.18.0.10", "172.18.0.11", "172.18.0.12", "172.18.0.13", "172.18.0.14"]);
  expect(() => addresses.take()).toThrow("no address left");
  addresses.giveBack("172.18.0.12");
  expect(addresses.take()).toBe("172.18.0.12");
});

test.each([
  ["EACCES", /usermod -aG docker/],
  ["ENOENT", /^Docker is not installed or not running$/],
  ["ECONNREFUSED", /^Docker is not running$/],
  ["EPIPE", /^Docker does not answer: broken$/],
])(
  "the message for an engine that cannot be used has the fix [R-no-engine-2]: %s",
  async (code, expected) => {
    // As the system refuses; a test that runs as root can be refused nothing.
    const version = () => Promise.reject(Object.assign(new Error("broken"), { code }));
    expect(await checkEngine({ version } as never, "Docker")).toEqual({
      unavailableReason: expect.stringMatching(expected),
    });
  },
);

describe("the owner of a container", () => {
  test("is recognised on the same host", () => {
    expect(ownerOf(ownerText({ pid: 17, started: "123456" }))).toEqual({
      pid: 17,
      started: "123456",
    });
  });

  test.each([
    ["written on another host", `17:123456:not-${hostname()}`],
    ["not ours", "somebody"],
    ["empty", ""],
    ["absent", undefined],
  ])("is nobody when the label is %s", (_case, text) => {
    expect(ownerOf(text)).toBeUndefined();
  });
});

test("every container runs unprivileged, without capabilities, on a read-only root file system", () => {
  const caps = { cpus: 0.5, memory_bytes: 2 ** 31, cpuset: "0-1" };
  const options = containerOptions({
    part: { ...partOf("store-1"), caps },
    name: "n",
    image: "i",
    place: { network: "net", endpoint: {} },
    command: ["valkey-server", "--port", "6379"],
    environment: { A: "b c" },
    labels: {},
    ulimits: ULIMITS,
  });
  expect(options).toMatchObject({
    User: "1000:1000",
    Entrypoint: ["valkey-server"],
    Cmd: ["--port", "6379"],
    Env: ["A=b c"],
    HostConfig: {
      CapDrop: ["ALL"],
      ReadonlyRootfs: true,
      NanoCpus: 500_000_000,
      Memory: 2 ** 31,
      MemorySwap: 2 ** 31,
      CpusetCpus: "0-1",
      Ulimits: [
        { Name: "nofile", Soft: 65_535, Hard: 65_535 },
        { Name: "nproc", Soft: 65_535, Hard: 65_535 },
      ],
    },
  });
  expect(options.HostConfig?.PortBindings).toBeUndefined();
  expect(appliedCaps(options.HostConfig ?? {})).toEqual(caps);
});

test.each([[[]], [["node", "other.js"]]])(
  "a container that follows its image has the image's user and entry point, and these arguments: %j",
  (parameters) => {
    const options = containerOptions({
      part: {
        ...partOf("server-1"),
        workingFolder: { path: "/here" },
        followsImage: true,
        caps: { cpus: 1 },
      },
      name: "n",
      image: "i",
      place: { network: "net", endpoint: {} },
      command: ["app.one", ...parameters],
      environment: { PORT: "7000" },
      labels: {},
      ulimits: ULIMITS,
    });
    for (const member of ["User", "Entrypoint", "WorkingDir"])
      expect(options).not.toHaveProperty(member);
    expect(options.Cmd).toEqual(parameters.length > 0 ? parameters : undefined);
    expect(options.Env).toEqual(["PORT=7000"]);
    expect(options.Healthcheck).toEqual({ Test: ["NONE"] });
    expect(options.HostConfig).toMatchObject({
      NanoCpus: 1_000_000_000,
      SecurityOpt: ["no-new-privileges"],
    });
    expect(options.HostConfig?.ReadonlyRootfs).toBeUndefined();
  },
);

test.each([true, false])(
  "a container has an input only where its part takes one: %s",
  (takesInput) => {
    const options = containerOptions({
      part: { ...partOf("generator-1"), takesInput },
      name: "n",
      image: "i",
      place: { network: "net", endpoint: {} },
      command: ["node"],
      environment: {},
      labels: {},
      ulimits: ULIMITS,
    });
    expect([options.OpenStdin === true, options.AttachStdin === true]).toEqual([
      takesInput,
      takesInput,
    ]);
  },
);

test("a cap above the engine's number of cores is lowered to it", () => {
  expect(podCaps({ cpus: 8, cpuset: "0" }, 2)).toEqual({ cpus: 2, cpuset: "0" });
  expect(podCaps({ cpus: 1.5 }, 2)).toEqual({ cpus: 1.5 });
  expect(podCaps({}, 2)).toEqual({});
});

test.each([
  ["error setting rlimit type 7: operation not permitted", "nofile"],
  ["crun: setrlimit `RLIMIT_NPROC`: Operation not permitted", "nproc"],
  ["no such image", undefined],
])("%s is the refusal of %s", (message, limit) => {
  expect(refusedUlimit(message)).toBe(limit);
});

test("the engine's statistics are converted to our units", () => {
  const stats = {
    cpu_stats: {
      cpu_usage: { total_usage: 1_234_567_890 },
      throttling_data: { periods: 10, throttled_periods: 3, throttled_time: 5_000_000 },
    },
    memory_stats: { usage: 1000, stats: { inactive_file: 300 } },
    networks: { eth0: { rx_bytes: 5, tx_bytes: 6 }, eth1: { rx_bytes: 1, tx_bytes: 1 } },
  };
  expect(countersOf(stats as never)).toEqual({
    cpu_us: 1_234_568,
    resident_bytes: 700,
    throttling: { periods: 10, throttled_periods: 3, throttled_us: 5000 },
    network: { received_bytes: 6, sent_bytes: 7 },
  });
});
