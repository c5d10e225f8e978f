import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { measureLink } from "../../../../src/helpers/machine-probe/link-client.js";
import { LinkServer } from "../../../../src/helpers/machine-probe/link-server.js";
import { WALL_CLOCK_ERROR_US, WallClock } from "../../../../src/helpers/machine-probe/wall-clock.js";
import { Relay } from "../../../../src/helpers/relay/relay.js";
import { seededRandom } from "../../../helpers/random.js";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const host = "127.0.0.1";
const CLOCK = { now_ms: () => performance.timeOrigin + performance.now() };

async function serve(ahead_ms = 0): Promise<number> {
  const server = await LinkServer.start(host, 0, () => ({ now_ms: () => CLOCK.now_ms() + ahead_ms }));
  stops.push(() => server.stop());
  return server.port;
}

describe("the link to another machine probe", () => {
  test("has round trips, the other one's clock and a rate for each direction", async () => {
    const port = await serve(-2_500);
    const found = await measureLink({ host, port, bandwidth: true }, CLOCK);
    expect(found.round_trips_us).toHaveLength(500);
    expect(Math.abs(found.clock.offset_us + 2_500_000)).toBeLessThanOrEqual(found.clock.bound_us);
    expect(found.sent_bits_per_second).toBeGreaterThan(1e6);
    expect(found.received_bits_per_second).toBeGreaterThan(1e6);
  });

  test("has no rate where a CPU cap held the program back", async () => {
    const port = await serve();
    let periods = 0;
    const found = await measureLink({ host, port, bandwidth: true }, CLOCK, () => periods++);
    expect(found.round_trips_us).toHaveLength(500);
    expect(found).not.toHaveProperty("sent_bits_per_second");
    expect(found).not.toHaveProperty("received_bits_per_second");
  });

  test("a delay in one direction alone is in the round trip, and the clock stays within its bound", async () => {
    const port = await serve(40);
    const relay = await Relay.start({ host, port: 0 }, { host, port });
    stops.push(() => relay.stop());
    relay.setMode({ mode: "delay", ms: 20 });
    const found = await measureLink({ host, port: relay.port, bandwidth: false }, CLOCK);
    expect(Math.min(...found.round_trips_us)).toBeGreaterThanOrEqual(19_000);
    expect(found.clock.bound_us).toBeGreaterThanOrEqual(9_500);
    expect(Math.abs(found.clock.offset_us - 40_000)).toBeGreaterThan(5_000);
    expect(Math.abs(found.clock.offset_us - 40_000)).toBeLessThanOrEqual(found.clock.bound_us);
    expect(found).not.toHaveProperty("sent_bits_per_second");
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
    await expect(measureLink({ host, port, bandwidth: false }, CLOCK)).rejects.toThrow("ECONNREFUSED");
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
    const found = new WallClock(wall, monotonic).now_ms();
    expect(Math.abs(found - (1000 + now))).toBeLessThanOrEqual(WALL_CLOCK_ERROR_US / 1000);
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
