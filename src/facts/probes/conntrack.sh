#!/bin/sh
# conntrack.sh: is nft there, and would the kernel take a rule that exempts DNS from connection tracking?
# --check builds the rule and throws it away: the rule set stays as it is.
main() {
  set -u
  export LC_ALL=C
  if ! command -v nft >/dev/null 2>&1; then
    echo 'nft=missing'
    return 0
  fi
  echo 'nft=present'
  if [ "$(id -u)" -ne 0 ]; then
    echo 'notrack=unknown'
    return 0
  fi
  if why=$(rule | timeout 10 nft --check --file - 2>&1); then
    echo 'notrack=ok'
  else
    echo 'notrack=failed'
    printf 'why=%s\n' "$why" | head -n 1
  fi
}

rule() {
  cat <<'END'
table ip drover_check {
  chain raw {
    type filter hook prerouting priority -300; policy accept;
    udp dport 53 notrack
  }
}
END
}

main "$@" </dev/null
