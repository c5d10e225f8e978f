import { isApp } from "../../contract/app.js";
import { isClientLayer } from "../../contract/layers.js";
import { isRequestedVersion, usesStore } from "../../contract/target.js";
import { sum } from "../../kit/numbers.js";
import { answeredRequests, failures } from "../counts.js";
import {
  type Evidence,
  explained,
  hasEffect,
  invalid,
  notApplicable,
  notChecked,
  type Rule,
  type RuleFinding,
  suspect,
} from "../evidence.js";

/** M10 demands that the traffic determines the mix of outcomes, not the client's speed. */
export const mixAsPredicted: Rule = {
  id: "M10",
  check({ prediction, configuration, consumers, counts, faults, boundary }) {
    if (consumers.length === 0) return notApplicable("the server reports no limits");
    // The limiter's promise is judged key by key, and a broken one is the target's outcome (M24).
    if (boundary)
      return notApplicable(
        "quotas bind, so what was admitted is compared key by key with what the limiter promises",
      );
    const answers = answeredRequests(counts);
    if (!prediction) {
      if (answers === 0) return notApplicable("nothing was answered");
      const hasLimiter = configuration !== undefined && configuration.target.limiter !== "none";
      return hasLimiter
        ? notChecked("the predicted share of limited answers")
        : notApplicable("the target has no limiter");
    }

    const { limited_share: expected, seen_share: seen, tolerance, basis } = prediction;
    // Each failed request would have been allowed or limited, and nobody knows which: failures are
    // the outcome's (M24).
    const failed = failures(counts);
    const least = (seen * answers) / (answers + failed);
    const most = (seen * answers + failed) / (answers + failed);
    if (expected >= least - tolerance && expected <= most + tolerance) return undefined;
    // Quotas may have begun anew, and a limiter may admit all while it cannot reach its store.
    if ((faults ?? []).length > 0 && (failed > 0 || hasEffect({ faults }, ["forgets", "cuts"])))
      return explained("outcome mix");

    const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
    const text = `${percent(seen)} of the answers were limited, ${percent(expected)} predicted (± ${percent(tolerance)})`;

    // With explicit limits the mix depends on the speed, and the prediction is approximate.
    return basis === "traffic" ? invalid(text) : suspect(`${text} under explicit limits`);
  },
};

/**
 * M11: the server did the requested work per request. A test shows that the work grows linearly.
 */
export const workloadAsAsked: Rule = {
  id: "M11",
  check({ configuration, consumers, request }) {
    if (!configuration || consumers.length === 0) return notApplicable("not a target of ours");
    if (isClientLayer(request.layer)) return notApplicable("no endpoint at the limiter layer");

    const { id, complexity } = configuration.workload;

    for (const consumer of consumers) {
      const offered = consumer.workloads.find((workload) => workload.id === id);
      if (!offered) return invalid(`${consumer.id} has no workload ${id}`);
      if (offered.complexity === complexity) continue;
      return invalid(
        `${id} ran with complexity ${offered.complexity ?? "unknown"}, ${complexity ?? "none"} was requested`,
      );
    }

    return undefined;
  },
};

/** A reconnected client sends its whole script once, so this share of other commands is allowed. */
const OTHER_COMMANDS_SHARE = 0.001;

/** Counts how often each command ran the limiter's script without failing. */
function scriptCommands({ store }: Evidence): Map<string, number> {
  const ran = new Map<string, number>();
  for (const { at_start, at_end } of store?.nodes ?? []) {
    for (const [command, { calls, failed }] of Object.entries(at_end.script_calls ?? {})) {
      const before = at_start.script_calls?.[command];
      const succeeded = calls - failed - (before ? before.calls - before.failed : 0);
      if (succeeded > 0) ran.set(command, (ran.get(command) ?? 0) + succeeded);
    }
  }
  return ran;
}

function withoutScript(evidence: Evidence): RuleFinding | undefined {
  const { store } = evidence;
  const runsScripts = store?.nodes.some(({ at_end }) => at_end.script_calls !== undefined) ?? true;
  if (!runsScripts) return undefined;
  const decided = sum((store?.nodes ?? []).map(({ at_end }) => at_end.decisions ?? 0));
  if (decided > 0 && scriptCommands(evidence).size === 0) return undefined;
  return suspect("the limiter's script is not known: client and script cannot be separated");
}

/** M12: the configured target was measured, and what a comparison needs is known. */
export const disclosed: Rule = {
  id: "M12",
  check(evidence) {
    const { configuration, consumers } = evidence;
    const [first] = consumers;
    if (!configuration || !first) return notApplicable("not a target of ours");
    const { target } = configuration;
    const mismatched = consumers.find((consumer) => consumer.target !== target.text);
    if (mismatched)
      return invalid(`${mismatched.id} measured ${mismatched.target}, not ${target.text}`);
    if (!usesStore(target)) return undefined;
    if (first.client_settings.protocol === undefined)
      return suspect("the client's protocol is not known");

    const script = first.limiter_script;
    if (!script) return target.module ? undefined : withoutScript(evidence);
    const ran = scriptCommands(evidence);
    const total = sum([...ran.values()]);
    const others = [...ran].filter(([command]) => command !== script.kind);
    if (sum(others.map(([, calls]) => calls)) <= OTHER_COMMANDS_SHARE * total) return undefined;
    if (hasEffect(evidence, ["unloads"])) return explained("commands that ran the script");
    const commandList = others.map(([command, calls]) => `${calls} ${command}`).join(", ");

    return suspect(`the limiter runs by ${script.kind}, but the store also ran ${commandList}`);
  },
};

/** M19: versions are known from run time, and they are the requested ones. */
export const versionsSeen: Rule = {
  id: "M19",
  check({ configuration, versions }) {
    if (!configuration) return notApplicable("not a target of ours");
    const { target } = configuration;
    // Elsewhere the limiter is a part of the store or the service, and has its version.
    const isLibrary = ["library", "in-process", undefined].includes(target.decided_by);
    const neededParts: ("client" | "store" | "limiter")[] = [];
    // An app has a client of its own, which it does not name.
    if (usesStore(target)) neededParts.push(...(isApp(target) ? [] : ["client" as const]), "store");
    if (target.limiter !== "none" && isLibrary) neededParts.push("limiter");

    const requested = { client: target.client_version, limiter: target.limiter_version };
    const differing = (["client", "limiter"] as const).find(
      (name) => requested[name] !== undefined && requested[name] !== versions[name],
    );
    if (differing) {
      const loadedVersion = versions[differing] ?? "none";
      return invalid(
        `version ${requested[differing]} of the ${differing} was requested, but ${loadedVersion} was loaded`,
      );
    }

    const store = target.store_version;
    if (store && versions.store && !isRequestedVersion(store, versions.store))
      return invalid(`version ${store} of the store was requested, but ${versions.store} ran`);
    if (target.node && versions.node && !isRequestedVersion(target.node, versions.node))
      return invalid(`Node ${target.node} was requested, but the server ran in ${versions.node}`);
    const missing = neededParts.filter((name) => !versions[name]);

    return missing.length > 0
      ? suspect(`the version of ${missing.join(" and ")} is not known`)
      : undefined;
  },
};
