import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { environmentError, messageOf } from "../../kit/errors.js";

const answerSchema = z.object({
  checks: z.array(
    z.object({
      check: z.string(),
      status: z.enum(["ok", "warn", "fail"]),
      text: z.string(),
      fix: z.string().optional(),
    }),
  ),
});
export type MachineCheck = z.infer<typeof answerSchema>["checks"][number];

/** A check on one line, e.g. `cores: 2 – 4 or more give each role its own`. */
export const checkText = ({ check, text, fix }: MachineCheck): string =>
  `${check}: ${text.trim()}${fix ? ` – ${fix}` : ""}`;

/** Checks this machine with `scripts/check-config.sh`. @throws environmentError where that fails */
export async function runChecks(runtime: string, packageFolder: string): Promise<MachineCheck[]> {
  const script = join(packageFolder, "scripts", "check-config.sh");
  const { stdout } = await execa("bash", [script, "--json", "--runtime", runtime], {
    reject: false,
    stdin: "ignore",
  });
  try {
    return answerSchema.parse(JSON.parse(stdout)).checks;
  } catch (error) {
    throw environmentError(`${script} gave no answer: ${messageOf(error).split("\n")[0]}`, {
      cause: error,
    });
  }
}

/**
 * Why figures of this machine should not be quoted: every warning with its fix; undefined where
 * there is none.
 */
export async function unfitReason(
  runtime: string,
  packageFolder: string,
): Promise<string | undefined> {
  const checks = await runChecks(runtime, packageFolder);
  const warnings = checks.filter(({ status }) => status !== "ok");
  if (warnings.length === 0) return undefined;
  const reasons = warnings.map(checkText).join("; ");
  return `this machine is not fit for quotable figures (${reasons}); --force starts anyway`;
}

/**
 * Node.js reserves much address space for each WebAssembly memory, and libraries that we use have
 * several.
 */
const WASM_MEMORIES = 2;

/** The types of Node.js have WebAssembly as a name alone. */
function wasmMemory(): unknown {
  const { WebAssembly } = globalThis as unknown as {
    WebAssembly: { Memory: new (pages: { initial: number }) => unknown };
  };
  return new WebAssembly.Memory({ initial: 1 });
}

/**
 * @param allocate takes what one WebAssembly memory needs
 * @throws environmentError where `ulimit -v` leaves Node.js too little address space
 */
export function requireAddressSpace(allocate = wasmMemory): void {
  try {
    Array.from({ length: WASM_MEMORIES }, allocate);
  } catch (error) {
    const text =
      "the address space of processes is limited, and Node.js needs more: run ulimit -v unlimited";
    throw environmentError(text, { cause: error });
  }
}

export async function requireFitMachine(runtime: string, packageFolder: string): Promise<void> {
  const why = await unfitReason(runtime, packageFolder);
  if (why !== undefined) throw environmentError(why);
}
