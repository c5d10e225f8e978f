import type { Socket } from "node:net";

export const ECHO = 1;
/** The connecting end sends; the other one counts and answers with a rate. */
export const SINK = 2;
/** The connecting end counts what the other one sends. */
export const SOURCE = 3;

/** A message and its answer are this long. An answer begins with two moments of the other clock: received, replied. */
export const MESSAGE_BYTES = 64;
export const MOMENT_BYTES = 8;

const CHUNK = Buffer.alloc(256 * 1024, 1);
/** What comes first is not counted: a connection starts slowly. */
const STARTS_MS = 100;
const COUNTED_MS = 500;

/** Writes until the socket is closed. */
export function flood(socket: Socket): void {
  const write = () => {
    while (!socket.destroyed && socket.write(CHUNK));
  };
  socket.on("drain", write);
  write();
}

/** Bits a second that arrive on a socket, from a little after the first byte on. @throws Error when it ends before */
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
      if (now - from_ms < COUNTED_MS) return;
      socket.off("data", onData).off("close", onClose);
      resolve((8 * bytes) / ((now - from_ms) / 1000));
    };
    const onClose = () => reject(new Error("the connection ended before its rate was known"));
    socket.on("data", onData).once("close", onClose);
  });
}
