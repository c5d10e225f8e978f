import { z } from "zod";

/** The kinds of heads, in the order of the page, with their row's first cell. */
const KINDS = {
  equal: "the package itself",
  slower: "a slow-down of 15 %",
  "off-by-one": "a limiter that admits one more",
} as const;
export type HeadKind = keyof typeof KINDS;

/** How many gates of each kind make the page complete. */
export const WANTED: Readonly<Record<HeadKind, number>> = {
  equal: 20,
  slower: 10,
  "off-by-one": 5,
};

/** What `bench/gate.ts` writes, and continues. */
export const gatesSchema = z.strictObject({
  package: z.string(),
  gates: z.array(
    z.strictObject({
      machine: z.string(),
      node: z.string(),
      measured_at: z.string(),
      head: z.enum(["equal", "slower", "off-by-one"]),
      verdict: z.enum(["passes", "fails", "not decided"]),
      headline: z.string(),
      minutes: z.number().min(0),
      naive: z.strictObject({
        before_per_second: z.number().positive(),
        after_per_second: z.number().positive(),
        fails: z.boolean(),
      }),
    }),
  ),
});
export type Gates = z.infer<typeof gatesSchema>;
type Gate = Gates["gates"][number];

/** The throughput of the head below which a naive job fails, as a share of that of the base. */
export const NAIVE_SHARE = 0.9;

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
};

function row(kind: HeadKind, gates: readonly Gate[]): string {
  const count = (verdict: Gate["verdict"]) =>
    gates.filter((gate) => gate.verdict === verdict).length;
  const naive = gates.filter(({ naive }) => naive.fails).length;
  const minutes = median(gates.map((gate) => gate.minutes)).toFixed(1);
  const cells = [
    KINDS[kind],
    gates.length,
    count("passes"),
    count("fails"),
    count("not decided"),
    minutes,
    naive,
  ];
  return `| ${cells.join(" | ")} |`;
}

const textOfAll = (values: readonly string[]): string => [...new Set(values)].sort().join(", ");

/** The page about gates, from what was measured. */
export function gatePage({ package: name, gates }: Gates): string {
  const rows = (Object.keys(KINDS) as HeadKind[]).flatMap((kind) => {
    const ofKind = gates.filter(({ head }) => head === kind);
    return ofKind.length > 0 ? [row(kind, ofKind)] : [];
  });
  const days = textOfAll(gates.map(({ measured_at }) => measured_at.slice(0, 10)));
  const machines = textOfAll(gates.map(({ machine }) => machine));
  const nodes = textOfAll(gates.map(({ node }) => node));
  const isMissing = (Object.keys(WANTED) as HeadKind[]).some(
    (kind) => gates.filter(({ head }) => head === kind).length < WANTED[kind],
  );
  const missing = isMissing
    ? `\nThe page is not complete: wanted are ${Object.values(WANTED).join(", ")} gates.\n`
    : "";
  return `# How often the gate is right

What [the action's gate](ci.md#what-passes) says of ${name} where the truth is known by design. Beside it
stands a job that runs autocannon once before and once after, and fails below ${100 * NAIVE_SHARE} % of the throughput. Each gate
has its naive job on the same machine, within minutes. Measured by \`npm run bench:gate\`, which continues
[its file](../results/gate.json): ${days}, ${machines}, Node.js ${nodes}.
${missing}
| Head | Gates | Passes | Fails | Not decided | Minutes, median | The naive job fails |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.join("\n")}
`;
}
