// Plain autocannon on one fixed URL, the reference for our loops. RATE limits the requests per second.
import autocannon from "autocannon";

const pace = process.env.RATE ? { overallRate: Number(process.env.RATE) } : {};
const run = (amount) =>
  autocannon({
    url: process.env.URL,
    connections: Number(process.env.CONNECTIONS),
    amount,
    ...pace,
  });
await run(10_000);
const before = process.cpuUsage();
const { requests } = await run(Number(process.env.REQUESTS));
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify({ cpu_us_per_request: (user + system) / requests.total }));
