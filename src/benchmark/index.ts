import { writeFile } from "node:fs/promises";
import { BenchError, EXIT, messageOf } from "../contract/errors.js";
import { decodeGeneratorEnv } from "../contract/generator-env.js";
import { createReporter } from "./progress.js";
import { run } from "./run.js";

/**
 * The load generator: told by environment variables, progress on standard error, the result as one JSON document
 * on standard output or in OUTPUT_FILE. It ends with 0 once it has measured, whatever the verdict.
 */
async function main(): Promise<void> {
  const work = decodeGeneratorEnv(process.env);
  const result = await run(work, createReporter(work.progress));
  const text = `${JSON.stringify(result)}\n`;
  if (work.outputFile) await writeFile(work.outputFile, text);
  else await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
}

main().then(
  () => process.exit(EXIT.done),
  (error: unknown) => {
    const expected = error instanceof BenchError;
    process.stderr.write(`${expected || !(error instanceof Error) ? messageOf(error) : error.stack}\n`);
    process.exit(expected ? error.exitCode : EXIT.defect);
  },
);
