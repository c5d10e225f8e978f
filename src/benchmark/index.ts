import { writeFile } from "node:fs/promises";
import { EXIT, type ExitCode } from "../contract/errors.js";
import { decodeGeneratorEnv } from "../contract/generator-env.js";
import { printDocument, runProgram } from "../contract/program.js";
import { createReporter } from "./progress.js";
import { run } from "./run.js";

/**
 * The load generator: told by environment variables, progress on standard error, the result as one JSON document
 * on standard output or in OUTPUT_FILE. It ends with 0 once it has measured, whatever the verdict.
 */
async function main(): Promise<ExitCode> {
  const work = decodeGeneratorEnv(process.env);
  const result = await run(work, createReporter(work.progress));
  if (work.outputFile) await writeFile(work.outputFile, `${JSON.stringify(result)}\n`);
  else await printDocument(result);
  return EXIT.done;
}

runProgram(main);
