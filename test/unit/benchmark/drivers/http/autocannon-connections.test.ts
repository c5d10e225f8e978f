import { once } from "node:events";
import net, { type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { AutocannonConnections } from "../../../../../src/benchmark/drivers/http/autocannon-connections.js";
import { ResponseRecorder } from "../../../../../src/benchmark/measurement/recorder.js";

/** As many connections to a server that never answers, for `work`. */
async function withConnections(
  count: number,
  work: (connections: AutocannonConnections, open: ReadonlySet<Socket>) => Promise<void>,
): Promise<void> {
  const openSockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    openSockets.add(socket);
    socket
      .on("close", () => openSockets.delete(socket))
      .on("error", () => {})
      .resume();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const requestBuffer = Buffer.from("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const source = { next: () => ({ requestBuffer }), sent: () => {}, undecided: () => {} };
  const connections = new AutocannonConnections(Array(count).fill({ url, source }) as never, 10);
  try {
    await connections.connected();
    await work(connections, openSockets);
  } finally {
    for (const socket of openSockets) socket.destroy();
    await connections.stop();
    server.close();
  }
}

test("a connection that ends and then fails, as under a killed server, is opened once again, and no request has two ends", async () => {
  const connect = vi.spyOn(net, "connect");
  try {
    await withConnections(1, async (connections, open) => {
      const recorder = new ResponseRecorder(String);
      recorder.open(0);
      connections.openGate(recorder, Number.POSITIVE_INFINITY);
      const lost = connect.mock.results.at(-1)?.value as Socket;
      lost.emit("end");
      lost.emit("error", new Error("reset"));
      await sleep(200);
      expect(open.size).toBe(1);
      expect(connections.reopened).toEqual({ all: 1, without_cause: 0 });
      const sent = connections.shutGate();
      expect(recorder.counts(sent)).toMatchObject({ sent: 2, connection_errors: 1, followed: 1 });
    });
  } finally {
    connect.mockRestore();
  }
});

test("connections begin one after another over the spread, each once, and none once the gate is shut", async () => {
  await withConnections(5, async (connections) => {
    connections.openGate(new ResponseRecorder(String), Number.POSITIVE_INFINITY, 100);
    await sleep(300);
    expect(connections.shutGate()).toBe(5);
  });
  await withConnections(5, async (connections) => {
    connections.openGate(new ResponseRecorder(String), Number.POSITIVE_INFINITY, 60_000);
    await sleep(50);
    expect(connections.shutGate()).toBe(1);
  });
});
