import { once } from "node:events";
import http, { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { askDirectly } from "../../../src/kit/direct-http.js";
import { engineAt } from "../../../src/runtimes/containers/container-engine.js";
import { get } from "../../../src/targets/stores/deciding.js";

/**
 * Where Node.js keeps the dispatcher of `fetch`: NODE_USE_ENV_PROXY replaces it and the global
 * agent.
 */
const DISPATCHER = Symbol.for("undici.globalDispatcher.1");
const globals = globalThis as Record<symbol, unknown>;

let server: Server;
let proxied: number;
const before = { agent: http.globalAgent, dispatcher: globals[DISPATCHER] };

beforeEach(async () => {
  server = createServer((request, response) => {
    if (request.url === "/silent") return;
    if (request.url === "/elsewhere") response.writeHead(302, { location: "http://127.0.0.1:1/" });
    response.end(`${request.method} ${request.url}`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  proxied = 0;
  const toProxy = () => {
    proxied++;
    throw new Error("this request went to the proxy");
  };
  http.globalAgent = Object.assign(new http.Agent(), { addRequest: toProxy });
  globals[DISPATCHER] = { dispatch: toProxy };
});

afterEach(() => {
  http.globalAgent = before.agent;
  globals[DISPATCHER] = before.dispatcher;
  server.closeAllConnections();
  server.close();
});

const port = () => (server.address() as AddressInfo).port;
const urlOf = (path: string) => `http://127.0.0.1:${port()}${path}`;

test("no request to our own parts goes by the proxy of the environment [R-proxy-1]", async () => {
  const answer = await askDirectly(urlOf("/healthz"), { timeout_ms: 2_000 });
  expect(answer).toEqual({ status: 200, text: "GET /healthz" });
  const posted = await askDirectly(urlOf("/json"), { timeout_ms: 2_000, body: "{}" });
  expect(posted.text).toBe("POST /json");
  const node = { host: "127.0.0.1", port: port(), name: "store", ports: { http: port(), grpc: 0 } };
  expect(await get(node, "/metrics")).toBe("GET /metrics");
  const { docker } = await engineAt(
    { host: "127.0.0.1", port: port(), protocol: "http" },
    "Docker",
  );
  expect(String(await docker.ping())).toBe("GET /_ping");
  expect(proxied).toBe(0);
});

test("a redirect is not followed, and a server that is silent is given up", async () => {
  expect((await askDirectly(urlOf("/elsewhere"), { timeout_ms: 2_000 })).status).toBe(302);
  await expect(askDirectly(urlOf("/silent"), { timeout_ms: 30 })).rejects.toThrow(
    "no answer within 30 ms",
  );
});
