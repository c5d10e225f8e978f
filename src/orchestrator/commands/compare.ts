import { Argument, Option } from "commander";
import { EXIT } from "../../contract/errors.js";
import { runPython } from "../host/python.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import type { CliCommand } from "./types.js";

const AFTER = `
A side is TARGET (of --campaign), DIR#TARGET, or DIR: every target of that campaign. A word with a / is a folder.

A difference is shown only if the 95 % interval of the ratio lies beyond the floor and the exact Mann-Whitney test
agrees, after Holm's correction; fewer than five runs a side show none. Between campaigns, and against a baseline, drift
of the machine is not excluded: there the floor is at least this host's noise (ratelimit-bench noise). Where that is
50 % or more, the runs are too unsteady to compare.

Targets that each run their own limiter script are compared client and script together. Unlike things, e.g. other
stores, machines or runtimes, are refused unless allowed.

Examples:
  ratelimit-bench compare iovalkey ioredis@valkey
  ratelimit-bench compare iovalkey+same-script valkey-glide+same-script
  ratelimit-bench compare --metric cpu iovalkey iovalkey+autopipelining --campaign results/20260102_030405
  ratelimit-bench compare results/20260102_030405 results/latest --format md
  ratelimit-bench compare --save-baseline main
  ratelimit-bench compare --baseline main      after the next campaign

Exit codes: 0 no regression, 2 bad usage or unlike things, 3 environment not fit, 4 writing failed, 6 a regression,
            7 inconclusive: a regression was neither shown nor excluded`;

const definition = () =>
  createCommand("ratelimit-bench compare")
    .description("Compares targets of a campaign, campaigns, or a campaign with a saved baseline.")
    .addArgument(new Argument("[base]", "what it is compared with: TARGET, DIR#TARGET or DIR"))
    .addArgument(new Argument("[new]", "what is compared, likewise"))
    .addOption(new Option("--campaign <dir>", "where targets are looked up (default: latest of --output)"))
    .addOption(
      new Option("--metric <metric>", "what is compared (default: throughput)").choices([
        "throughput",
        "p50",
        "p99",
        "cpu",
      ]),
    )
    .addOption(new Option("--floor <percent>", "a difference has to lie beyond it (default: 2%)"))
    .addOption(
      new Option("--fail-on <what>", "never: end with 0 whatever was found (default: regression)").choices([
        "regression",
        "never",
      ]),
    )
    .addOption(new Option("--format <format>", "default: table").choices(["table", "md", "json"]))
    .addOption(new Option("--baseline <name>", "a saved baseline is what it is compared with"))
    .addOption(new Option("--save-baseline <name>", "save a campaign under this name; compares nothing"))
    .addOption(new Option("--allow <list>", "may differ: machine, schema, store, script, topology, runtime"))
    .addOption(new Option("--output <dir>", "results root, where baselines are too (default: results)"))
    .addHelpText("after", AFTER);

/** Python does the work: it holds all statistics. */
export const compare: CliCommand = {
  name: "compare",
  definition,
  run: async (argv, { packageFolder }) =>
    parseCommandLine(definition(), argv) ? runPython(packageFolder, "compare", argv) : EXIT.done,
};
