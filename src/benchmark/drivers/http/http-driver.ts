import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { GeneratorRunSpec } from "../../../contract/generator-env.js";
import { findWorkload } from "../../../traffic/lookup.js";
import { packageVersion } from "../../generator-versions.js";
import type { Driver, Loopback } from "../driver.js";
import { httpChannels } from "./http-channel.js";
import { connectionsTo, type Endpoint } from "./requests.js";

const ANSWER = Buffer.from(
  [
    "HTTP/1.1 200 OK",
    "x-ratelimit-limit: 100",
    "x-ratelimit-remaining: 99",
    "content-type: application/json; charset=utf-8",
    "content-length: 2",
    "Date: Sat, 01 Jan 2000 00:00:00 GMT",
    "Connection: keep-alive",
    "Keep-Alive: timeout=72",
    "",
    "{}",
  ].join("\r\n"),
);

/**
 * Takes the server's place while the load loop is warmed up, and answers each request with the same
 * bytes.
 */
async function startLoopbackServer(): Promise<Loopback> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("data", () => socket.write(ANSWER));
    // A failing socket is closed by the load loop, which counts its request.
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);

  return {
    openChannels: (requests) => httpChannels(connectionsTo([{ url: address }], requests)),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const require = createRequire(import.meta.url);

function endpointsOf({ generator }: GeneratorRunSpec): Endpoint[] {
  const { servers, workload, request } = generator;
  if (request) return servers.map(({ url }) => ({ url: new URL(url), request }));
  return servers.map(({ url }) => ({ url: new URL(url + findWorkload(workload.id).path) }));
}

const codeText = (status: number): string => String(status).padStart(3, "0");

/** Sends HTTP/1.1 to one server or several. The closed loop uses autocannon. */
export const httpDriver: Driver = {
  id: "server",
  codeText,
  endpoint: (spec) =>
    endpointsOf(spec)
      .map(({ url }) => url.host)
      .join(", "),
  versions: () => ({ autocannon: packageVersion(require.resolve("autocannon/package.json")) }),
  async open(spec) {
    const endpoints = endpointsOf(spec);
    const { load, timeout_s } = spec.generator;
    const openedDriver = {
      openChannels: (requests) => httpChannels(connectionsTo(endpoints, requests)),
      startLoopback: startLoopbackServer,
      close: async () => undefined,
    } satisfies Awaited<ReturnType<Driver["open"]>>;
    if (load.model === "open") return openedDriver;
    const { AutocannonConnections } = await import("./autocannon-connections.js");

    return {
      ...openedDriver,
      closedConnections: (requests) =>
        new AutocannonConnections(connectionsTo(endpoints, requests), timeout_s),
    };
  },
};
