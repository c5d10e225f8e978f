import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { seededRandom } from "./random.js";

/**
 * A foreign server as a process of its own. Its argument is a `StubBehaviour` as JSON. It answers
 * /count with the number of requests by outcome and of the connections that they came on, and
 * unknown paths with 404.
 */
export interface StubBehaviour {
  /** Microseconds until the answer, exactly, by a busy loop. */
  delay_us?: number;
  /**
   * Every n-th request gets 503 / is cut in the middle of its answer / gets no answer / gets 429 /
   * is answered `stalled_ms` later. By their number, not by chance: the shares are exact, and the
   * same in every run.
   */
  fail?: number;
  cut?: number;
  hang?: number;
  limit?: number;
  stall?: number;
  stalled_ms?: number;
  /** Every n-th answer ends its connection, and says so in its head. */
  close?: number;
  /** Milliseconds until the answer, by a timer, so that many requests can wait at once. */
  delay_ms?: number;
  /**
   * Each delay differs by up to this share of it, the same way in every run: connections do not
   * march in step.
   */
  jitter?: number;
  /**
   * From the first request on, `delay_ms` falls linearly from so many times its value to its value,
   * in `ramp_s`.
   */
  ramp_from?: number;
  ramp_s?: number;
  /** Once a second the server does nothing for this many milliseconds. */
  stall_ms?: number;
  /**
   * Number of requests that are served at once, each for `slot_ms`; 20 slots of 20 ms are 1000/s.
   */
  slots?: number;
  slot_ms?: number;
}

const behaviour = JSON.parse(process.argv[2] ?? "{}") as StubBehaviour;
const connections = new Set<unknown>();
const done = { asked: 0, answered: 0, failed: 0, cut: 0, hung: 0, limited: 0, stalled: 0 };
const BODY = JSON.stringify({ text: "x".repeat(100) });

/** @param turn which request it is, from 1 */
function answer(response: ServerResponse, turn: number): void {
  const isTurn = (every: number | undefined): boolean => every !== undefined && turn % every === 0;
  if (isTurn(behaviour.close)) response.setHeader("connection", "close");
  if (isTurn(behaviour.hang)) {
    done.hung++;
  } else if (isTurn(behaviour.cut)) {
    done.cut++;
    response.writeHead(200, { "content-length": BODY.length });
    response.write(BODY.slice(0, 10), () => response.destroy());
  } else if (isTurn(behaviour.fail)) {
    done.failed++;
    response.writeHead(503).end(BODY);
  } else if (isTurn(behaviour.limit)) {
    done.limited++;
    response.writeHead(429).end(BODY);
  } else if (isTurn(behaviour.stall)) {
    done.stalled++;
    setTimeout(admit, behaviour.stalled_ms ?? 0, response);
  } else {
    admit(response);
  }
}

function admit(response: ServerResponse): void {
  done.answered++;
  response.writeHead(200, { "content-type": "application/json" }).end(BODY);
}

function afterUs(delay: number, then: () => void): void {
  const due_ns = process.hrtime.bigint() + BigInt(Math.round(delay * 1000));
  const look = () => (process.hrtime.bigint() >= due_ns ? then() : setImmediate(look));
  look();
}

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/**
 * When each slot is free. The line is kept by arithmetic, so that late timers do not lower the
 * capacity.
 */
const freeAt = Array.from({ length: behaviour.slots ?? 0 }, () => 0);

/** Milliseconds until the request that came just now is served. */
function waitInLine(slot_ms: number): number {
  const now = nowMs();
  const slot = freeAt.indexOf(Math.min(...freeAt));
  const served = Math.max(now, freeAt[slot] ?? 0) + slot_ms;
  freeAt[slot] = served;
  return served - now;
}

const random = seededRandom(1);
let rampBeganMs: number | undefined;

/** How many times its final value the delay is now. */
function rampFactor(): number {
  const { ramp_from = 1, ramp_s = 1 } = behaviour;
  rampBeganMs ??= nowMs();
  return 1 + (ramp_from - 1) * Math.max(0, 1 - (nowMs() - rampBeganMs) / (1000 * ramp_s));
}

/** Milliseconds until the answer. It is undefined where no timer is needed. */
function waitMs(): number | undefined {
  if (freeAt.length > 0) return waitInLine(behaviour.slot_ms ?? 0);
  const { delay_ms, jitter = 0 } = behaviour;
  if (delay_ms === undefined) return undefined;
  return delay_ms * rampFactor() * (1 + jitter * (2 * random() - 1));
}

function stall(ms: number): void {
  const until_ms = nowMs() + ms;
  while (nowMs() < until_ms);
}
if (behaviour.stall_ms) setInterval(stall, 1000, behaviour.stall_ms);

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://stub");
  if (pathname === "/count")
    return void response.end(JSON.stringify({ ...done, connections: connections.size }));
  if (pathname !== "/light") return void response.writeHead(404).end("no such page");
  connections.add(request.socket);
  const turn = ++done.asked;
  const wait = waitMs();
  if (wait !== undefined) setTimeout(answer, wait, response, turn);
  else if (behaviour.delay_us) afterUs(behaviour.delay_us, () => answer(response, turn));
  else answer(response, turn);
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
