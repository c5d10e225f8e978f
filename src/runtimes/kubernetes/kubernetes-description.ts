import type { V1ConfigMap, V1Pod } from "@kubernetes/client-node";
import type { KubernetesAccess } from "../../contract/machines.js";
import { definedOnly } from "../../kit/defined-only.js";
import { BenchError, environmentError, messageOf } from "../../kit/errors.js";
import { ARCHITECTURES } from "../containers/container-description.js";
import { noImage } from "../containers/images.js";
import { OWNER_LABEL, ownerOf } from "../containers/labels.js";
import type { IsAlive, Leftover, RuntimeDescription } from "../runtime-types.js";
import { apiFailure } from "./failures.js";
import { KubernetesApi } from "./kubernetes-api.js";
import { KubernetesRuntime, NO_DISCONNECT } from "./kubernetes-runtime.js";
import { checkPermissions } from "./permissions.js";
import { GRACE_S, OURS } from "./pod.js";
import { mostCpus, podCaps } from "./pod-caps.js";

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
    appliedCaps: (caps, cpus) => podCaps(caps, cpus),
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
      const leftovers: Leftover[] = [];
      try {
        const api = await connect();
        leftovers.push(...(await podsLeft(api, isAlive)));
        leftovers.push(...(await configMapsLeft(api, isAlive)));
      } catch {
        // A cluster that does not answer tells nothing; the next start asks again.
      }
      return leftovers;
    },
    outdated: async () => [],
  };
}

async function podsLeft(api: KubernetesApi, isAlive: IsAlive): Promise<Leftover[]> {
  const pods = await ownedByDead(await api.pods(OURS), isAlive);
  return pods.map(({ name, uid }) => ({
    what: `the pod ${name} in the namespace ${api.namespace} that was left behind`,
    remove: async () => {
      await api.deletePod(name, definedOnly({ graceS: GRACE_S, uid }));
    },
  }));
}

async function configMapsLeft(api: KubernetesApi, isAlive: IsAlive): Promise<Leftover[]> {
  const maps = await ownedByDead(await api.configMaps(OURS), isAlive);
  return maps.map(({ name }) => ({
    what: `the ConfigMap ${name} in the namespace ${api.namespace} that was left behind`,
    remove: async () => {
      await api.deleteConfigMap(name);
    },
  }));
}

/** Name and id of the objects whose owner, a process, has ended. */
async function ownedByDead(
  objects: readonly (V1Pod | V1ConfigMap)[],
  isAlive: IsAlive,
): Promise<{ name: string; uid: string | undefined }[]> {
  const dead: { name: string; uid: string | undefined }[] = [];
  for (const { metadata: { name, uid, annotations } = {} } of objects) {
    const owner = ownerOf(annotations?.[OWNER_LABEL]);
    if (!name || !owner || (await isAlive(owner))) continue;
    dead.push({ name, uid });
  }
  return dead;
}
