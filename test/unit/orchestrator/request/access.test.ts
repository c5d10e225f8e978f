import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import { parseCampaign } from "../../../../src/orchestrator/request/parse-request.js";
import { expectFailure } from "../../../helpers/errors.js";

const request = (...flags: string[]) => parseCampaign(["--clients", "none", ...flags], {});

describe("access to a Kubernetes", () => {
  test("has what was given", () => {
    const flags = "--kube-context prod --namespace bench --node-store disk=ssd --host-network".split(" ");
    const registry = ["--registry", "registry.example.org:5000/bench/"];
    expect(request("--runtime", "kubernetes", ...flags, ...registry)?.access).toEqual({
      kubernetes: {
        context: "prod",
        namespace: "bench",
        nodes: { store: "disk=ssd" },
        host_network: true,
        registry: "registry.example.org:5000/bench",
      },
    });
    expect(request("--runtime", "kubernetes")?.access).toEqual({ kubernetes: { nodes: {} } });
    expect(request()?.access).toEqual({});
  });

  test.each([
    ["--namespace", "Bench"],
    ["--namespace", "a/b"],
    ["--node-server", "a=b=c"],
    ["--registry", "https://registry.example.org"],
    ["--registry", "registry.example.org/bench:1"],
  ])("%s %s is refused", async (flag, value) => {
    await expectFailure(() => request("--runtime", "kubernetes", flag, value), EXIT.usage, flag, value);
  });

  test.each([
    ["--kube-context", "x"],
    ["--namespace", "x"],
    ["--node-store", "a=b"],
    ["--registry", "r.example"],
    ["--host-network"],
  ])("%s is refused with another runtime", async (...flags) => {
    const [flag = ""] = flags;
    const asked = () => request("--runtime", "docker", ...flags);
    await expectFailure(asked, EXIT.usage, flag, "--runtime kubernetes");
  });
});
