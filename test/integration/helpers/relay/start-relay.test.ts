import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { parseRelayLine, relayLine } from "../../../../src/contract/relay.js";
import { startRelay } from "../../../../src/helpers/relay/start-relay.js";

const HOST = "127.0.0.1";

/** A relay in front of a server that sends back what it gets. */
async function relayed(): Promise<{
  relay: Awaited<ReturnType<typeof startRelay>>;
  store: Client;
}> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  server.listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const relay = await startRelay({ host: HOST, port: 0 }, { host: HOST, port });
  onTestFinished(() => {
    relay.stop();
    server.close();
  });
  return { relay, store: new Client(port) };
}

/** What came back so far, and a way to wait for more. */
class Client {
  readonly socket: Socket;
  text = "";

  constructor(port: number) {
    this.socket = connect({ host: HOST, port, noDelay: true });
    this.socket.on("data", (chunk) => {
      this.text += chunk;
    });
    onTestFinished(() => void this.socket.destroy());
  }

  until(text: string): Promise<void> {
    return expect.poll(() => this.text, { interval: 1, timeout: 120_000 }).toBe(text);
  }

  /** Long enough for what is on its way elsewhere: many round trips, one after the other. */
  async roundTrips(): Promise<void> {
    for (let n = 0; n < 200; n++) {
      this.socket.write("x");
      await once(this.socket, "data");
    }
  }
}

test("a relay passes on everything in order, and the end of a connection", async () => {
  const { relay } = await relayed();
  const client = new Client(relay.port);
  const much = "0123456789".repeat(200_000);
  client.socket.end(much);
  await once(client.socket, "end");
  expect(client.text).toBe(much);
});

test("a delay makes each round trip so much longer, and its end keeps the order", async () => {
  const { relay, store } = await relayed();
  const client = new Client(relay.port);
  client.socket.write("a");
  await client.until("a");
  relay.setMode({ mode: "delay", ms: 200 });
  const began_ms = performance.now();
  client.socket.write("b");
  await client.until("ab");
  expect(performance.now() - began_ms).toBeGreaterThanOrEqual(199);
  relay.setMode({ mode: "delay", ms: 60_000 });
  client.socket.write("c");
  await store.roundTrips();
  expect(client.text).toBe("ab");
  relay.setMode({ mode: "pass" });
  client.socket.write("d");
  await client.until("abcd");
});

test("a relay that holds keeps connections, old and new ones, and loses nothing", async () => {
  const { relay, store } = await relayed();
  const old = new Client(relay.port);
  old.socket.write("a");
  await old.until("a");
  relay.setMode({ mode: "hold" });
  old.socket.write("b");
  const fresh = new Client(relay.port);
  await once(fresh.socket, "connect");
  fresh.socket.write("c");
  await store.roundTrips();
  expect([old.text, fresh.text]).toEqual(["a", ""]);
  relay.setMode({ mode: "pass" });
  await old.until("ab");
  await fresh.until("c");
});

test("a store that is gone closes the connections to it", async () => {
  const relay = await startRelay({ host: HOST, port: 0 }, { host: HOST, port: 1 });
  onTestFinished(() => relay.stop());
  const client = new Client(relay.port);
  client.socket.on("error", () => {});
  await once(client.socket, "close");
});

test("lines name a mode, or none", () => {
  for (const mode of [{ mode: "pass" }, { mode: "hold" }, { mode: "delay", ms: 20 }] as const)
    expect(parseRelayLine(relayLine(mode))).toEqual(mode);
  for (const line of ["", "delay", "delay 0", "delay 99999", "delay 1.5", "stop"])
    expect(parseRelayLine(line)).toBeUndefined();
});
