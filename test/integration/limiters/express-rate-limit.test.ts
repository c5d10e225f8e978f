import { beforeAll } from "vitest";
import { ensureVersions, versionsOfTargets } from "../../../src/orchestrator/host/versions.js";
import { targetOf } from "../../helpers/target.js";
import { limiterContract } from "../../suites/limiter.js";

// A campaign installs it when it is first used.
beforeAll(async () => {
  await ensureVersions(versionsOfTargets([targetOf("memory+express-rate-limit")]), {
    signal: new AbortController().signal,
    holdProcess: async () => undefined,
    onSetupStep: () => undefined,
  });
});

limiterContract("express-rate-limit");
