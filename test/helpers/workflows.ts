import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "./programs.js";

export interface Step {
  name?: string;
  id?: string;
  uses?: string;
  run?: string;
  shell?: string;
  env?: Record<string, string>;
  with?: Record<string, unknown>;
}
export interface Job {
  permissions?: Record<string, string>;
  "timeout-minutes"?: number;
  steps: Step[];
}
export interface Workflow {
  file: string;
  text: string;
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  concurrency?: unknown;
  jobs: Record<string, Job>;
}

const FOLDER = ".github/workflows";
const read = (file: string) => {
  const text = readFileSync(join(ROOT, file), "utf8");
  return { file, text, ...parse(text) };
};

export const workflows: Workflow[] = readdirSync(join(ROOT, FOLDER))
  .sort()
  .map((name) => read(join(FOLDER, name)));
export const action: {
  file: string;
  text: string;
  inputs: Record<string, { description?: string; default?: string }>;
  runs: { steps: Step[] };
} = read("action.yml");

/** The workflows of other repositories that docs/ci.md shows. */
const EXAMPLES = "docs/workflows";
export const examples: Workflow[] = readdirSync(join(ROOT, EXAMPLES))
  .sort()
  .map((name) => read(join(EXAMPLES, name)));

/** What the action's steps know of its inputs, with the defaults of those that are not given. */
export function actionInputs(
  given: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, string>>,
): Record<string, string> {
  const inputs: Record<string, string> = { ...known };
  for (const [name, { default: usual = "" }] of Object.entries(action.inputs)) {
    const text = String(given[name] ?? usual);
    inputs[`inputs.${name}`] = environmentOf({ env: { text } }, known).text ?? "";
  }
  return inputs;
}

export const steps = (file: string): Step[] =>
  Object.values(workflows.find((workflow) => workflow.file.endsWith(file))?.jobs ?? {}).flatMap(
    (job) => job.steps,
  );

/** The step of this name, as it stands in the file. */
export function step(list: readonly Step[], name: string): Step & { run: string } {
  const named = list.find((candidate) => candidate.name === name);
  if (!named?.run) throw new Error(`there is no step ${name} with a command`);
  return { ...named, run: named.run };
}

/** An environment as GitHub makes it of a step's expressions; the few kinds that our steps use. */
export function environmentOf(
  { env = {} }: Step,
  known: Readonly<Record<string, string>>,
): Record<string, string> {
  const value = (expression: string): string => {
    const [, name = "", text, otherName = ""] =
      /^([\w.-]+)(?: \|\| (?:'([^']*)'|([\w.-]+)))?$/.exec(expression) ?? [];
    const evaluated = known[name] || (text ?? known[otherName]) || known[name];
    if (evaluated === undefined) throw new Error(`nothing is known of ${expression}`);
    return evaluated;
  };
  return Object.fromEntries(
    Object.entries(env).map(([name, text]) => [
      name,
      String(text).replaceAll(/\$\{\{ (.*?) \}\}/g, (_, expression) => value(expression)),
    ]),
  );
}
