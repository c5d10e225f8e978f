import type * as Kubernetes from "@kubernetes/client-node";
import type { KubernetesApi } from "./kubernetes-api.js";

/** How often a pod is read that is waited for: a watch may be cut without a word. */
const READ_EVERY_MS = 5_000;

const resourceVersionOf = (pod: Kubernetes.V1Pod | undefined): number =>
  Number(pod?.metadata?.resourceVersion ?? 0);

/** The state of all pods of a campaign, by one watch. */
export function podWatch(api: KubernetesApi, selector: string) {
  const pods = new Map<string, Kubernetes.V1Pod>();
  const listeners = new Map<string, (pod: Kubernetes.V1Pod | undefined) => void>();
  const set = (name: string, pod: Kubernetes.V1Pod | undefined): void => {
    // An event may come after a newer reading.
    if (pod && resourceVersionOf(pod) < resourceVersionOf(pods.get(name))) return;
    if (pod) pods.set(name, pod);
    else pods.delete(name);
    listeners.get(name)?.(pod);
  };
  return {
    close: api.watchPods(selector, set),
    onChange(name: string, listener: (pod: Kubernetes.V1Pod | undefined) => void): () => void {
      listeners.set(name, listener);
      const timer = setInterval(() => {
        api.pod(name).then(
          (pod) => listeners.get(name) === listener && set(name, pod),
          () => {},
        );
      }, READ_EVERY_MS);
      timer.unref();
      const pod = pods.get(name);
      if (pod) listener(pod);
      return () => {
        clearInterval(timer);
        if (listeners.get(name) === listener) listeners.delete(name);
      };
    },
  };
}

export type PodWatch = ReturnType<typeof podWatch>;
