import { Option } from "commander";
import { EXIT } from "../../contract/errors.js";
import { runPython } from "../host/python.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import type { CliCommand } from "./types.js";

const AFTER = `
Measure several numbers of servers first, each at least six times, on a machine where roles have CPUs of their own:

  ratelimit-bench run --clients iovalkey --servers 1,2,4 --concurrency 200 --runs 6
  ratelimit-bench plan-capacity --rate 200000 --from results/latest

Servers follow the Universal Scalability Law where the throughput of three numbers of servers shows how they scale. Else,
and for load generators and store nodes, the CPU time per request is multiplied by the rate. Each figure has an interval
of 95 % over the runs. See docs/scale.md.

Exit codes: 0 done, 2 bad usage or no run that counts, 3 environment not fit, 4 writing failed`;

const definition = () =>
  createCommand("ratelimit-bench plan-capacity")
    .description("Says how many load generators, servers and store nodes a rate takes.")
    .addOption(
      new Option("--rate <n>", "requests a second to plan for, 1 to 100000000").makeOptionMandatory(),
    )
    .addOption(
      new Option("--from <dir>", "a campaign to plan from; repeatable (default: results/latest)").argParser(
        (folder: string, before: string[] = []) => [...before, folder],
      ),
    )
    .addOption(
      new Option("--utilisation <percent>", "of its CPU that each role may use, 10 to 90 (default: 70)"),
    )
    .addOption(new Option("--format <format>", "default: text").choices(["text", "json", "markdown"]))
    .addHelpText("after", AFTER);

/** Python plans, because it has all statistics. */
export const planCapacity: CliCommand = {
  name: "plan-capacity",
  definition,
  run: async (argv, { packageFolder }) =>
    parseCommandLine(definition(), argv) ? runPython(packageFolder, "plan-capacity", argv) : EXIT.done,
};
