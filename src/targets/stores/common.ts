/** Both stores count a script call under the command that carried it. */
export const scriptCommands = ["eval", "evalsha", "fcall"] as const;
