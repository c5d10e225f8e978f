import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { EXIT } from "../../../../src/kit/errors.js";
import type { Use } from "../../../../src/runtimes/kubernetes/kubernetes-api.js";
import { KubernetesError } from "../../../../src/runtimes/kubernetes/kubernetes-error.js";
import {
  checkPermissions,
  permissions,
  permissionsFor,
  type Reviewer,
  roleYaml,
  useText,
} from "../../../../src/runtimes/kubernetes/permissions.js";
import { expectFailure } from "../../../helpers/errors.js";

const documentsOf = (yaml: string) => parseAllDocuments(yaml).map((document) => document.toJS());

/** A cluster that grants all but some rights. */
const cluster = (refused: readonly Use[], version = "v1.35.0"): Reviewer => ({
  namespace: "bench",
  version: async () => version,
  userName: async () => "system:serviceaccount:bench:nightly",
  allows: async (use) => !refused.some((other) => useText(other) === useText(use)),
});

describe("the Role", () => {
  test("has exactly the rights of the list, for a service account", () => {
    const [account, role, binding] = documentsOf(roleYaml({ namespace: "bench", name: "nightly" }));
    const rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[] = role.rules;
    expect(rules.every(({ apiGroups }) => apiGroups.length === 1 && apiGroups[0] === "")).toBe(
      true,
    );
    const granted = rules.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    );
    expect(granted.toSorted()).toEqual(permissions.map(useText).toSorted());
    expect(account).toMatchObject({
      kind: "ServiceAccount",
      metadata: { name: "nightly", namespace: "bench" },
    });
    expect(binding).toMatchObject({
      kind: "RoleBinding",
      roleRef: { kind: "Role", name: "nightly" },
      subjects: [{ kind: "ServiceAccount", name: "nightly", namespace: "bench" }],
    });
  });

  test("goes to a user instead, and makes no account then", () => {
    const documents = documentsOf(
      roleYaml({ namespace: "bench", name: "x", user: "jane@example.org" }),
    );
    expect(documents.map(({ kind }) => kind)).toEqual(["Role", "RoleBinding"]);
    expect(documents[1].subjects).toEqual([
      { kind: "User", name: "jane@example.org", apiGroup: "rbac.authorization.k8s.io" },
    ]);
  });
});

describe("the check before the first run", () => {
  test.each(permissions.map((permission) => [useText(permission), permission] as const))(
    "names a missing right: %s",
    async (text, permission) => {
      await expectFailure(
        () => checkPermissions(cluster([permission])),
        EXIT.environment,
        `the user system:serviceaccount:bench:nightly may not ${text} in the namespace bench`,
        "`ratelimit-bench kubernetes role --namespace bench --name nightly | kubectl apply -f -`",
      );
    },
  );

  test("does not ask an older cluster for what only a newer one needs", async () => {
    const newer = permissions.filter(({ sinceMinor }) => sinceMinor !== undefined);
    expect(newer.map(useText)).toEqual(["create pods/exec"]);
    expect(await checkPermissions(cluster(newer, "v1.34.4+k3s1"))).toBeUndefined();
    expect(permissionsFor(undefined)).toEqual(permissions);
  });

  test("only tells that reviews are forbidden, where they are", async () => {
    const closed: Reviewer = {
      ...cluster([]),
      allows: async () => {
        throw new KubernetesError("create selfsubjectaccessreviews", "no reviews here", 403);
      },
    };
    expect(await checkPermissions(closed)).toContain("a missing one shows when it is used");
  });

  test("refuses a cluster that does not answer or does not know the user", async () => {
    const failing = (status?: number): Reviewer => ({
      ...cluster([]),
      version: async () => {
        throw new KubernetesError("get /version", "nobody answers", status);
      },
    });
    await expectFailure(() => checkPermissions(failing()), EXIT.environment, "nobody answers");
    await expectFailure(() => checkPermissions(failing(401)), EXIT.environment, "log in again");
  });
});
