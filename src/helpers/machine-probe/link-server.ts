import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import {
  arrivingBitsPerSecond,
  ECHO,
  flood,
  MESSAGE_BYTES,
  MOMENT_BYTES,
  SINK,
  SOURCE,
} from "./link-protocol.js";
import type { WallClock } from "./wall-clock.js";

/** The end of a link that another machine probe measures against. */
export class LinkServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #newClock: () => Pick<WallClock, "now_ms">;

  private constructor(newClock: () => Pick<WallClock, "now_ms">) {
    this.#newClock = newClock;
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  /**
   * @param port 0: any that is free @param newClock for each connection: the clock may have been set since
   */
  static async start(
    host: string,
    port: number,
    newClock: () => Pick<WallClock, "now_ms">,
  ): Promise<LinkServer> {
    const server = new LinkServer(newClock);
    server.#server.listen(port, host);
    await once(server.#server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    // Its close follows.
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    socket.once("data", (first: Buffer) => {
      const [purpose] = first;
      const rest = first.subarray(1);
      if (purpose === ECHO) this.#echo(socket);
      else if (purpose === SINK) void answerRate(socket);
      else if (purpose === SOURCE) flood(socket);
      else socket.destroy();
      if (rest.length > 0) socket.emit("data", rest);
    });
  }

  #echo(socket: Socket): void {
    const clock = this.#newClock();
    const answer = Buffer.alloc(MESSAGE_BYTES);
    let arrived = 0;
    socket.on("data", (chunk: Buffer) => {
      const received_ms = clock.now_ms();
      arrived += chunk.length;
      if (arrived < MESSAGE_BYTES) return;
      arrived -= MESSAGE_BYTES;
      answer.writeDoubleLE(received_ms, 0);
      answer.writeDoubleLE(clock.now_ms(), MOMENT_BYTES);
      socket.write(answer);
    });
  }
}

async function answerRate(socket: Socket): Promise<void> {
  const rate = await arrivingBitsPerSecond(socket).catch(() => undefined);
  if (rate === undefined) return;
  // What comes on is read and forgotten, so that the answer is not stuck behind it.
  socket.resume();
  const answer = Buffer.alloc(MOMENT_BYTES);
  answer.writeDoubleLE(rate, 0);
  socket.write(answer);
}
