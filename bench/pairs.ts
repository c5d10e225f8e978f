import { statistics } from "./processes.js";

/** The number of pairs: `--pairs N`. */
export function pairsFromArguments(fallback: number): number {
  const index = process.argv.indexOf("--pairs");
  const pairs = index < 0 ? fallback : Number(process.argv[index + 1]);
  if (Number.isInteger(pairs) && pairs >= 6 && pairs <= 1000) return pairs;
  process.stderr.write(
    "--pairs: give a whole number from 6 to 1000 (fewer cannot give an interval)\n",
  );
  process.exit(2);
}

/**
 * Measures two sides alternately, A B, B A, A B …, so that drift of the machine affects both
 * equally.
 */
export async function interleaved(
  count: number,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<{ a: number[]; b: number[] }> {
  const figures: { a: number[]; b: number[] } = { a: [], b: [] };
  for (let pair = 0; pair < count; pair++) {
    const order = pair % 2 === 0 ? (["a", "b"] as const) : (["b", "a"] as const);
    for (const side of order) figures[side].push(await (side === "a" ? a() : b()));
    reportPair(pair, count, figures);
  }
  return figures;
}

function reportPair(pair: number, count: number, figures: { a: number[]; b: number[] }): void {
  const last = `${figures.a.at(-1)?.toFixed(2)} and ${figures.b.at(-1)?.toFixed(2)}`;
  process.stderr.write(`pair ${pair + 1}/${count}: ${last}\n`);
}

interface Interval {
  median: number;
  low: number;
  high: number;
}

const medianOf = async (values: readonly number[]): Promise<string> => {
  const { median } = (await statistics({
    question: "median_interval",
    values,
  })) as unknown as Interval;
  return median.toFixed(2);
};

/**
 * Prints the median ratio A / B with its interval, and whether it meets the target, if there is
 * one.
 */
export async function printRatio(
  what: string,
  unit: string,
  figures: { a: number[]; b: number[] },
  target?: number,
): Promise<void> {
  const interval = await statistics({ question: "paired_ratio", ...figures });
  const { median, low, high } = interval as unknown as Interval;
  const sides = `${await medianOf(figures.a)} and ${await medianOf(figures.b)} ${unit}`;
  process.stdout.write(`${what}: medians ${sides}, ${figures.a.length} pairs\n`);
  const verdict =
    target === undefined ? "" : `; target ≤ ${target}: ${median <= target ? "met" : "missed"}`;
  const bounds = `${low.toFixed(3)} to ${high.toFixed(3)}`;
  process.stdout.write(`  ratio ${median.toFixed(3)}, 95 % interval ${bounds}${verdict}\n`);
}
