// Preloaded into a measured server (`node --import`): sends its CPU time to the parent on
// request, and exits when the parent disconnects.
process.on("message", (question) => {
  if (question === "cpu") process.send?.(process.cpuUsage());
});
process.on("disconnect", () => process.exit(0));
