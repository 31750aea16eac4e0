#!/bin/sh
# start.sh: makes the user, the keys and the sshd of a bench, and becomes that sshd. Runs in a container of its own, which reaches
# nothing but itself; the sshd answers on every address of 127.0.0.0/8, each of them a host to whoever connects.
# shellcheck disable=SC2016
main() {
  set -eu
  install -d -m 0755 /bench /run/sshd
  useradd --create-home --shell /bin/sh bare
  ssh-keygen -q -t ed25519 -N '' -C bench -f /bench/id
  ssh-keygen -q -t ed25519 -N '' -C bench -f /bench/asked
  ssh-keygen -q -t ed25519 -N '' -C bench -f /bench/held
  ssh-keygen -q -t ed25519 -N '' -C bench -f /bench/host_key
  {
    cat /bench/id.pub
    # What OpenSSH shall run, too, is what drover sends: with this key it is written down before it runs.
    before asked 'printf %s \"$SSH_ORIGINAL_COMMAND\" >/tmp/asked'
    # With this key a command is counted and then waits at the gate, until all hosts that are to be live are.
    before held ': >/tmp/held/$$; read -r _ </tmp/gate'
  } >/bench/authorized_keys
  configuration >/bench/sshd_config
  exec /usr/sbin/sshd -D -e -f /bench/sshd_config
}

# before KEY COMMANDS: who comes with that key has them run before what was asked for
before() {
  printf 'command="%s; exec /bin/sh -c \\"$SSH_ORIGINAL_COMMAND\\"" %s\n' "$2" "$(cat "/bench/$1.pub")"
}

configuration() {
  cat <<'END'
HostKey /bench/host_key
AuthorizedKeysFile /bench/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM yes
LogLevel ERROR
MaxStartups 10000
MaxSessions 1000
Subsystem sftp /usr/lib/openssh/sftp-server
END
  # OpenSSH 9.8 and later hold a grudge against an address; to them all hosts of a bench are one client.
  if /usr/sbin/sshd -t -o PerSourcePenalties=no -h /bench/host_key -f /dev/null 2>/dev/null; then echo 'PerSourcePenalties no'; fi
}
main "$@"
