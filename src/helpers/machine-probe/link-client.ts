import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { LinkQuestion, LinkReading } from "../../contract/machine-probe.js";
import { messageOf } from "../../kit/errors.js";
import { rounded, sum } from "../../kit/numbers.js";
import { arrivingBitsPerSecond, ECHO, flood, MESSAGE_BYTES, SINK, SOURCE } from "./link-server.js";

/** Files of this process's control group in a container, of version 2 and of version 1. */
const CPU_STATS = ["/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"];

/**
 * In how many periods a CPU cap has held this process back. It is 0 without a cap, and where the
 * system does not report it.
 */
function throttledPeriods(): number {
  for (const path of CPU_STATS) {
    try {
      const periods = /^nr_throttled (\d+)$/m.exec(readFileSync(path, "utf8"))?.[1];
      if (periods !== undefined) return Number(periods);
    } catch {
      // The file of the other version is read where this one is absent.
    }
  }
  return 0;
}

/**
 * The first round trips do not count, because they compile code and open the connection's window.
 */
const UNCOUNTED = 200;
const COUNTED = 500;
/** A slow link makes fewer round trips, because they end after this time. */
const ROUND_TRIPS_MS = 2_000;
/** Several connections are used, because one alone may be held back by its window. */
const CONNECTIONS = 4;
const TIMEOUT_MS = 10_000;

/**
 * Measures the link to another machine probe.
 * @throws Error naming the place that gives no answer in time
 */
export async function measureLink(
  { host, port, bandwidth }: Omit<LinkQuestion, "ask">,
  readThrottled = throttledPeriods,
): Promise<LinkReading> {
  const sockets: Socket[] = [];
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const open = async (purpose: number): Promise<Socket> => {
    const socket = connect({ host, port, noDelay: true });
    sockets.push(socket);
    await once(socket, "connect", { signal });
    socket.on("error", () => {});
    socket.write(Buffer.of(purpose));
    return socket;
  };
  const openAll = (purpose: number) =>
    Promise.all(Array.from({ length: CONNECTIONS }, () => open(purpose)));
  const inTime = <Value>(work: Promise<Value>): Promise<Value> =>
    Promise.race([work, once(signal, "abort").then(() => Promise.reject(signal.reason))]);
  const closeAll = () => {
    for (const socket of sockets.splice(0)) socket.destroy();
  };

  try {
    const reading = { round_trips_us: await inTime(roundTripsOn(await open(ECHO))) };
    closeAll();
    if (!bandwidth) return reading;

    const throttled = readThrottled();
    const sent = await inTime(Promise.all((await openAll(SINK)).map(sentBitsPerSecond)));
    closeAll();
    const received = await inTime(Promise.all((await openAll(SOURCE)).map(arrivingBitsPerSecond)));
    // The rate of a program that a CPU cap held back says nothing about the link.
    if (readThrottled() > throttled) return reading;

    return {
      ...reading,
      sent_bits_per_second: Math.round(sum(sent)),
      received_bits_per_second: Math.round(sum(received)),
    };
  } catch (error) {
    const reason = signal.aborted
      ? `it gave no answer within ${TIMEOUT_MS / 1000} s`
      : messageOf(error);
    throw new Error(`the link to ${host}:${port} cannot be measured: ${reason}`, { cause: error });
  } finally {
    closeAll();
  }
}

/**
 * Sends messages one after the other, each when the last one has come back.
 * @returns the round trip of each in µs, without the first `UNCOUNTED` where the link is fast enough
 * @throws Error when the connection ends
 */
function roundTripsOn(socket: Socket): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const message = Buffer.alloc(MESSAGE_BYTES, 1);
    const round_trips_us: number[] = [];
    const began_ms = performance.now();
    let arrivedBytes = 0;
    let sent_ms = 0;
    let remaining = UNCOUNTED + COUNTED;
    const send = () => {
      sent_ms = performance.now();
      socket.write(message);
    };

    socket.once("close", () => reject(new Error("the connection ended")));
    socket.on("data", (chunk: Buffer) => {
      const answered_ms = performance.now();
      arrivedBytes += chunk.length;
      if (arrivedBytes < MESSAGE_BYTES) return;
      arrivedBytes = 0;

      const isCounted = remaining <= COUNTED || round_trips_us.length > 0;
      if (isCounted) round_trips_us.push(rounded(1000 * (answered_ms - sent_ms), 1));
      remaining--;

      const isLate = answered_ms - began_ms > ROUND_TRIPS_MS;
      if (remaining === 0 || (isLate && round_trips_us.length > 0)) {
        resolve(round_trips_us);
        return;
      }
      // On a slow link the first round trips count, too, because there would be none otherwise.
      if (isLate) remaining = COUNTED;
      send();
    });
    send();
  });
}

async function sentBitsPerSecond(socket: Socket): Promise<number> {
  const answered = new Promise<number>((resolve, reject) => {
    socket.once("data", (answer: Buffer) => resolve(answer.readDoubleLE(0)));
    socket.once("close", () => reject(new Error("the connection ended before its rate was known")));
  });
  flood(socket);
  return answered;
}
