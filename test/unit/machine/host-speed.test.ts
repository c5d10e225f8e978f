import { describe, expect, test } from "vitest";
import { HOST_SPEED_PROBE_VERSION, hostSpeedSchema } from "../../../src/contract/host-speed.js";
import { hostSpeedOf } from "../../../src/machine/host-speed.js";
import {
  CHASE_BYTES,
  CHASE_STEPS,
  chase,
  chaseStart,
  INTEGER_ROUNDS,
  integerLoop,
  linkLines,
  PIECES,
  ROUND_TRIPS,
} from "../../../src/machine/host-speed-work.js";

/** 64 KiB. */
const LINES = 1024;
const WORDS = 16;

function linked(): Int32Array {
  const memory = new Int32Array(LINES * WORDS);
  linkLines(memory);
  return memory;
}

describe("the work by which the host is measured", () => {
  test("is always the same: whoever changes it raises the probe's version", () => {
    expect({
      version: HOST_SPEED_PROBE_VERSION,
      work: { INTEGER_ROUNDS, CHASE_STEPS, CHASE_BYTES, ROUND_TRIPS, PIECES },
      integer: integerLoop(1000),
      chase: chase(linked(), 0, 1000),
    }).toEqual({
      version: 1,
      work: {
        INTEGER_ROUNDS: 12_000_000,
        CHASE_STEPS: 120_000,
        CHASE_BYTES: 33_554_432,
        ROUND_TRIPS: 250,
        PIECES: 5,
      },
      integer: 3_298_996_588,
      chase: 4160,
    });
  });

  test("is xorshift as its author printed it", () => {
    // G. Marsaglia, "Xorshift RNGs", 2003: the first outputs of xor32.
    expect([1, 2, 3].map(integerLoop)).toEqual([723471715, 2497366906, 2064144800]);
  });

  test("reads every cache line once before it comes back, from wherever a thread begins", () => {
    const memory = linked();
    const starts = [0, 1, 2].map((thread) => chaseStart(memory, thread, 3));
    expect(new Set(starts).size).toBe(3);
    for (const start of starts) {
      const seen = new Set<number>();
      for (let place = start; !seen.has(place); place = chase(memory, place, 1)) seen.add(place);
      expect(seen.size).toBe(LINES);
      expect(chase(memory, start, LINES)).toBe(start);
    }
  });
});

test("the speed of a host is the median over its CPUs: one busy CPU does not move it", () => {
  const cpu = (integer_us: number, ping_pong_us?: number) => ({
    integer_us,
    chase_us: 2 * integer_us,
    ...(ping_pong_us === undefined ? {} : { ping_pong_us }),
  });
  const speed = hostSpeedOf([cpu(15_000, 20), cpu(15_100), cpu(90_000, 30)]);
  expect(speed).toEqual({ integer_us: 15_100, chase_us: 30_200, ping_pong_us: 25, cpus: 3 });
  expect(hostSpeedSchema.parse(speed)).toEqual(speed);
  expect(hostSpeedOf([cpu(10), cpu(20)])).toEqual({ integer_us: 15, chase_us: 30, cpus: 2 });
});
