import { createInterface } from "node:readline";
import { parseSenderRequest } from "../../contract/sender.js";
import { EXIT, type ExitCode } from "../../kit/errors.js";
import { printDocument, runMain } from "../../kit/program.js";
import { Sender } from "./send.js";

/**
 * Runs a sender. Each line of standard input says which requests are sent when, and a line of the
 * output says what became of them.
 */
async function main(): Promise<ExitCode> {
  const sender = new Sender();

  // Scripts run at the same time, and their reports come in the order of the lines.
  let reported: Promise<void> = Promise.resolve();
  for await (const line of createInterface({ input: process.stdin })) {
    const sending = sender.send(parseSenderRequest(line));
    reported = Promise.all([sending, reported]).then(([report]) => printDocument(report));
    // A failure is thrown below.
    reported.catch(() => {});
  }

  await reported;
  sender.close();
  return EXIT.done;
}

runMain(main);
