import { createPrivateKey, X509Certificate } from "node:crypto";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import {
  authorityOf,
  newStoreAuthority,
} from "../../../../../src/orchestrator/run/store/store-authority.js";
import { configuration } from "../../../../helpers/evidence.js";

test("its certificates hold for the named hosts alone, and its own key is nowhere in them", async () => {
  const { ca, key, certificateFor } = await newStoreAuthority();
  const [authority, store] = [
    new X509Certificate(ca),
    new X509Certificate(await certificateFor(["run-1-store-1", "127.0.0.1"])),
  ];
  expect(authority.ca).toBe(true);
  expect(authority.verify(authority.publicKey)).toBe(true);
  expect(store.ca).toBe(false);
  expect(store.verify(authority.publicKey)).toBe(true);
  expect(store.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(authority.checkPrivateKey(createPrivateKey(key))).toBe(false);
  expect(store.checkHost("run-1-store-1")).toBeDefined();
  expect(store.checkIP("127.0.0.1")).toBeDefined();
  expect(store.checkHost("run-1-store-2")).toBeUndefined();
  expect(store.checkIP("127.0.0.2")).toBeUndefined();
  expect(Date.parse(store.validFrom)).toBeLessThan(Date.now());
  expect(Date.parse(store.validTo)).toBeGreaterThan(Date.now());
});

test("a client that trusts the authority connects, one that does not is refused", async () => {
  const { ca, key, certificateFor } = await newStoreAuthority();
  const server = createServer({ key, cert: await certificateFor(["127.0.0.1"]) }, (socket) =>
    socket.end(),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const attempt = (trusted: { ca?: string }) =>
    new Promise<string>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port, ...trusted }, () => {
        resolve("connected");
        socket.destroy();
      });
      socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  expect(await attempt({ ca })).toBe("connected");
  expect(await attempt({})).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
});

test("a campaign has an authority where one of its stores is encrypted, and none otherwise", async () => {
  const plain = configuration;
  const encrypted = { ...plain, target: { ...plain.target, options: ["tls"] } };
  expect(await authorityOf([plain])).toBeUndefined();
  expect((await authorityOf([plain, encrypted]))?.ca).toContain("BEGIN CERTIFICATE");
});
