import { shellQuoted } from "../../kit/shell-words.js";

/**
 * The first process of every pod: a shell that runs the program as its child. A kill of the first
 * process from inside a container does nothing, and its end would end the pod. So the child can be
 * killed, stopped and started again while the pod, its address and its counters stay.
 *
 * It prints to the pod's log: the program's standard error as it comes, then its standard output,
 * which the program writes to a file. A pod's log has only one stream, so the two cannot be told
 * apart otherwise. Lines that begin with the part's mark are the supervisor's own.
 */

/** The folder of the supervisor, which is in memory, below the part's own folder. */
export const SUPERVISOR_FOLDER = "/tmp/.supervisor";

/**
 * The longest output that is printed, because the kubelet rotates a log at 10 MiB. A longer one waits
 * to be read by exec.
 */
export const MOST_LOGGED_BYTES = 8 * 1024 ** 2;

/**
 * Arguments: the mark, whether the program takes input (`yes`), then the program and its arguments.
 * `control` holds back a start until a line is written to it; a named pipe costs nothing while it
 * waits.
 */
export const SUPERVISOR = `
mark=$1 input=$2; shift 2
cd_to=$PWD d=${SUPERVISOR_FOLDER}
mkdir -p $d && mkfifo $d/control $d/input || exit 125
exec 7<>$d/control 8<>$d/input
child=
say() { printf '\\n%s %s\\n' "$mark" "$*"; }
end() { [ -n "$child" ] && kill -9 $child 2>/dev/null; exit 143; }
trap end TERM
killed_for_memory() {
  n=$(sed -n 's/^oom_kill //p' /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null)
  [ "\${n:-0}" -gt 0 ]
}
: >$d/output
while :; do
  if [ "$input" = yes ]; then "$@" 2>&1 >>$d/output <$d/input 7>&- 8>&- &
  else "$@" 2>&1 >>$d/output </dev/null 7>&- 8>&- &
  fi
  child=$!
  echo $child >$d/pid
  say started $child
  wait $child; code=$?
  child=
  [ -e $d/hold ] || break
  say down $code
  read -r line <&7
done
killed_for_memory && reason=memory || reason=itself
bytes=$(wc -c <$d/output)
hash=$(sha256sum <$d/output)
if [ $bytes -le ${MOST_LOGGED_BYTES} ]; then
  say output $bytes \${hash%% *}
  cat $d/output
else
  say stored $bytes \${hash%% *}
fi
say end $code $reason
[ $bytes -le ${MOST_LOGGED_BYTES} ] || read -r line <&7
exit $code
`;

/**
 * A shell that runs lines of its input: one long-lived process per pod, because starting a process
 * by exec costs 20 ms of CPU time in the pod and a tenth of a second. Each answer ends with a line
 * of the mark and the exit code.
 */
export const sessionCommand = (mark: string, line: string): string =>
  `{ ${line}\n} </dev/null 2>/dev/null; printf '\\n%s %s\\n' ${shellQuoted(mark)} $?\n`;

/**
 * Reads its command as one line of its input and replaces itself by it: variables are no part of
 * the request, which others may log. `read` takes byte by byte, so that the rest is the program's.
 */
export const INPUT_COMMAND = `nl='
'; IFS= read -r line; eval "$line"`;

export function commandLine(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): string {
  const word = (text: string) => shellQuoted(text).replaceAll("\n", `'"$nl"'`);
  const variables = Object.entries(environment).map(([name, value]) => word(`${name}=${value}`));
  return `exec env ${[...variables, ...command.map(word)].join(" ")}\n`;
}
