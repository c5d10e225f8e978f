import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { RelayMode } from "../../contract/relay.js";
import type { NodePlace } from "../../kit/env.js";

/** A chunk on its way, and when it is due. Without a chunk it is the end of the direction. */
type HeldChunk = { due_ms: number; chunk: Buffer | undefined };

/** One direction of a connection. Chunks keep their order, whatever the mode was when they came. */
class Direction {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #held: HeldChunk[] = [];
  #mode: RelayMode;
  #timer: NodeJS.Timeout | undefined;

  constructor(from: Socket, to: Socket, mode: RelayMode) {
    this.#from = from;
    this.#to = to;
    this.#mode = mode;
    from.on("data", (chunk: Buffer) => this.#carry(chunk));
    from.on("end", () => this.#carry(undefined));
    to.on("drain", () => {
      if (this.#mode.mode !== "hold") from.resume();
    });
    to.on("close", () => clearTimeout(this.#timer));
    this.setMode(mode);
  }

  /** Sets the mode. Chunks that were held back leave at once when they no longer should be. */
  setMode(mode: RelayMode): void {
    this.#mode = mode;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (mode.mode === "hold") {
      // The socket's own buffer fills, and then that of the sender. Nothing is lost, as in a network
      // where packets are sent again.
      this.#from.pause();
      return;
    }

    this.#from.resume();
    if (mode.mode === "pass") {
      for (const held of this.#held) held.due_ms = 0;
    }
    this.#send();
  }

  #carry(chunk: Buffer | undefined): void {
    if (this.#mode.mode === "pass" && this.#held.length === 0) {
      this.#write(chunk);
      return;
    }
    const delay_ms = this.#mode.mode === "delay" ? this.#mode.ms : 0;
    this.#held.push({ due_ms: performance.now() + delay_ms, chunk });
    if (this.#timer === undefined) this.#send();
  }

  /** Sends the chunks that are due, and comes back for the next one. */
  #send(): void {
    this.#timer = undefined;
    if (this.#mode.mode === "hold") return;
    let next = this.#held[0];
    while (next && next.due_ms <= performance.now()) {
      this.#held.shift();
      this.#write(next.chunk);
      next = this.#held[0];
    }
    if (next)
      this.#timer = setTimeout(() => this.#send(), Math.ceil(next.due_ms - performance.now()));
  }

  #write(chunk: Buffer | undefined): void {
    if (this.#to.destroyed) return;
    if (chunk === undefined) this.#to.end();
    else if (!this.#to.write(chunk)) this.#from.pause();
  }
}

/**
 * Starts a relay in front of a store node. It passes on everything, nothing, or everything later. A
 * delay makes each round trip so much longer.
 */
export async function startRelay(place: NodePlace, { host, port }: NodePlace) {
  const sockets = new Set<Socket>();
  const directions = new Set<{ direction: Direction; isReply: boolean }>();
  let mode: RelayMode = { mode: "pass" };
  const modeFor = (isReply: boolean): RelayMode =>
    mode.mode === "delay" && !isReply ? { mode: "pass" } : mode;
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const store = connect({ host, port, allowHalfOpen: true, noDelay: true });
    const both = [
      { direction: new Direction(client, store, modeFor(false)), isReply: false },
      { direction: new Direction(store, client, modeFor(true)), isReply: true },
    ];
    for (const direction of both) directions.add(direction);

    for (const [socket, other] of [
      [client, store],
      [store, client],
    ] as const) {
      sockets.add(socket);
      // The socket closes after an error, which is enough.
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        for (const direction of both) directions.delete(direction);
        other.destroy();
      });
    }
  });
  server.listen(place.port, place.host);
  await once(server, "listening");

  return {
    port: (server.address() as AddressInfo).port,
    setMode(newMode: RelayMode) {
      mode = newMode;
      for (const { direction, isReply } of directions) direction.setMode(modeFor(isReply));
    },
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
