import { expect, test } from "vitest";
import { EXHAUSTED_KEY_PREFIX } from "../../src/contract/server-api.js";
import { findProfile } from "../../src/traffic/lookup.js";
import { predictLimitedShare } from "../../src/traffic/prediction.js";
import { openTraffic } from "../../src/traffic/streams.js";
import { evenly } from "../helpers/even-load.js";

const DRAWN = 50_000;
/** Of a share that is estimated from so many draws: more than four standard deviations. */
const TOLERANCE = 0.01;

/**
 * What every traffic must do: the same seed gives the same requests, and their outcome is what it
 * predicts.
 */
export function trafficContract(id: string): void {
  const all = { connections: 2, first: 0, count: 2 };

  test("is the same for the same seed, and only has indexes of its requests", () => {
    const [one, other] = [1, 1].map((seed) => openTraffic(findProfile(id), seed, all));
    expect(one?.requests).toEqual(other?.requests);
    for (const [index, stream] of (one?.streams ?? []).entries()) {
      for (let n = 0; n < 1_000; n++) {
        const drawn = stream.next();
        expect(drawn).toBe(other?.streams[index]?.next());
        expect(one?.requests[drawn]).toBeDefined();
      }
    }
  });

  test("has the predicted share of denials", () => {
    const profile = findProfile(id);
    const { requests, streams } = openTraffic(profile, 7, all);
    let denied = 0;
    for (let n = 0; n < DRAWN; n++) {
      const keys = requests[streams[n % 2]?.next() ?? 0] ?? [];
      if (keys.some((key) => key.startsWith(EXHAUSTED_KEY_PREFIX))) denied++;
    }
    const seen = { opens_s: 0, closes_s: 1, requests_per_second: 1_000 };
    // Only where the quota cannot be used up is it the keys alone that decide (M10).
    const limits = { ...profile.limits, points: 1_000_000_000 };
    expect(
      Math.abs(denied / DRAWN - predictLimitedShare(profile, limits, evenly(seen))),
    ).toBeLessThan(TOLERANCE);
  });
}
