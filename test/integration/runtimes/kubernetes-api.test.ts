import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { apiFailure } from "../../../src/runtimes/kubernetes/failures.js";
import { KubernetesApi } from "../../../src/runtimes/kubernetes/kubernetes-api.js";
import { temporaryFolders } from "../../helpers/folders.js";

/**
 * What a real cluster answers is in test/kubernetes, and recorded in test/unit/runtimes/kubernetes.
 */
const newFolder = temporaryFolders();

/** The kubeconfig of a server that accepts connections and never answers. */
async function silentCluster(): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const path = join(newFolder(), "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "silent", cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "user", user: { token: "t" } }],
    contexts: [
      { name: "silent", context: { cluster: "silent", user: "user", namespace: "bench" } },
    ],
    "current-context": "silent",
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

test("a cluster that hangs ends each request after a while", async () => {
  vi.stubEnv("KUBECONFIG", await silentCluster());
  onTestFinished(() => void vi.unstubAllEnvs());
  const api = await KubernetesApi.connect({ nodes: {} });
  const errors = await Promise.all([
    api.pods("").catch((error) => error),
    api.exec("one", "main", ["true"]).catch((error) => error),
  ]);
  for (const error of errors) expect(apiFailure(error, api)).toContain("context silent hangs");
});
