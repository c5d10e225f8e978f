import { writeFile } from "node:fs/promises";
import { decodeGeneratorEnv, decodeGroup } from "../contract/generator-env.js";
import type { GroupOutput } from "../contract/generator-output.js";
import { definedOnly } from "../kit/defined-only.js";
import { EXIT, type ExitCode } from "../kit/errors.js";
import { printDocument, runMain } from "../kit/program.js";
import { loadPlugins } from "../plugins/load.js";
import { registerTraffic } from "../plugins/register-traffic.js";
import { runGenerator } from "./generator-run.js";
import { runByTurns } from "./groups/by-turns.js";
import { runLoadCurve } from "./groups/load-curve.js";
import { createProgressWriter } from "./progress-output.js";

/** Reads its environment, writes progress to stderr and the result to stdout or to OUTPUT_FILE. */
async function main(): Promise<ExitCode> {
  const group = decodeGroup(process.env);
  const [spec] = group?.runs ?? [decodeGeneratorEnv(process.env)];
  const { progress, output_file } = spec.generator;
  const plugins = await loadPlugins(spec.plugins);
  registerTraffic(plugins);
  const identities = plugins.map((plugin) => plugin.identity);
  const withPlugins = <Output extends GroupOutput[number]>(output: Output) =>
    definedOnly({
      ...output,
      plugins: identities.length > 0 && !("failed" in output) ? identities : undefined,
    });
  const report = createProgressWriter(progress);
  const runGroup = group?.turns.curve ? runLoadCurve : runByTurns;
  const result = group
    ? (await runGroup(group, identities, { report, input: process.stdin })).map(withPlugins)
    : withPlugins(await runGenerator(spec, identities, report, process.stdin));
  if (output_file) await writeFile(output_file, `${JSON.stringify(result)}\n`);
  else await printDocument(result);

  return EXIT.done;
}

runMain(main);
