import { writeFile } from "node:fs/promises";
import { EXIT, type ExitCode } from "../contract/errors.js";
import { decodeGeneratorEnv } from "../contract/generator-env.js";
import { decodePlugins } from "../contract/plugins.js";
import { printDocument, runProgram } from "../contract/program.js";
import { loadPlugins } from "../plugins/load.js";
import { registerTraffic } from "../plugins/register-traffic.js";
import { createProgressWriter } from "./progress-output.js";
import { run } from "./run.js";

/**
 * The load generator. It reads environment variables, writes progress to standard error, and writes the result as one
 * JSON document to standard output or to OUTPUT_FILE. It exits with 0 once it has measured, whatever the verdict.
 */
async function main(): Promise<ExitCode> {
  const work = decodeGeneratorEnv(process.env);
  const plugins = await loadPlugins(decodePlugins(process.env));
  registerTraffic(plugins);
  const loaded = plugins.length > 0 ? { plugins: plugins.map(({ facts }) => facts) } : {};
  const result = { ...(await run(work, createProgressWriter(work.progress))), ...loaded };
  if (work.outputFile) await writeFile(work.outputFile, `${JSON.stringify(result)}\n`);
  else await printDocument(result);
  return EXIT.done;
}

runProgram(main);
