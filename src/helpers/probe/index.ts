import {
  decodeProbeEnv,
  type ProbeEnv,
  parseProbeRequest,
  probeActions,
  SERVE,
} from "../../contract/probe-env.js";
import { EXIT, type ExitCode, usageError } from "../../kit/errors.js";
import { printDocument, runMain } from "../../kit/program.js";
import { loadPlugins } from "../../plugins/load.js";
import { registerStores } from "../../plugins/register-targets.js";
import { handleLines } from "../common.js";
import { performAll, type Task } from "./actions.js";

/**
 * Runs a probe, which forms, empties and reads a store from where it can be reached. Its arguments
 * are the actions, or `serve`, with which each line of standard input is a request. It prints one
 * JSON document for each request.
 */
async function main(): Promise<ExitCode> {
  const words = process.argv.slice(2);
  const env = decodeProbeEnv(process.env);
  registerStores(await loadPlugins(env.spec.plugins));
  if (words.length === 1 && words[0] === SERVE) return serve(env);

  const actions = words.map((word) => {
    const action = probeActions.find((name) => name === word);
    if (action) return action;
    const valid = [...probeActions, SERVE].join(", ");
    throw usageError(`there is no probe action ${JSON.stringify(word)}; valid: ${valid}`);
  });
  await perform(env, { actions, nodes: [], timeoutS: env.timeoutS });
  return EXIT.done;
}

async function perform({ spec: { store }, access }: ProbeEnv, task: Task): Promise<void> {
  const nodes = task.nodes.length > 0 ? task.nodes : store.nodes;
  if (nodes.length === 0)
    throw usageError("PROBE_NODES is not set: give host:port of each store node");
  await printDocument(await performAll(store, { ...task, nodes }, access));
}

/**
 * Answers requests in order. It ends with the first failed request, and at once when its input
 * ends.
 */
async function serve(env: ProbeEnv): Promise<ExitCode> {
  await handleLines((line) => {
    const { timeout_s, decision_commands, ...others } = parseProbeRequest(line);
    return perform(env, { ...others, timeoutS: timeout_s, decisionCommands: decision_commands });
  });
  return EXIT.done;
}

runMain(main);
