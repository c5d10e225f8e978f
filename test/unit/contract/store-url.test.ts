import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../../src/contract/errors.js";
import { parseStoreUrl, storeAddressFrom } from "../../../src/contract/store-url.js";
import { expectFailure } from "../../helpers/errors.js";
import { ROOT } from "../../helpers/programs.js";

const SECRET = "s3cret-p4ss";

describe("the address of a store that already runs", () => {
  test.each([
    ["redis://cache", { host: "cache", port: 6379, access: {} }],
    ["redis://10.0.0.7:7000/", { host: "10.0.0.7", port: 7000, access: {} }],
    ["redis://[::1]:7000", { host: "::1", port: 7000, access: {} }],
    [`redis://:${SECRET}@cache`, { host: "cache", port: 6379, access: { password: SECRET } }],
    [
      "rediss://al%40ice:p%3Aw%2F%25@cache:1",
      { host: "cache", port: 1, access: { username: "al@ice", password: "p:w/%", tls: {} } },
    ],
  ])("%s is understood", (text, address) => {
    expect(parseStoreUrl(text)).toEqual(address);
  });

  test.each([
    [`:${SECRET}@cache`, "redis://host:port"],
    [`http://u:${SECRET}@cache`, "redis://"],
    [`redis://u:${SECRET}@cache/3`, "without a path"],
    [`redis://u:${SECRET}@cache?db=3`, "without a path"],
    [`redis://u:12/${SECRET}@cache`, "%2F"],
    [`redis://:a/${SECRET}@cache`, "%2F"],
    [`redis://u:1#${SECRET}@cache`, "%23"],
    [`redis://u:${SECRET}@`, "redis"],
    [`redis://u:${SECRET}@cache:70000`, "redis"],
    [`redis://u:${SECRET}%zz@cache`, "redis"],
  ])("is refused where it is wrong, and never repeated: %s", async (text, message) => {
    await expectFailure(() => parseStoreUrl(text), EXIT.usage, message);
    const told = await Promise.resolve()
      .then(() => parseStoreUrl(text))
      .catch((error: Error) => error.message);
    expect(told).not.toContain(SECRET);
  });

  test("a certificate is of no use without encryption", async () => {
    await expectFailure(() => parseStoreUrl("redis://cache", { ca: "PEM" }), EXIT.usage, "rediss://");
  });

  test("a certificate of its own needs the key, and both are read", async () => {
    const url = { STORE_URL: "rediss://cache" };
    const tls = (file: string) => join(ROOT, "test/fixtures/tls", file);
    const both = { STORE_CERT: tls("cert.pem"), STORE_KEY: tls("key.pem") };
    for (const [name, path] of Object.entries(both))
      await expectFailure(() => storeAddressFrom({ ...url, [name]: path }), EXIT.usage, "STORE_KEY");
    expect(storeAddressFrom({ ...url, ...both })?.access.tls).toEqual({
      cert: readFileSync(both.STORE_CERT, "utf8"),
      key: readFileSync(both.STORE_KEY, "utf8"),
    });
  });

  test("an unreadable certificate is an error that names the variable", async () => {
    const env = { STORE_URL: "rediss://cache", STORE_CA: "/nowhere/ca.pem" };
    await expectFailure(() => storeAddressFrom(env), EXIT.usage, "STORE_CA");
  });
});
