import { local } from "../../src/runtimes/local/local-runtime.js";
import type { ProgramSource, Runtime } from "../../src/runtimes/runtime-types.js";
import { ROOT } from "./programs.js";

/** The runtime of processes of this machine, for tests that start parts without a campaign. */
export const openLocalRuntime = (
  workFolder: string,
  programs: readonly ProgramSource[] = [],
): Promise<Runtime> =>
  local.open({
    packageFolder: ROOT,
    workFolder,
    programs,
    owner: { pid: process.pid, started: "1" },
    campaign: "a test",
    signal: new AbortController().signal,
    hold: async () => {},
    onSetupStep: () => {},
  });
