import { writeFile } from "node:fs/promises";
import { EXIT, type ExitCode } from "../contract/errors.js";
import { decodeGeneratorEnv } from "../contract/generator-env.js";
import { printDocument, runProgram } from "../contract/program.js";
import { loadPlugins } from "../plugins/load.js";
import { registerTraffic } from "../plugins/register-traffic.js";
import { createProgressWriter } from "./progress-output.js";
import { run } from "./run.js";

/**
 * The load generator. It reads its environment, writes progress to standard error, and writes the result as one
 * JSON document to standard output or to OUTPUT_FILE. It exits with 0 once it has measured, whatever the verdict.
 */
async function main(): Promise<ExitCode> {
  const spec = decodeGeneratorEnv(process.env);
  const { progress, output_file } = spec.generator;
  const plugins = await loadPlugins(spec.plugins);
  registerTraffic(plugins);
  const facts = plugins.map((plugin) => plugin.facts);
  const result = {
    ...(await run(spec, facts, createProgressWriter(progress), process.stdin)),
    ...(facts.length > 0 ? { plugins: facts } : {}),
  };
  if (output_file) await writeFile(output_file, `${JSON.stringify(result)}\n`);
  else await printDocument(result);
  return EXIT.done;
}

runProgram(main);
