import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { median } from "../contract/numbers.js";
import {
  CHASE_STEPS,
  chase,
  chaseStart,
  INTEGER_ROUNDS,
  integerLoop,
  PIECES,
  ROUND_TRIPS,
  type ThreadReply,
  type ThreadTask,
} from "./host-speed-work.js";
import { threadTimeUs } from "./thread-clock.js";

/** One of the threads that measure the speed of the host. Each message asks for one measurement. */

const task = workerData as ThreadTask;
const memory = new Int32Array(task.memory);
const arrivals = new Int32Array(task.arrivals);
let measurements = 0;
let checksum = 0;

/** A loopback connection that gives no answer in this time is told as none. */
const PING_PONG_TIMEOUT_MS = 5_000;
const MESSAGE = Buffer.alloc(64, 1);

/** Waits until all threads are here: the work is done on all CPUs at once. */
function meet(): void {
  measurements++;
  const all = measurements * task.threads;
  if (Atomics.add(arrivals, 0, 1) + 1 === all) Atomics.notify(arrivals, 0);
  for (let seen = Atomics.load(arrivals, 0); seen < all; seen = Atomics.load(arrivals, 0))
    Atomics.wait(arrivals, 0, seen);
}

function timedUs(work: () => number): number {
  const times: number[] = [];
  for (let piece = 0; piece < PIECES; piece++) {
    const from = threadTimeUs();
    checksum = (checksum + work()) >>> 0;
    times.push(threadTimeUs() - from);
  }
  return median(times);
}

/** Microseconds of a round trip between two sockets of this thread; undefined where there is no loopback. */
async function pingPongUs(): Promise<number | undefined> {
  const server = createServer((socket) => {
    socket.setNoDelay(true).on("error", () => {});
    socket.on("data", (data) => socket.write(data));
  });
  const signal = AbortSignal.timeout(PING_PONG_TIMEOUT_MS);
  let socket: Socket | undefined;
  try {
    server.listen(0, "127.0.0.1");
    await once(server, "listening", { signal });
    const address = server.address();
    if (address === null || typeof address === "string") return undefined;
    socket = connect(address.port, address.address).setNoDelay(true);
    await once(socket, "connect", { signal });
    const times: number[] = [];
    for (let piece = 0; piece < PIECES; piece++) {
      const from = threadTimeUs();
      await roundTrips(socket, signal);
      times.push((threadTimeUs() - from) / ROUND_TRIPS);
    }
    return median(times);
  } catch {
    return undefined;
  } finally {
    socket?.destroy();
    server.close();
  }
}

async function roundTrips(socket: Socket, signal: AbortSignal): Promise<void> {
  let left = ROUND_TRIPS;
  let received = 0;
  const onData = (data: Buffer) => {
    received += data.length;
    if (received < MESSAGE.length) return;
    received = 0;
    left--;
    if (left > 0) socket.write(MESSAGE);
    else socket.emit("answered");
  };
  socket.on("data", onData);
  try {
    const answered = once(socket, "answered", { signal });
    socket.write(MESSAGE);
    await answered;
  } finally {
    socket.off("data", onData);
  }
}

async function measure(): Promise<ThreadReply> {
  meet();
  const start = chaseStart(memory, task.thread, task.threads);
  const integer_us = timedUs(() => integerLoop(INTEGER_ROUNDS));
  const chase_us = timedUs(() => chase(memory, start, CHASE_STEPS));
  const ping_pong_us = await pingPongUs();
  return { integer_us, chase_us, ...(ping_pong_us === undefined ? {} : { ping_pong_us }), checksum };
}

parentPort?.on("message", async () => parentPort?.postMessage(await measure()));
