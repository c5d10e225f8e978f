import { expect, onTestFinished, test, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { EXIT } from "../../src/kit/errors.js";
import { KubernetesApi } from "../../src/runtimes/kubernetes/kubernetes-api.js";
import {
  checkPermissions,
  type Permission,
  permissionsFor,
  roleYaml,
  useText,
} from "../../src/runtimes/kubernetes/permissions.js";
import { expectFailure } from "../helpers/errors.js";
import { accountKubeconfig, apply, testNamespace } from "../helpers/kubectl.js";
import { needs } from "../helpers/needs.js";
import { until } from "../helpers/store.js";

/** The generated Role on a real cluster, where the API server decides. */

const NAME = "nightly";

/** The Role without a right. */
function without(namespace: string, { verb, resource }: Permission): string {
  const [, role] = parseAllDocuments(roleYaml({ namespace, name: NAME })).map((document) =>
    document.toJS(),
  );
  for (const rule of role.rules) {
    if (rule.resources[0] !== resource) continue;
    rule.verbs = rule.verbs.filter((other: string) => other !== verb);
  }
  role.rules = role.rules.filter(({ verbs }: { verbs: string[] }) => verbs.length > 0);
  return JSON.stringify(role);
}

async function asAccount(namespace: string): Promise<KubernetesApi> {
  vi.stubEnv("KUBECONFIG", accountKubeconfig(namespace, NAME));
  onTestFinished(() => void vi.unstubAllEnvs());
  const api = await KubernetesApi.connect({ nodes: {} });
  vi.unstubAllEnvs();
  return api;
}

test(
  "the generated Role is enough, and each right that is taken away is named with the command that grants it",
  needs(["kubernetes"]),
  async () => {
    const namespace = testNamespace();
    const whole = roleYaml({ namespace, name: NAME });
    apply(namespace, whole);
    const api = await asAccount(namespace);
    const needed = permissionsFor(await api.version());
    await until(async () =>
      (await Promise.all(needed.map((right) => api.allows(right)))).every(Boolean),
    );
    expect(await checkPermissions(api)).toBeUndefined();
    for (const right of needed) {
      apply(namespace, without(namespace, right));
      await until(async () => !(await api.allows(right)));
      await expectFailure(
        () => checkPermissions(api),
        EXIT.environment,
        `the user system:serviceaccount:${namespace}:${NAME} may not ${useText(right)} in the namespace ${namespace}:`,
        `\`ratelimit-bench kubernetes role --namespace ${namespace} --name ${NAME} | kubectl apply -f -\``,
      );
      apply(namespace, whole);
      await until(() => api.allows(right));
    }
    expect(await checkPermissions(api)).toBeUndefined();
  },
);
