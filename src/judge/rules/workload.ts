import type { Rule } from "../evidence.js";

/** M11: the server did the requested work per request. A test shows that the work grows linearly. */
export const workloadAsAsked: Rule = {
  id: "M11",
  check({ configuration, server }) {
    if (!configuration || !server) return { severity: "not applicable", text: "not a target of ours" };
    const { id, complexity } = configuration.workload;
    const offered = server.workloads.find((workload) => workload.id === id);
    if (!offered) return { severity: "invalid", text: `the server has no workload ${id}` };
    if (offered.complexity === complexity) return undefined;
    return {
      severity: "invalid",
      text: `${id} ran with complexity ${offered.complexity ?? "unknown"}, ${complexity ?? "none"} was requested`,
    };
  },
};
