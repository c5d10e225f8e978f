import { expect, test } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import { requireNode } from "../../../src/kit/program.js";
import { expectFailure } from "../../helpers/errors.js";

test("a Node.js that is too old is refused in one line, with the version to install", async () => {
  for (const version of ["18.20.8", "20.18.3"])
    await expectFailure(() => requireNode(">=20.19", version), EXIT.environment, version, "20.19");
  for (const version of ["20.19.0", "21.0.0", "24.1.0"])
    expect(() => requireNode(">=20.19", version)).not.toThrow();
});
