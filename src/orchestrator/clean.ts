import { createInterface } from "node:readline/promises";
import { EXIT, type ExitCode, usageError } from "../contract/errors.js";
import { runtimes } from "../runtimes/index.js";
import { nearest } from "../targets/nearest.js";
import { findLeftovers, removeAll } from "./orphans.js";

const HELP = `Usage: ratelimit-bench clean [--yes]

Removes what campaigns that were killed left behind (processes, containers, networks, folders, sockets), and images
of earlier states of this project. Shows it first, and asks. What belongs to a campaign that runs is never touched.

Options:
  --yes   removes without asking
`;

/**
 * `ratelimit-bench clean`: shows what is left of ours, asks, and removes it.
 * @throws usageError without a terminal to ask on
 */
export async function clean(argv: readonly string[], packageFolder: string): Promise<ExitCode> {
  const [wrong] = argv.filter((word) => !["--yes", "--help"].includes(word));
  if (wrong !== undefined)
    throw usageError(
      `clean: unknown ${JSON.stringify(wrong.slice(0, 60))}${nearest(wrong, ["--yes", "--help"])}`,
    );
  if (argv.includes("--help")) {
    process.stdout.write(HELP);
    return EXIT.done;
  }
  const things = await findLeftovers(true);
  for (const runtime of runtimes) things.push(...(await runtime.outdated(packageFolder)));
  if (things.length === 0) {
    process.stdout.write("nothing was left behind\n");
    return EXIT.done;
  }
  process.stdout.write(`left behind:\n${things.map(({ what }) => `  ${what}\n`).join("")}`);
  if (!argv.includes("--yes") && !(await agreed())) {
    process.stdout.write("nothing was removed\n");
    return EXIT.done;
  }
  const { gone, left } = await removeAll(things);
  for (const line of gone) process.stdout.write(`${line}\n`);
  if (left.length === 0) return EXIT.done;
  for (const line of left) process.stderr.write(`still there: ${line}\n`);
  return EXIT.environment;
}

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw usageError("there is no terminal to ask on: remove all of this with --yes");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    // Ctrl-C and Ctrl-D close it without an answer.
    const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    const answer = await Promise.race([lines.question("Remove all of this? [y/N] "), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
