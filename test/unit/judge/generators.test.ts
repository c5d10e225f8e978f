import { describe, expect, test } from "vitest";
import { limitOf } from "../../../src/judge/limit.js";
import { judge } from "../../../src/judge/rules.js";
import { addGenerator, generatorOf, histogramOf, validEvidence } from "../../helpers/evidence.js";

/** A valid run of two generators, of which the second is changed. */
function run(change: (second: ReturnType<typeof addGenerator>) => void) {
  const evidence = validEvidence();
  change(addGenerator(evidence));
  return evidence;
}
const reasons = (evidence: ReturnType<typeof run>) =>
  judge(evidence).reasons.map(({ rule, text }) => `${rule} ${text}`);

describe("of several generators", () => {
  test("a saturated one is named, in the verdict and as the limit", () => {
    const evidence = run(({ workers }) => {
      for (const worker of workers) worker.event_loop_utilisation = 0.95;
    });
    expect(reasons(evidence)).toEqual([expect.stringMatching(/^M6 generator-2 .*95 % .*--generators/)]);
    expect(limitOf(evidence)).toEqual({
      resource: "generator",
      text: "generator-2's event loop was 95 % busy",
    });
  });

  test("a slow one of a closed loop is named, with what it and the others answered", () => {
    const evidence = run(({ workers }) => {
      for (const worker of workers) worker.connections *= 2;
    });
    expect(reasons(evidence)).toEqual([expect.stringMatching(/^M6 generator-2 .*100 .*200/)]);
  });

  test("a late one of an open loop is named; all of them late are not", () => {
    const lateness = (second_us: number, first_us: number) => {
      const evidence = run((second) => {
        second.schedule = scheduleOf(second_us);
      });
      evidence.request.load = { model: "open", rate_per_second: 2000, arrivals: "constant", connections: 10 };
      generatorOf(evidence).schedule = scheduleOf(first_us);
      return reasons(evidence).filter((text) => text.includes("lateness"));
    };
    expect(lateness(5000, 800)).toEqual([expect.stringMatching(/^M6 generator-2 .*5\.00 ms.*0\.80 ms/)]);
    expect(lateness(5000, 4000)).toEqual([]);
    expect(lateness(900, 100)).toEqual([]);
  });
});

const scheduleOf = (late_us: number) => ({
  offered: 5000,
  sent: 5000,
  late: 0,
  blocked: 0,
  dropped: 0,
  unsent: 0,
  lateness: histogramOf(5000, late_us),
  gaps: histogramOf(0),
  shared_wakes: false,
});
