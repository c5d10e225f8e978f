/** Whether somebody can be asked: what is typed and what is shown are both a terminal's. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true;
