import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planOf } from "../../../../src/orchestrator/max-rate/plan.js";
import { parseCampaign } from "../../../../src/orchestrator/request/parse-request.js";
import { ROOT } from "../../../helpers/programs.js";
import { everything } from "../../../helpers/request.js";

test.each(readdirSync(join(ROOT, "claims")))(
  "claims/%s is a campaign of which nothing is skipped where everything is installed",
  (name) => {
    const programs = name === "rsedis.yaml" ? ["--program", `rsedis=${process.execPath}`] : [];
    const request = parseCampaign(["--config", join(ROOT, "claims", name), ...programs], {});
    if (!request) throw new Error("help was printed");
    const { runs, skips } = planOf(request, everything);
    expect(skips).toEqual([]);
    expect(runs.length).toBeGreaterThan(0);
  },
);
