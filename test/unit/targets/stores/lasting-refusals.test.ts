import { expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { LastingRefusal, waitUntil } from "../../../../src/targets/stores/deciding.js";
import { remedyFor } from "../../../../src/targets/stores/resp/nodes.js";
import { expectFailure } from "../../../helpers/errors.js";

const failure = (message: string, code?: string): Error =>
  Object.assign(new Error(message), { code });

test("what mends a refusal of a password or a certificate is known at once", () => {
  expect(remedyFor(failure("WRONGPASS invalid username-password pair"))).toContain("STORE_URL");
  expect(remedyFor(failure("NOAUTH Authentication required."))).toContain("STORE_URL");
  expect(remedyFor(failure("no", "SELF_SIGNED_CERT_IN_CHAIN"), { tls: {} })).toMatch(
    /with STORE_CA$/,
  );
  expect(remedyFor(failure("no", "SELF_SIGNED_CERT_IN_CHAIN"), { tls: { ca: "PEM" } })).toMatch(
    /^STORE_CA /,
  );
  for (const starting of [
    failure("connect ECONNREFUSED", "ECONNREFUSED"),
    failure("LOADING Redis"),
  ])
    expect(remedyFor(starting)).toBeUndefined();
});

test("nothing waits for a store whose refusal lasts", async () => {
  let asked = 0;
  const refuses = async () => {
    asked++;
    throw new LastingRefusal("WRONGPASS");
  };
  await expectFailure(
    () => waitUntil("store", Number.POSITIVE_INFINITY, refuses),
    EXIT.environment,
    "WRONGPASS",
  );
  expect(asked).toBe(1);
});
