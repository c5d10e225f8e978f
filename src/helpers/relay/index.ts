import { parseRelayLine, RELAY_LISTENS } from "../../contract/relay.js";
import { EXIT, type ExitCode } from "../../kit/errors.js";
import { runMain } from "../../kit/program.js";
import { handleLines, listening, placesIn, printLine } from "../common.js";
import { startRelay } from "./start-relay.js";

/**
 * Runs a relay. Its arguments are the host and port on which it listens, and those of the store
 * node. Each line of standard input is a mode, and is printed on standard error once the relay is
 * in it. The program ends with its input.
 */
async function main(): Promise<ExitCode> {
  const [place, node] = placesIn(process.argv.slice(2), ["to listen at", "of the store node"]);
  const relay = await listening("relay", place, startRelay(place, node));
  printLine(RELAY_LISTENS);
  await handleLines((line) => {
    const mode = parseRelayLine(line);
    if (mode) relay.setMode(mode);
    printLine(mode ? line : `not a mode: ${line.slice(0, 60)}`);
  });
  relay.stop();
  return EXIT.done;
}

runMain(main);
