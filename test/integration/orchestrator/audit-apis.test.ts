import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { versionFolderName, versionsFolder } from "../../../src/contract/library-versions.js";
import { isDefect } from "../../../src/orchestrator/audit/audit-counts.js";
import { NEST } from "../../../src/targets/frameworks.js";
import { rightApis, wrongApis } from "../../helpers/apis/apis.js";
import { findingsOf } from "../../helpers/apis/audited.js";
import { needs } from "../../helpers/needs.js";
import { installedFor } from "../../helpers/on-demand.js";

// They mostly wait, and each has processes and keys of its own.
vi.setConfig({ maxConcurrency: 8 });

const LOADER = join(versionsFolder(process.env), versionFolderName(NEST), "load.mjs");

beforeAll(async () => {
  await installedFor("none+nest");
});

describe.concurrent("a wrong API", () => {
  test.each(wrongApis)("$name", async (api) => {
    const findings = await findingsOf(api);
    const defects = findings.filter(isDefect);
    expect(defects.map(({ check, defect }) => [check, defect])).toEqual([[api.check, api.defect]]);
    expect(defects[0]?.steps?.length).toBeGreaterThan(0);
  });
});

describe.concurrent("a right API", () => {
  for (const api of rightApis) {
    test(api.name, needs(api.needs ?? []), async () => {
      const findings = await findingsOf(api, { LOADER });
      expect(findings.filter(({ status }) => status === "broken" || status === "failed")).toEqual(
        [],
      );
    });
  }
});
