import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { onTestFinished } from "vitest";

/** A real cluster, as its administrator: the kubeconfig of the tests. */

/** What kubectl prints. @throws Error with what it complained of */
export function kubectl(...parameters: string[]): string {
  return execFileSync("kubectl", parameters, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** Creates or changes what a manifest says. */
export function apply(namespace: string, manifest: string): void {
  execFileSync("kubectl", ["--namespace", namespace, "apply", "--filename", "-"], {
    input: manifest,
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** A namespace for the test alone, which goes with all that is in it. */
export function testNamespace(labels: Readonly<Record<string, string>> = {}): string {
  const name = `ratelimit-bench-test-${randomBytes(3).toString("hex")}`;
  kubectl("create", "namespace", name);
  onTestFinished(
    () => void kubectl("delete", "namespace", name, "--ignore-not-found", "--wait=false"),
  );
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  if (pairs.length > 0) kubectl("label", "namespace", name, ...pairs);
  return name;
}

/** Path of a kubeconfig for a service account: the current cluster with the account's token. */
export function accountKubeconfig(namespace: string, account: string): string {
  const token = kubectl("--namespace", namespace, "create", "token", account);
  const config = new KubeConfig();
  config.loadFromDefault();
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error("the kubeconfig of the tests has no current cluster");
  const accountConfig = new KubeConfig();
  accountConfig.loadFromOptions({
    clusters: [cluster],
    users: [{ name: account, token }],
    contexts: [{ name: account, cluster: cluster.name, user: account, namespace }],
    currentContext: account,
  });
  const folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "config");
  writeFileSync(path, accountConfig.exportConfig(), { mode: 0o600 });
  return path;
}
