import { expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { expectedRuntime } from "../../../../src/orchestrator/campaign/choose-runtime.js";
import { expectFailure } from "../../../helpers/errors.js";
import { requestOf } from "../../../helpers/request.js";

test("a named program needs this machine, a named image needs containers, and both need --runtime", async () => {
  const program = ["--program", "valkey=/opt/v"];
  const image = ["--image", "valkey=v:1"];
  expect((await expectedRuntime(requestOf(...program))).description.id).toBe("local");
  const both = requestOf(...program, ...image);
  await expectFailure(() => expectedRuntime(both), EXIT.usage, "--image", "--runtime");
  const chosen = await expectedRuntime(requestOf(...program, ...image, "--runtime", "docker"));
  expect(chosen.description.id).toBe("docker");
});
