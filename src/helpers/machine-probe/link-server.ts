import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { median } from "../../kit/numbers.js";

/** The purpose of a connection on which the other end answers each message. */
export const ECHO = 1;

/** The purpose of a connection on which the connecting end sends, and the other answers a rate. */
export const SINK = 2;

/** The purpose of a connection on which the connecting end counts what the other one sends. */
export const SOURCE = 3;

/** The length of a message whose round trip is measured. It comes back unchanged. */
export const MESSAGE_BYTES = 64;
/** The length of a rate, a double, with which a sink answers. */
const RATE_BYTES = 8;

const CHUNK = Buffer.alloc(256 * 1024, 1);
/** Bytes in this first time do not count, because a connection starts slowly. */
const STARTS_MS = 100;
/** The rate is the median of so long parts. */
const PART_MS = 250;
/** The parts that are counted where enough bytes arrive. */
const PARTS = 2;
/**
 * The parts that are counted otherwise. On a narrow link bytes arrive as lumps, after a lost packet
 * or where this process had no CPU, and a lump must not decide.
 */
const PARTS_NARROW = 9;
const ENOUGH_BYTES = 4_000_000;

/** Writes to a socket as much as it takes. */
export function flood(socket: Socket): void {
  const write = () => {
    while (!socket.destroyed && socket.write(CHUNK));
  };
  socket.on("drain", write);
  write();
}

/**
 * The bits per second that arrive on a socket, from a little after the first byte on.
 * @throws Error where the connection ends before
 */
export function arrivingBitsPerSecond(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    const rates: number[] = [];
    let first_ms: number | undefined;
    let part_began_ms: number | undefined;
    let part_bytes = 0;
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      const now = performance.now();
      first_ms ??= now;
      if (part_began_ms === undefined) {
        if (now - first_ms >= STARTS_MS) part_began_ms = now;
        return;
      }

      bytes += chunk.length;
      part_bytes += chunk.length;
      const part_ms = now - part_began_ms;
      if (part_ms < PART_MS) return;
      rates.push((8 * part_bytes) / (part_ms / 1000));
      part_began_ms = now;
      part_bytes = 0;
      if (rates.length < (bytes < ENOUGH_BYTES ? PARTS_NARROW : PARTS)) return;

      socket.off("data", onData).off("close", onClose);
      resolve(median(rates));
    };
    const onClose = () => reject(new Error("the connection ended before its rate was known"));
    socket.on("data", onData).once("close", onClose);
  });
}

/**
 * Starts the end of a link against which another machine probe measures.
 * @param port 0 means any free one
 */
export async function startLinkServer(host: string, port: number) {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    // The socket closes after an error, which is enough.
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.once("data", (first: Buffer) => {
      const [purpose] = first;
      const rest = first.subarray(1);
      if (purpose === ECHO) echo(socket);
      else if (purpose === SINK) void answerRate(socket);
      else if (purpose === SOURCE) flood(socket);
      else socket.destroy();
      if (rest.length > 0) socket.emit("data", rest);
    });
  });
  server.listen(port, host);
  await once(server, "listening");

  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function echo(socket: Socket): void {
  socket.on("data", (chunk: Buffer) => socket.write(chunk));
}

async function answerRate(socket: Socket): Promise<void> {
  const rate = await arrivingBitsPerSecond(socket).catch(() => undefined);
  if (rate === undefined) return;
  // What comes on is read and forgotten, so that the answer is not stuck behind it.
  socket.resume();
  const answer = Buffer.alloc(RATE_BYTES);
  answer.writeDoubleLE(rate, 0);
  socket.write(answer);
}
