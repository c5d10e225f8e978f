import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import {
  clockOffsetOf,
  type Exchange,
  measureLink,
} from "../../../../src/helpers/machine-probe/link-client.js";
import { startLinkServer } from "../../../../src/helpers/machine-probe/link-server.js";
import {
  WALL_CLOCK_ERROR_US,
  WallClock,
} from "../../../../src/helpers/machine-probe/wall-clock.js";
import { startRelay } from "../../../../src/helpers/relay/start-relay.js";
import { combinedOffset } from "../../../../src/orchestrator/run/machine-probes.js";
import { seededRandom } from "../../../helpers/random.js";

/** An exchange with delays in milliseconds, by a clock that is so much ahead of the own one. */
function exchange(ahead_ms: number, there_ms: number, back_ms: number, works_ms = 0.01): Exchange {
  const sent_ms = 1_000_000;
  const received_ms = sent_ms + there_ms + ahead_ms;
  const replied_ms = received_ms + works_ms;
  return { sent_ms, received_ms, replied_ms, answered_ms: replied_ms - ahead_ms + back_ms };
}

const holds = (
  { offset_us, bound_us }: { offset_us: number; bound_us: number },
  truth_ms: number,
) => Math.abs(offset_us - 1000 * truth_ms) <= bound_us;

describe("the offset of another clock", () => {
  test("is exact where both ways take equally long", () => {
    expect(clockOffsetOf([exchange(-250, 0.05, 0.05)])).toEqual({
      offset_us: -250_000,
      bound_us: 51.6,
    });
  });

  test("comes from the shortest round trip, whatever else was measured", () => {
    const offset = clockOffsetOf([
      exchange(3, 9, 0.1),
      exchange(3, 0.02, 0.02),
      exchange(3, 0.1, 5),
    ]);
    expect(offset).toEqual({ offset_us: 3000, bound_us: 21.6 });
  });

  test("does not take the other one's work for a way", () => {
    expect(clockOffsetOf([exchange(1, 0.02, 0.02, 400)]).bound_us).toBe(21.6);
  });

  test.each([
    [20, 0],
    [0, 20],
    [0.01, 12],
  ])("lies within the bound where the ways take %f ms and %f ms", (there_ms, back_ms) => {
    const offset = clockOffsetOf([exchange(5, there_ms, back_ms)]);
    expect(Math.abs(offset.offset_us - 5000)).toBeGreaterThan(5000);
    expect(holds(offset, 5)).toBe(true);
  });

  test("lies within the bound of both ends together, for any delays", () => {
    const random = seededRandom(7);
    for (let trial = 0; trial < 2000; trial++) {
      const truth_ms = 1000 * (random() - 0.5);
      const delays = () => Array.from({ length: 5 }, () => [random() ** 4, random() ** 4] as const);
      const one = clockOffsetOf(delays().map(([there, back]) => exchange(truth_ms, there, back)));
      const other = clockOffsetOf(
        delays().map(([there, back]) => exchange(-truth_ms, there, back)),
      );
      const both = combinedOffset(one, { ...other, offset_us: -other.offset_us });
      expect(holds(one, truth_ms) && holds(both, truth_ms)).toBe(true);
      expect(both.bound_us).toBeLessThanOrEqual(Math.min(one.bound_us, other.bound_us) + 0.2);
    }
  });

  test("of two measurements that contradict each other covers both", () => {
    const both = combinedOffset({ offset_us: 0, bound_us: 10 }, { offset_us: 1000, bound_us: 30 });
    expect(both).toEqual({ offset_us: 510, bound_us: 520.1 });
  });
});

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const host = "127.0.0.1";
const CLOCK = { now_ms: () => performance.timeOrigin + performance.now() };

async function serve(ahead_ms = 0): Promise<number> {
  const server = await startLinkServer(host, 0, () => ({
    now_ms: () => CLOCK.now_ms() + ahead_ms,
  }));
  stops.push(() => server.stop());
  return server.port;
}

describe("the link to another machine probe", () => {
  test("has round trips, the other one's clock and a rate for each direction", async () => {
    const port = await serve(-2_500);
    const link = await measureLink({ host, port, bandwidth: true }, CLOCK);
    expect(link.round_trips_us).toHaveLength(500);
    expect(Math.abs(link.clock.offset_us + 2_500_000)).toBeLessThanOrEqual(link.clock.bound_us);
    expect(link.sent_bits_per_second).toBeGreaterThan(1e6);
    expect(link.received_bits_per_second).toBeGreaterThan(1e6);
  });

  test("has no rate where a CPU cap held the program back", async () => {
    const port = await serve();
    let periods = 0;
    const link = await measureLink({ host, port, bandwidth: true }, CLOCK, () => periods++);
    expect(link.round_trips_us).toHaveLength(500);
    expect(link).not.toHaveProperty("sent_bits_per_second");
    expect(link).not.toHaveProperty("received_bits_per_second");
  });

  test("a delay in one direction alone is in the round trip, and the clock stays within its bound", async () => {
    const port = await serve(40);
    const relay = await startRelay({ host, port: 0 }, { host, port });
    stops.push(() => relay.stop());
    relay.setMode({ mode: "delay", ms: 20 });
    const link = await measureLink({ host, port: relay.port, bandwidth: false }, CLOCK);
    expect(Math.min(...link.round_trips_us)).toBeGreaterThanOrEqual(19_000);
    expect(link.clock.bound_us).toBeGreaterThanOrEqual(9_500);
    expect(Math.abs(link.clock.offset_us - 40_000)).toBeGreaterThan(5_000);
    expect(Math.abs(link.clock.offset_us - 40_000)).toBeLessThanOrEqual(link.clock.bound_us);
    expect(link).not.toHaveProperty("sent_bits_per_second");
  });

  test("names a place that refuses or ends connections", async () => {
    const server: Server = createServer((socket) => socket.destroy());
    server.listen(0, host);
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    await expect(measureLink({ host, port, bandwidth: false }, CLOCK)).rejects.toThrow(
      `the link to ${host}:${port} cannot be measured: the connection ended`,
    );
    server.close();
    await once(server, "close");
    await expect(measureLink({ host, port, bandwidth: false }, CLOCK)).rejects.toThrow(
      "ECONNREFUSED",
    );
  });
});

describe("the system clock to the microsecond", () => {
  test.each([1, 2, 3, 4, 5])("is known where most ticks fall into pauses, by draw %i", (seed) => {
    const random = seededRandom(seed);
    let now = 1000 * random();
    const passes = () => {
      // A look takes 0.1 µs; seven ticks of eight come in a pause.
      const next = now + 0.0001;
      const isTick = Math.floor(next) > Math.floor(now);
      now = isTick && random() < 7 / 8 ? now + 0.01 + 4 * random() : next;
    };
    const wall = () => {
      passes();
      return 1000 + Math.floor(now);
    };
    const monotonic = () => {
      passes();
      return now;
    };
    const now_ms = new WallClock(wall, monotonic).now_ms();
    expect(Math.abs(now_ms - (1000 + now))).toBeLessThanOrEqual(WALL_CLOCK_ERROR_US / 1000);
  });

  test("is that of now where it was set while it was read", () => {
    let now = 0.25;
    const look = () => {
      now += 0.002;
      return now;
    };
    const wall = () => Math.floor(look()) + (now > 20 ? 5000 : 1000);
    expect(new WallClock(wall, look).now_ms() - now).toBeCloseTo(5000, 2);
  });
});
