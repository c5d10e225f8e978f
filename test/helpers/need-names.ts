/** What tests use and a machine need not have, with what to do where it is missing. */
export const remedies = {
  valkey: "run scripts/setup.sh --dev, or set VALKEY_SERVER",
  redis: "install redis-server, or set REDIS_SERVER",
  memcached: "install memcached, or set MEMCACHED_SERVER",
  "redis-cell": "set REDIS_CELL_MODULE (see docs/clients.md)",
  "redis-shield": "set REDIS_SHIELD_MODULE (see docs/clients.md)",
  throttlecrab: "set THROTTLECRAB_SERVER, or put throttlecrab-server on PATH",
  gubernator: "set GUBERNATOR_SERVER, or put gubernator on PATH (see docs/clients.md)",
  "envoy-ratelimit": "set ENVOY_RATELIMIT to Envoy's program ratelimit",
  "redis-benchmark": "install redis-benchmark (package redis-tools)",
  wrk: "install wrk",
  nginx: "install nginx (Debian: nginx-light), or set NGINX",
  fakeredis: "run scripts/setup.sh --dev, or set FAKEREDIS_PYTHON",
  chromium: "install chromium, or set CHROMIUM",
  zsh: "install zsh",
  kubernetes: "set KUBECONFIG to that of a cluster for tests",
  "docker-hosts": "be root, with dockerd and ip (see test/helpers/docker-hosts.sh)",
  actionlint: "run scripts/ci/actionlint.sh --install, with Go",
} as const;

export type Need = keyof typeof remedies;
export const needNames = Object.keys(remedies) as Need[];
