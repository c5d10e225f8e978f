import type { V1Pod } from "@kubernetes/client-node";
import type { KubernetesApi } from "./api.js";

/** How often a pod is read that is waited for: a watch may be cut without a word. */
const READ_EVERY_MS = 5_000;

/** The state of all pods of a campaign, by one watch. */
export class PodWatch {
  readonly #api: KubernetesApi;
  readonly close: () => void;
  readonly #pods = new Map<string, V1Pod>();
  readonly #listeners = new Map<string, (pod: V1Pod | undefined) => void>();

  constructor(api: KubernetesApi, selector: string) {
    this.#api = api;
    this.close = api.watchPods(selector, (name, pod) => this.#set(name, pod));
  }

  #set(name: string, pod: V1Pod | undefined): void {
    const known = this.#pods.get(name);
    // An event may come after a newer reading.
    const [before, now] = [known, pod].map((each) => Number(each?.metadata?.resourceVersion ?? 0));
    if (pod && before !== undefined && now !== undefined && now < before) return;
    if (pod) this.#pods.set(name, pod);
    else this.#pods.delete(name);
    this.#listeners.get(name)?.(pod);
  }

  onChange(name: string, listener: (pod: V1Pod | undefined) => void): () => void {
    this.#listeners.set(name, listener);
    const timer = setInterval(() => {
      this.#api.pod(name).then(
        (pod) => this.#listeners.get(name) === listener && this.#set(name, pod),
        () => {},
      );
    }, READ_EVERY_MS);
    timer.unref();
    const pod = this.#pods.get(name);
    if (pod) listener(pod);
    return () => {
      clearInterval(timer);
      if (this.#listeners.get(name) === listener) this.#listeners.delete(name);
    };
  }
}
