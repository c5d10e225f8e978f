import {
  MACHINE_PROBE_LISTENS,
  type MachineCounters,
  type MachineQuestion,
  type MachineReply,
  type ProbedMachine,
  parseMachineRequest,
} from "../../contract/machine-probe.js";
import { definedOnly } from "../../kit/defined-only.js";
import { EXIT, type ExitCode, messageOf } from "../../kit/errors.js";
import { runMain } from "../../kit/program.js";
import { readHostCpu } from "../../machine/cpu-time.js";
import { describeMachine, kernelInstance, readNetwork } from "../../machine/describe-machine.js";
import { handleLines, listening, placesIn, printLine } from "../common.js";
import { measureLink } from "./link-client.js";
import { startLinkServer } from "./link-server.js";

/**
 * Runs a machine probe. Its arguments are host and port for other machine probes. Each line of
 * standard input is a question, which a line of standard error answers, in order. The program ends
 * with its input.
 */
async function main(): Promise<ExitCode> {
  const [at] = placesIn(process.argv.slice(2), ["to listen at"]);
  const started = startLinkServer(at.host, at.port);
  const server = await listening("machine probe", at, started);
  printLine(MACHINE_PROBE_LISTENS);
  await handleLines(async (line) => printLine(JSON.stringify(await replyTo(line))));
  server.stop();
  return EXIT.done;
}

async function replyTo(line: string): Promise<MachineReply> {
  let id = 1;
  try {
    const request = parseMachineRequest(line);
    id = request.id;
    return { id, answer: await answerTo(request.question) };
  } catch (error) {
    return { id, error: messageOf(error) };
  }
}

function answerTo(question: MachineQuestion): Promise<unknown> {
  switch (question.ask) {
    case "facts":
      return probeMachine();
    case "counters":
      return Promise.resolve(countersOfMachine());
    case "link":
      return measureLink(question);
  }
}

function countersOfMachine(): MachineCounters {
  return definedOnly({ cpu: readHostCpu(), network: readNetwork() });
}

async function probeMachine(): Promise<ProbedMachine> {
  const kernel_instance = kernelInstance();
  return definedOnly({ machine: await describeMachine(), kernel_instance });
}

runMain(main);
