import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

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
/** How long bytes are counted where enough of them arrive. */
const COUNTED_MS = 500;
/**
 * How long they are counted otherwise. A narrow link loses packets, and what waited for a lost one
 * arrives as a lump of up to some hundred kB, which must be small beside what is counted.
 */
const COUNTED_NARROW_MS = 2_000;
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
    let first_ms: number | undefined;
    let from_ms: number | undefined;
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      const now = performance.now();
      first_ms ??= now;
      if (from_ms === undefined) {
        if (now - first_ms >= STARTS_MS) from_ms = now;
        return;
      }
      bytes += chunk.length;
      const counted_ms = bytes < ENOUGH_BYTES ? COUNTED_NARROW_MS : COUNTED_MS;
      if (now - from_ms < counted_ms) return;
      socket.off("data", onData).off("close", onClose);
      resolve((8 * bytes) / ((now - from_ms) / 1000));
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
