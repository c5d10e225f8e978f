import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { LinkQuestion, LinkReading } from "../../contract/machine-probe.js";
import type { ClockOffset } from "../../contract/machines.js";
import { messageOf } from "../../kit/errors.js";
import { rounded, sum } from "../../kit/numbers.js";
import {
  arrivingBitsPerSecond,
  ECHO,
  flood,
  MESSAGE_BYTES,
  MOMENT_BYTES,
  SINK,
  SOURCE,
} from "./link-server.js";
import { WALL_CLOCK_ERROR_US, type WallClock } from "./wall-clock.js";

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
 * The moments of an exchange in milliseconds. Our clock shows when it was sent and answered, and the
 * other clock when it was received and replied to.
 */
export type Exchange = {
  sent_ms: number;
  received_ms: number;
  replied_ms: number;
  answered_ms: number;
};

/**
 * The errors that add up: those of both clocks, twice that of a moment in milliseconds since 1970,
 * and that of the rounded figures.
 */
const RESOLUTION_US = 2 * WALL_CLOCK_ERROR_US + 0.6;

/** How long an exchange was under way, without the time between receiving and replying. */
const roundTripMs = ({ sent_ms, received_ms, replied_ms, answered_ms }: Exchange): number =>
  answered_ms - sent_ms - (replied_ms - received_ms);

/**
 * The offset of the other clock, as NTP computes it (RFC 5905, section 8). Half of the shortest
 * round trip bounds the error.
 * @param exchanges at least one
 */
export function clockOffsetOf(exchanges: readonly Exchange[]): ClockOffset {
  const [first, ...others] = exchanges;
  if (!first) throw new Error("there is no exchange");
  const best = others.reduce((a, b) => (roundTripMs(b) < roundTripMs(a) ? b : a), first);
  const { sent_ms, received_ms, replied_ms, answered_ms } = best;
  const offset_ms = (received_ms - sent_ms + (replied_ms - answered_ms)) / 2;
  return {
    offset_us: rounded(1000 * offset_ms, 1),
    bound_us: rounded(500 * Math.max(0, roundTripMs(best)) + RESOLUTION_US, 1),
  };
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
  clock: Pick<WallClock, "now_ms">,
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
    const exchanges = await inTime(exchangesOn(await open(ECHO), clock));
    closeAll();
    const round_trips_us = exchanges.map((exchange) =>
      rounded(1000 * Math.max(0, roundTripMs(exchange)), 1),
    );
    const reading = { round_trips_us, clock: clockOffsetOf(exchanges) };
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

/** Exchanges messages one after the other. @throws Error when the connection ends */
function exchangesOn(socket: Socket, clock: Pick<WallClock, "now_ms">): Promise<Exchange[]> {
  return new Promise((resolve, reject) => {
    const message = Buffer.alloc(MESSAGE_BYTES, 1);
    const exchanges: Exchange[] = [];
    const answer = Buffer.alloc(MESSAGE_BYTES);
    const began = performance.now();
    let arrived = 0;
    let sent_ms = 0;
    let remaining = UNCOUNTED + COUNTED;
    const send = () => {
      sent_ms = clock.now_ms();
      socket.write(message);
    };
    socket.once("close", () => reject(new Error("the connection ended")));
    socket.on("data", (chunk: Buffer) => {
      const answered_ms = clock.now_ms();
      chunk.copy(answer, arrived);
      arrived += chunk.length;
      if (arrived < MESSAGE_BYTES) return;
      arrived = 0;
      const [received_ms, replied_ms] = [answer.readDoubleLE(0), answer.readDoubleLE(MOMENT_BYTES)];
      if (remaining <= COUNTED || exchanges.length > 0)
        exchanges.push({ sent_ms, received_ms, replied_ms, answered_ms });
      remaining--;
      const isLate = performance.now() - began > ROUND_TRIPS_MS;
      if (remaining === 0 || (isLate && exchanges.length > 0)) {
        resolve(exchanges);
        return;
      }
      // On a slow link the first ones count, too, rather than none.
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
