import { statistics } from "./processes.js";

/** How many pairs: `--pairs N`. */
export function pairsAsked(fallback: number): number {
  const index = process.argv.indexOf("--pairs");
  const asked = index < 0 ? fallback : Number(process.argv[index + 1]);
  if (Number.isInteger(asked) && asked >= 6 && asked <= 1000) return asked;
  process.stderr.write("--pairs: give a whole number from 6 to 1000 (fewer cannot give an interval)\n");
  process.exit(2);
}

/** Measures two things in turn, A B, B A, A B …, so that drift of the machine meets both alike. */
export async function interleaved(
  count: number,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<{ a: number[]; b: number[] }> {
  const figures: { a: number[]; b: number[] } = { a: [], b: [] };
  for (let pair = 0; pair < count; pair++) {
    const order = pair % 2 === 0 ? (["a", "b"] as const) : (["b", "a"] as const);
    for (const side of order) figures[side].push(await (side === "a" ? a() : b()));
    process.stderr.write(
      `pair ${pair + 1}/${count}: ${figures.a.at(-1)?.toFixed(2)} and ${figures.b.at(-1)?.toFixed(2)}\n`,
    );
  }
  return figures;
}

interface Interval {
  median: number;
  low: number;
  high: number;
}

const ask = async (question: string, figures: { a: number[]; b: number[] }): Promise<Interval> =>
  (await statistics({ question, ...figures })) as unknown as Interval;

const medianOf = async (values: readonly number[]): Promise<string> => {
  const { median } = (await statistics({ question: "median_interval", values })) as unknown as Interval;
  return median.toFixed(2);
};

async function print(
  what: string,
  unit: string,
  figures: { a: number[]; b: number[] },
  kind: "ratio" | "difference",
  target: number,
): Promise<void> {
  const { median, low, high } = await ask(`paired_${kind}`, figures);
  const sides = `${await medianOf(figures.a)} and ${await medianOf(figures.b)} ${unit}`;
  process.stdout.write(`${what}: medians ${sides}, ${figures.a.length} pairs\n`);
  const interval = `95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}`;
  const verdict = median <= target ? "met" : "missed";
  process.stdout.write(`  ${kind} ${median.toFixed(3)}, ${interval}; target ≤ ${target}: ${verdict}\n`);
}

type Figures = { a: number[]; b: number[] };

/** Prints the typical ratio A / B with its interval, and whether the target is met. */
export const printRatio = (what: string, unit: string, figures: Figures, target: number): Promise<void> =>
  print(what, unit, figures, "ratio", target);

/** Prints the typical difference A − B with its interval, and whether the target is met. */
export const printDifference = (
  what: string,
  unit: string,
  figures: Figures,
  target: number,
): Promise<void> => print(what, unit, figures, "difference", target);
