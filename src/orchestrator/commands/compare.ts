import { Option } from "commander";
import { runPython } from "../host/python.js";
import { createCommand } from "../request/command-line.js";
import { parsedCommand } from "./types.js";

const AFTER = `
Each side is TARGET (of --campaign), DIR#TARGET, or DIR for every target of that campaign. An argument with a / is a
folder.

A difference counts only if the 95 % interval of the ratio lies beyond the floor and the exact test with Holm's
correction agrees. By turns the targets are compared round by round, and at least six rounds are needed; otherwise five
runs per side. Two campaigns, or a campaign and a baseline, are compared by their ratios to the reference that both have,
of at least six rounds each. Without such a reference the host does not cancel, and nothing is decided.

In a closed loop CPU per request follows from the throughput, so --metric cpu concludes nothing there. Measure both sides
at one rate (run --rate) to compare it.

If targets run different limiter scripts, the comparison covers client and script together. Different stores,
machines of another kind or runtimes are refused unless --allow names them.

Examples:
  ratelimit-bench compare iovalkey ioredis@valkey
  ratelimit-bench compare iovalkey+same-script valkey-glide+same-script
  ratelimit-bench compare --metric p99 iovalkey iovalkey+autopipelining --campaign results/20260102_030405
  ratelimit-bench compare results/20260102_030405 results/latest --format md
  ratelimit-bench compare --save-baseline main
  ratelimit-bench compare --baseline main      after the next campaign

Exit codes: 0 no regression, 2 bad usage or not comparable, 3 environment not fit, 4 writing failed, 6 a regression,
            7 not decided: a regression was neither shown nor excluded`;

const METRICS = ["throughput", "p50", "p99", "cpu"];

const definition = () =>
  createCommand("ratelimit-bench compare")
    .description("Compares targets of a campaign, campaigns, or a campaign with a saved baseline.")
    .argument("[base]", "base of the comparison: TARGET, DIR#TARGET or DIR")
    .argument("[new]", "what is compared with the base: TARGET, DIR#TARGET or DIR")
    .option("--campaign <dir>", "campaign of the targets (default: latest of --output)")
    .addOption(new Option("--metric <metric>", "figure to compare (default: throughput)").choices(METRICS))
    .option("--floor <percent>", "differences must exceed it to count (default: 2%)")
    .addOption(
      new Option("--fail-on <what>", "never: exit with 0 whatever the result (default: regression)").choices([
        "regression",
        "never",
      ]),
    )
    .addOption(new Option("--format <format>", "default: table").choices(["table", "md", "json"]))
    .option("--baseline <name>", "compare with this saved baseline")
    .option("--save-baseline <name>", "save a campaign under this name; compare nothing")
    .option("--allow <list>", "allowed differences: machine, schema, store, script, topology, runtime, order")
    .option("--output <dir>", "results root, which also holds the baselines (default: results)")
    .addHelpText("after", AFTER);

/** Python compares, because it has all statistics. */
export const compare = parsedCommand("compare", definition, (_command, { packageFolder }, argv) =>
  runPython(packageFolder, "compare", argv),
);
