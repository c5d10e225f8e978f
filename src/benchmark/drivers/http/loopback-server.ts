import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Loopback } from "../driver.js";
import { httpChannels } from "./channel.js";
import { connectionsTo } from "./requests.js";

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

/** Takes the server's place while the load loop is warmed up: the same bytes for each request. */
export async function startLoopbackServer(): Promise<Loopback> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("data", () => socket.write(ANSWER));
    // The load loop destroys its connections.
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    openChannels: (requests) => httpChannels(connectionsTo([address], requests)),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
