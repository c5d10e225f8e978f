#!/usr/bin/env bash
# Three Docker engines on one machine, each in namespaces of its own as if it were a machine of its own: for trials and
# tests of --hosts. Needs root.
#
#   docker-hosts.sh up [IMAGE...]   starts them where they are not running, and gives each engine these images
#   docker-hosts.sh down            ends them and removes everything of theirs
#
# Engine NAME (store, server, load) listens on unix:///run/ratelimit-bench-hosts/NAME.sock. Its machine has the address
# 10.97.0.11, .12, .13 on a bridge to which this machine belongs too, as 10.97.0.1. Each engine also listens on
# tcp://ADDRESS:2376 for clients with the certificates in /run/ratelimit-bench-hosts/tls; where sshd is installed, each
# machine accepts the key /run/ratelimit-bench-hosts/ssh/id for root (sockets by path, as for the machine itself).
# NAME.pid there holds the engine's process id on this machine.
# The engines form a Swarm with the attachable overlay network bench-overlay.
set -euo pipefail

RUN=/run/ratelimit-bench-hosts
DATA=/var/lib/ratelimit-bench-hosts
BRIDGE=rlb-lan
NAMES=(store server load)

address_of() {
  case $1 in
    store) echo 10.97.0.11 ;;
    server) echo 10.97.0.12 ;;
    load) echo 10.97.0.13 ;;
  esac
}

docker_on() {
  local name=$1
  shift
  docker --host "unix://$RUN/$name.sock" "$@"
}

make_network() {
  [[ -e /run/netns/$BRIDGE ]] && return
  ip netns add $BRIDGE
  ip -n $BRIDGE link add br0 type bridge
  ip -n $BRIDGE link set br0 up
  ip link add rlb-root type veth peer name root netns $BRIDGE
  ip -n $BRIDGE link set root master br0 up
  ip address add 10.97.0.1/24 dev rlb-root
  ip link set rlb-root up
  for name in "${NAMES[@]}"; do
    ip netns add "rlb-$name"
    ip -n "rlb-$name" link set lo up
    ip -n "rlb-$name" link add eth0 type veth peer name "$name" netns $BRIDGE
    ip -n $BRIDGE link set "$name" master br0 up
    ip -n "rlb-$name" address add "$(address_of "$name")/24" dev eth0
    ip -n "rlb-$name" link set eth0 up
    ip -n "rlb-$name" route add default via 10.97.0.1
  done
}

# One authority; a certificate for each engine, and one for clients.
make_certificates() {
  local tls=$RUN/tls
  [[ -e $tls/cert.pem ]] && return
  mkdir -p "$tls"
  (
    cd "$tls"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=trial -keyout ca-key.pem -out ca.pem
    for name in "${NAMES[@]}"; do
      openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$name" -keyout "$name-key.pem" -out "$name.csr"
      openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 \
        -extfile <(echo "subjectAltName=IP:$(address_of "$name")") -out "$name-cert.pem"
    done
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=client -keyout key.pem -out client.csr
    openssl x509 -req -in client.csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 \
      -extfile <(echo extendedKeyUsage=clientAuth) -out cert.pem
  ) >/dev/null 2>&1
}

# A process namespace of its own: the engine's process ids mean nothing on this machine, as on a real one, and everything
# in it ends with its first process.
start_engine() {
  local name=$1
  [[ -S $RUN/$name.sock ]] && docker_on "$name" version >/dev/null 2>&1 && return
  rm -f "$RUN/$name.pid" "$RUN/$name.sock" "$DATA/$name/docker.pid"
  # As after a boot: what an engine that was killed left there would hold up the next one.
  rm -rf "${RUN:?}/$name"
  mkdir -p "$DATA/$name"
  local entered=(nsenter "--net=/run/netns/rlb-$name" unshare --pid --fork --kill-child --mount --uts --mount-proc)
  setsid "${entered[@]}" bash -c "hostname $name; exec dockerd --host unix://$RUN/$name.sock \
      --host tcp://$(address_of "$name"):2376 --tlsverify --tlscacert $RUN/tls/ca.pem \
      --tlscert $RUN/tls/$name-cert.pem --tlskey $RUN/tls/$name-key.pem \
      --data-root $DATA/$name --exec-root $RUN/$name --pidfile $DATA/$name/docker.pid" \
    >"$RUN/$name.log" 2>&1 </dev/null &
  echo $! >"$RUN/$name.outer-pid"
}

start_sshd() {
  [[ -x /usr/sbin/sshd ]] || return 0
  mkdir -p "$RUN/ssh" /run/sshd
  chmod 700 "$RUN/ssh"
  [[ -e $RUN/ssh/id ]] || ssh-keygen -q -t ed25519 -N '' -f "$RUN/ssh/id"
  [[ -e $RUN/ssh/host ]] || ssh-keygen -q -t ed25519 -N '' -f "$RUN/ssh/host"
  cp "$RUN/ssh/id.pub" "$RUN/ssh/authorized_keys"
  rm -f "$RUN/ssh/known_hosts"
  for name in "${NAMES[@]}"; do
    echo "$(address_of "$name") $(cut -d' ' -f1,2 "$RUN/ssh/host.pub")" >>"$RUN/ssh/known_hosts"
    [[ -e $RUN/ssh/$name.pid ]] && kill -0 "$(<"$RUN/ssh/$name.pid")" 2>/dev/null && continue
    nsenter "--net=/run/netns/rlb-$name" /usr/sbin/sshd -f /dev/null -h "$RUN/ssh/host" \
      -o "PidFile=$RUN/ssh/$name.pid" -o "AuthorizedKeysFile=$RUN/ssh/authorized_keys" -o StrictModes=no \
      -o PermitRootLogin=prohibit-password -o UsePAM=no -o "ListenAddress=$(address_of "$name")"
  done
}

make_overlay() {
  docker_on store network inspect bench-overlay >/dev/null 2>&1 && return
  docker_on store swarm init --advertise-addr "$(address_of store)" >/dev/null
  local token
  token=$(docker_on store swarm join-token --quiet worker)
  for name in server load; do
    docker_on "$name" swarm join --token "$token" "$(address_of store):2377" >/dev/null
  done
  docker_on store network create --driver overlay --attachable --subnet 10.98.0.0/24 bench-overlay >/dev/null
}

up() {
  mkdir -p "$RUN"
  make_network
  make_certificates
  for name in "${NAMES[@]}"; do start_engine "$name"; done
  for name in "${NAMES[@]}"; do
    for _ in $(seq 450); do
      if docker_on "$name" version >/dev/null 2>&1; then
        pgrep -P "$(<"$RUN/$name.outer-pid")" >"$RUN/$name.pid"
        continue 2
      fi
      # On a busy machine an engine may give up because its own parts are slow to start.
      kill -0 "$(<"$RUN/$name.outer-pid")" 2>/dev/null || start_engine "$name"
      sleep 0.2
    done
    tail -5 "$RUN/$name.log" >&2
    exit 1
  done
  start_sshd
  make_overlay
  for name in "${NAMES[@]}"; do
    for image in "$@"; do
      docker_on "$name" image inspect "$image" >/dev/null 2>&1 || docker save "$image" | docker_on "$name" load --quiet
    done
  done
}

down() {
  for name in "${NAMES[@]}"; do
    [[ -e $RUN/ssh/$name.pid ]] && kill "$(<"$RUN/ssh/$name.pid")" 2>/dev/null
    # A frozen engine ends too. With it ends its process namespace.
    [[ -e $RUN/$name.outer-pid ]] && pkill -KILL -P "$(<"$RUN/$name.outer-pid")" 2>/dev/null
  done
  sleep 0.5
  for name in "${NAMES[@]}" lan; do
    ip netns delete "rlb-$name" 2>/dev/null
  done
  ip link delete rlb-root 2>/dev/null
  # Container groups of the engines' own containers are empty by now.
  rm -rf "$RUN" "$DATA"
  return 0
}

case ${1:-} in
  up)
    shift
    up "$@"
    ;;
  down)
    set +e
    down
    ;;
  *)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
    ;;
esac
