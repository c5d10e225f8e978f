import { test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { requireUsablePlacement } from "../../../../src/orchestrator/campaign/open-runtime.js";
import { expectFailure } from "../../../helpers/errors.js";
import { ROOT } from "../../../helpers/programs.js";
import { requestOf } from "../../../helpers/request.js";

test("a named program that is not there is an unfit machine, also where no target uses it", async () => {
  const request = requestOf("--clients", "none", "--program", "valkey=/nowhere/valkey-server");
  await expectFailure(
    () => requireUsablePlacement(request, ROOT),
    EXIT.environment,
    "/nowhere/valkey-server",
  );
});
