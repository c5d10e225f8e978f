import { Argument } from "commander";
import { definedOnly } from "../../kit/defined-only.js";
import { BenchError, EXIT, environmentError, usageError } from "../../kit/errors.js";
import { contextNamespace } from "../../runtimes/kubernetes/kubeconfig.js";
import { ROLE_NAME, roleYaml } from "../../runtimes/kubernetes/permissions.js";
import { createCommand } from "../request/command-line.js";
import { parsedCommand } from "./command-types.js";

const AFTER = `
  role    prints a Role with the least rights that a campaign needs in one namespace, each with what it is for, a
          service account (or --user) and their binding, as YAML for kubectl

Examples:
  ratelimit-bench kubernetes role --namespace bench | kubectl apply -f -
  kubectl -n bench create token ratelimit-bench --duration 8h

docs/kubernetes.md tells the rest.`;

const definition = () =>
  createCommand("ratelimit-bench kubernetes")
    .description("Prints the least rights that campaigns in a Kubernetes need.")
    .addArgument(new Argument("<action>", "what to do").choices(["role"]))
    .option("--namespace <name>", "where campaigns run (default: that of the kubeconfig's context)")
    .option("--kube-context <name>", "context that tells the namespace (default: the current one)")
    .option("--name <name>", "of the Role, its binding and the service account", ROLE_NAME)
    .option("--user <name>", "user who gets the Role, instead of a service account")
    .addHelpText("after", AFTER);

/** What Kubernetes takes for a name of a namespace or a service account. */
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** A user may have any name; it goes into a line of YAML and of a shell. */
const USER = /^[^\s\p{C}'"`$\\]{1,200}$/u;

function requireName(flag: string, name: string, pattern = NAME): string {
  if (pattern.test(name)) return name;
  const valid =
    pattern === NAME
      ? "small letters, digits and hyphens, at most 63"
      : "a name without spaces and quotes";
  throw usageError(`${flag} ${JSON.stringify(name.slice(0, 80))}: give ${valid}`);
}

async function namespaceOf(context: string | undefined): Promise<string> {
  try {
    return await contextNamespace(context === undefined ? {} : { context });
  } catch (error) {
    if (!(error instanceof BenchError) || error.exitCode !== EXIT.environment) throw error;
    throw environmentError(`${error.message}; or give --namespace`, { cause: error });
  }
}

type Options = { namespace?: string; kubeContext?: string; name: string; user?: string };

export const kubernetes = parsedCommand("kubernetes", definition, async (command, { print }) => {
  const { namespace, kubeContext, name, user } = command.opts<Options>();
  const identity = definedOnly({
    namespace: requireName("--namespace", namespace ?? (await namespaceOf(kubeContext))),
    name: requireName("--name", name),
    user: user === undefined ? undefined : requireName("--user", user, USER),
  });
  const yaml = roleYaml(identity);
  print(yaml.trimEnd());
  return EXIT.done;
});
