import { expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { expectedRuntime } from "../../../../src/orchestrator/campaign/choose-runtime.js";
import { expectFailure } from "../../../helpers/errors.js";
import { requestOf } from "../../../helpers/request.js";

test("a named program needs this machine, a named image needs containers, and both need --runtime", async () => {
  const program = ["--program", "valkey=/opt/v"];
  const image = ["--image", "valkey=v:1"];
  expect((await expectedRuntime(requestOf(...program).place)).description.id).toBe("local");
  const both = requestOf(...program, ...image).place;
  await expectFailure(() => expectedRuntime(both), EXIT.usage, "--image", "--runtime");
  const { place } = requestOf(...program, ...image, "--runtime", "docker");
  const chosen = await expectedRuntime(place);
  expect(chosen.description.id).toBe("docker");
});
