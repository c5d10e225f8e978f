import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { measureLink } from "../../../../src/helpers/machine-probe/link-client.js";
import { startLinkServer } from "../../../../src/helpers/machine-probe/link-server.js";
import { startRelay } from "../../../../src/helpers/relay/start-relay.js";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const host = "127.0.0.1";

async function serve(): Promise<number> {
  const server = await startLinkServer(host, 0);
  stops.push(() => server.stop());
  return server.port;
}

describe("the link to another machine probe", () => {
  test("has round trips and a rate for each direction", async () => {
    const port = await serve();
    const link = await measureLink({ host, port, bandwidth: true });
    expect(link.round_trips_us).toHaveLength(500);
    expect(link.sent_bits_per_second).toBeGreaterThan(1e6);
    expect(link.received_bits_per_second).toBeGreaterThan(1e6);
  });

  test("has no rate where a CPU cap held the program back", async () => {
    const port = await serve();
    let periods = 0;
    const link = await measureLink({ host, port, bandwidth: true }, () => periods++);
    expect(link.round_trips_us).toHaveLength(500);
    expect(link).not.toHaveProperty("sent_bits_per_second");
    expect(link).not.toHaveProperty("received_bits_per_second");
  });

  test("a delay is in the round trip", async () => {
    const port = await serve();
    const relay = await startRelay({ host, port: 0 }, { host, port });
    stops.push(() => relay.stop());
    relay.setMode({ mode: "delay", ms: 20 });
    const link = await measureLink({ host, port: relay.port, bandwidth: false });
    expect(Math.min(...link.round_trips_us)).toBeGreaterThanOrEqual(19_000);
    expect(link).not.toHaveProperty("sent_bits_per_second");
  });

  test("names a place that refuses or ends connections", async () => {
    const server: Server = createServer((socket) => socket.destroy());
    server.listen(0, host);
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    await expect(measureLink({ host, port, bandwidth: false })).rejects.toThrow(
      `the link to ${host}:${port} cannot be measured: the connection ended`,
    );
    server.close();
    await once(server, "close");
    await expect(measureLink({ host, port, bandwidth: false })).rejects.toThrow("ECONNREFUSED");
  });
});
