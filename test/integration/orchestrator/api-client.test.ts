import { createServer, type RequestListener } from "node:http";
import { createServer as createServerOfHttp2 } from "node:http2";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { fateOf } from "../../../src/orchestrator/audit/api/api-answers.js";
import { ApiClient } from "../../../src/orchestrator/audit/api/api-client.js";
import type { RequestParts } from "../../../src/orchestrator/audit/api/key-carrier.js";
import { unfitText } from "../../../src/orchestrator/audit/api/preflight.js";
import { newStoreAuthority } from "../../../src/orchestrator/run/store/store-authority.js";

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const originOf = async (answer: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listening(createServer(answer))}`;

const newClient = (options: { ca?: string } = {}, signal = new AbortController().signal) => {
  const client = new ApiClient({
    ...options,
    ownHeaders: { "x-ratelimit-bench": "audit 1" },
    signal,
  });
  onTestFinished(() => client.close());
  return client;
};

const GET: RequestParts = { method: "GET", path: "/items", headers: {} };

/** What the command line would say about an answer. */
async function saidOf(client: ApiClient, origin: string) {
  const answer = await client.send(origin, GET);
  return unfitText({ ...answer, fate: fateOf(answer, 429) });
}

test("an answer that never ends, and one of 1 MB, count by their headers and are cut", async () => {
  const origin = await originOf((request, answer) => {
    answer.writeHead(200);
    if (request.url === "/items") answer.write("a stream that goes on");
    else answer.end("x".repeat(1_000_000));
  });
  const client = newClient();
  const streamed = await client.send(origin, GET);
  expect(streamed).toMatchObject({ status: 200, body: "a stream that goes on" });
  const large = await client.send(origin, { ...GET, path: "/large" });
  expect(large.status).toBe(200);
  expect(large.body.length).toBeGreaterThan(250_000);
  expect(large.body.length).toBeLessThan(1_000_000);
});

test("an answer of 100 kB is read, and its connection used again", async () => {
  const ports = new Set<number | undefined>();
  const origin = await originOf((request, answer) => {
    ports.add(request.socket.remotePort);
    answer.end("x".repeat(100_000));
  });
  const client = newClient();
  for (let sent = 0; sent < 3; sent++)
    expect((await client.send(origin, GET)).body.length).toBe(100_000);
  expect(ports.size).toBe(1);
});

test("a redirect goes nowhere, and the request says who asks, on the path as it is given", async () => {
  const seen: string[] = [];
  const elsewhere = await originOf((_, answer) => {
    seen.push("elsewhere");
    answer.end();
  });
  const origin = await originOf((request, answer) => {
    seen.push(`${request.url} ${request.headers["x-ratelimit-bench"]}`);
    answer.writeHead(302, { location: elsewhere }).end();
  });
  const answer = await newClient().send(origin, { ...GET, path: "//items/%2e/" });
  expect(answer.status).toBe(302);
  expect(seen).toEqual(["//items/%2e/ audit 1"]);
});

test("a connection that the API closed meanwhile is opened again", async () => {
  const origin = await originOf((request, answer) => {
    answer.end("done");
    setImmediate(() => request.socket.destroy());
  });
  const client = newClient();
  const connection = client.connect(origin);
  for (let sent = 0; sent < 3; sent++)
    expect((await client.send(origin, GET, connection)).status).toBe(200);
});

test("nobody, and HTTP/2 alone, are said in words", async () => {
  const client = newClient();
  const port = await listening(createServerOfHttp2());
  expect(await saidOf(client, `http://127.0.0.1:${port}`)).toContain("HTTP/2");
  expect(await saidOf(client, "http://127.0.0.1:1")).toContain("nobody listens");
});

test("an authority of one's own is trusted with --ca alone", async () => {
  const authority = await newStoreAuthority();
  const cert = await authority.certificateFor(["127.0.0.1"]);
  const server = createSecureServer({ cert, key: authority.key }, (_, answer) => answer.end("ok"));
  const origin = `https://127.0.0.1:${await listening(server)}`;
  expect(await saidOf(newClient(), origin)).toContain("--ca");
  expect(await saidOf(newClient({ ca: authority.ca }), origin)).toBeUndefined();
});

test("a signal ends a request that is on its way at once", async () => {
  const origin = await originOf(() => {});
  const controller = new AbortController();
  const sent = newClient({}, controller.signal).send(origin, GET);
  setTimeout(() => controller.abort(), 20);
  expect((await sent).status).toBeNull();
});
