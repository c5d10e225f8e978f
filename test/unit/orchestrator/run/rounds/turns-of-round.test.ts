import { expect, test } from "vitest";
import type { Configuration } from "../../../../../src/contract/configuration.js";
import type { GeneratorOutput } from "../../../../../src/contract/generator-output.js";
import { turnOf } from "../../../../../src/contract/turns.js";
import {
  TurnsOfRound,
  withLongestGap,
} from "../../../../../src/orchestrator/run/rounds/turns-of-round.js";

test("where one generator of a group stood still, the runs of all of them say so", () => {
  const output = (...gaps_ms: number[]) =>
    ({ generators: gaps_ms.map((longest_gap_ms) => ({ longest_gap_ms })) }) as GeneratorOutput;
  const group = [output(21), { failed: "it ended" }, output(2030)];
  expect(withLongestGap(output(21), group)).toEqual(output(2030));
  expect(withLongestGap({ generators: [{}] } as GeneratorOutput, [])).toEqual({ generators: [{}] });
});

/** Generators of the limiter layer. @param cpuUs CPU time per request of each, in its nth turn */
function generatorsWith(cpuUs: readonly ((turn: number) => number)[]) {
  const lines: string[][] = cpuUs.map(() => []);
  let round: TurnsOfRound | undefined;
  const parts = cpuUs.map((cpuUsOf, index) => ({
    exited: new Promise<never>(() => {}),
    stop: async () => {},
    write(line: string): void {
      const turn = turnOf(line);
      if (turn) setImmediate(() => round?.ended(index, eventOf(turn.slice_ms, cpuUsOf(turns()))));
      const turns = () => lines[index]?.filter((earlier) => turnOf(earlier)).length ?? 0;
      lines[index]?.push(line);
    },
  }));
  const extent = { duration_s: 4 };
  round = new TurnsOfRound(parts as never, { seed: 1 }, { extent } as Configuration, "auto");
  return { round, lines };
}

const eventOf = (took_ms: number, cpuUs: number) => ({
  event: "turn" as const,
  answers: 3_000,
  followed: 0,
  latency_sum_us: 3_000_000,
  took_ms,
  requests: 3_000,
  cpu_us: 3_000 * cpuUs,
});

test("a warm-up of auto gives turns to each generator until its CPU per request is flat, too [M26]", async () => {
  const flat = (turn: number) => 50 + Math.cos(2.4 * turn);
  const falling = (turn: number) => Math.max(100, 400 - 10 * turn) + Math.cos(2.4 * turn);
  const { round, lines } = generatorsWith([flat, falling]);
  await round.goOn();
  const turns = lines.map((linesOfOne) => linesOfOne.filter((line) => turnOf(line)).length);
  expect(turns[0]).toBe(10);
  expect(turns[1]).toBeGreaterThan(30);
  expect(lines.map((linesOfOne) => linesOfOne.at(-1))).toEqual(["last", "last"]);

  await round.goOn();
  const output = { turns: {}, warmup: { took_s: 1 } } as unknown as GeneratorOutput;
  expect(round.complete(1, output).warmup).toEqual({ took_s: 1, steady: true });
});
