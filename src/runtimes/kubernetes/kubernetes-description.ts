import type { V1ConfigMap, V1Pod } from "@kubernetes/client-node";
import type { KubernetesAccess } from "../../contract/machines.js";
import { BenchError, environmentError, messageOf } from "../../kit/errors.js";
import { ARCHITECTURES } from "../containers/container-description.js";
import { noImage } from "../containers/images.js";
import { OWNER_LABEL, ownerOf } from "../containers/labels.js";
import type { Leftover, RuntimeDescription } from "../runtime-types.js";
import { KubernetesApi } from "./api.js";
import { apiFailure } from "./failures.js";
import { fittingCaps, KubernetesRuntime, mostCpus, NO_DISCONNECT } from "./kubernetes-runtime.js";
import { checkPermissions } from "./permissions.js";
import { GRACE_S, OURS } from "./pod.js";

export function kubernetesRuntime(access: KubernetesAccess = { nodes: {} }): RuntimeDescription {
  const connect = () => KubernetesApi.connect(access);
  const nodes = async () => {
    try {
      return (await (await connect()).nodes()) ?? [];
    } catch {
      return [];
    }
  };
  return {
    id: "kubernetes",
    reaches: "kubernetes",
    async available() {
      let api: KubernetesApi | undefined;
      try {
        api = await connect();
        const version = await api.version();
        return {
          what: `Kubernetes ${version} answers (context ${api.context}, namespace ${api.namespace})`,
        };
      } catch (error) {
        return { unavailableReason: api ? apiFailure(error, api) : messageOf(error) };
      }
    },
    async platform() {
      const [node] = await nodes();
      const { architecture = "", operatingSystem } = node?.status?.nodeInfo ?? {};
      return operatingSystem === undefined
        ? undefined
        : { system: operatingSystem, architecture: ARCHITECTURES[architecture] ?? architecture };
    },
    cpus: async () => mostCpus(await nodes()),
    appliedCaps: (caps, cpus) => fittingCaps(caps, cpus),
    partFaults: { kill: true, pause: true, disconnect: NO_DISCONNECT },
    // A node pulls an image when it is needed.
    has: async (program) => (program.image ? true : noImage(program)),
    async open(options) {
      const api = await connect();
      try {
        const unchecked = await checkPermissions(api);
        if (unchecked !== undefined) options.onSetupStep(unchecked);
        return await KubernetesRuntime.open(api, access, options);
      } catch (error) {
        throw error instanceof BenchError
          ? error
          : environmentError(apiFailure(error, api), { cause: error });
      }
    },
    async leftovers(isAlive) {
      const found: Leftover[] = [];
      try {
        const api = await connect();
        const collect = async (
          kind: string,
          things: readonly (V1Pod | V1ConfigMap)[],
          remove: (name: string, uid: string | undefined) => Promise<unknown>,
        ): Promise<void> => {
          for (const { metadata: { name, uid, annotations } = {} } of things) {
            const owner = ownerOf(annotations?.[OWNER_LABEL]);
            if (!name || !owner || (await isAlive(owner))) continue;
            const what = `the ${kind} ${name} in the namespace ${api.namespace} that was left behind`;
            found.push({ what, remove: async () => void (await remove(name, uid)) });
          }
        };
        await collect("pod", await api.pods(OURS), (name, uid) =>
          api.deletePod(name, { graceS: GRACE_S, ...(uid ? { uid } : {}) }),
        );
        await collect("ConfigMap", await api.configMaps(OURS), (name) => api.deleteConfigMap(name));
      } catch {
        // A cluster that does not answer tells nothing; the next start asks again.
      }
      return found;
    },
    outdated: async () => [],
  };
}
