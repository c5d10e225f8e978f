import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Work in rounds instead of time, so that its share of CPU does not depend on the current speed of
 * the host.
 */
export const WORK = `let state = 1;
function work(rounds) {
  for (let round = 0; round < rounds; round++) state = (Math.imul(state, 1103515245) + 12345) | 0;
}
`;

/** The median number of rounds per microsecond of 20 measurements. */
export function roundsPerUs(): number {
  const work = new Function(`${WORK} return work;`)() as (rounds: number) => void;
  const measurements = Array.from({ length: 20 }, () => {
    const before = performance.now();
    work(1e7);
    return 1e4 / (performance.now() - before);
  });
  return measurements.sort((a, b) => a - b)[10] ?? 0;
}

/** The median server CPU per request of a campaign, in microseconds. */
export function cpuUsOf(folder: string): number {
  const files = readdirSync(folder).filter((name) => /_run\d+\.json$/.test(name));
  const figures = files.map((file) => {
    const result = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
      resources: { "server-1": { cpu_us_per_request: number } };
    };
    return result.resources["server-1"].cpu_us_per_request;
  });
  return figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? 0;
}
