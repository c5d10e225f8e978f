import { existsSync, readFileSync } from "node:fs";
import type * as Kubernetes from "@kubernetes/client-node";
import type { KubernetesAccess } from "../../contract/machines.js";
import { environmentError, messageOf, usageError } from "../../kit/errors.js";
import { unknownContext } from "./failures.js";

const PACKAGE = new URL("../../../", import.meta.url);

/** The library takes 60 MB, so it is installed only where it is used. @throws environmentError */
export async function loadClientLibrary(): Promise<typeof Kubernetes> {
  const name = "@kubernetes/client-node";
  try {
    return await import(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    const { peerDependencies } = JSON.parse(readFileSync(new URL("package.json", PACKAGE), "utf8"));
    const install = existsSync(new URL("scripts/setup.sh", PACKAGE))
      ? "scripts/setup.sh --kubernetes"
      : `npm install ${name}@${peerDependencies[name]}, with --global if ratelimit-bench is installed so`;
    throw environmentError(
      `${name} is missing, which campaigns on Kubernetes need: run ${install}`,
    );
  }
}

/** The user's kubeconfig, with the context asked for. @throws environmentError; usageError */
export async function loadKubeConfig(
  access: Pick<KubernetesAccess, "context">,
): Promise<Kubernetes.KubeConfig> {
  const { KubeConfig } = await loadClientLibrary();
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (error) {
    throw environmentError(
      `the kubeconfig cannot be read (${messageOf(error).split("\n")[0]}): correct KUBECONFIG`,
      { cause: error },
    );
  }
  // Without any file the library invents a cluster at localhost:8080.
  if (!config.getCurrentCluster() || config.currentContext === "loaded-context")
    throw environmentError("there is no kubeconfig: set KUBECONFIG, or make ~/.kube/config");
  const names = config.getContexts().map(({ name }) => name);
  if (access.context !== undefined) {
    if (!names.includes(access.context)) throw usageError(unknownContext(access.context, names));
    config.setCurrentContext(access.context);
  }
  return config;
}

/**
 * The namespace of a context, which campaigns use unless another is given. @throws as
 * `loadKubeConfig`
 */
export async function contextNamespace(access: Pick<KubernetesAccess, "context">): Promise<string> {
  const config = await loadKubeConfig(access);
  return config.getContextObject(config.getCurrentContext())?.namespace ?? "default";
}
