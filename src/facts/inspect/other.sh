# shellcheck shell=sh
# ask_packages NAME... : `manager apt|dnf|none`, then a line for each that is installed
ask_packages() {
  if is_rpm_host; then
    printf 'manager %s\n' "$(command -v dnf >/dev/null && echo dnf || echo none)"
    timeout 20 rpm -q --qf 'installed %{NAME} %{VERSION}-%{RELEASE}\n' -- "$@" 2>/dev/null
    [ $? -ne 124 ] || echo stalled
  elif command -v dpkg-query >/dev/null; then
    printf 'manager %s\n' "$(command -v apt-get >/dev/null && echo apt || echo none)"
    # shellcheck disable=SC2016
    timeout 20 dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' -- "$@" 2>/dev/null
    [ $? -ne 124 ] || echo stalled
  else
    echo 'manager none'
  fi
  return 0
}

is_rpm_host() {
  command -v rpm >/dev/null || return 1
  command -v dpkg-query >/dev/null || return 0
  # Both are there: the family decides.
  grep -Eq '^ID(_LIKE)?=.*(rhel|fedora|rocky|alma|centos)' /etc/os-release
}

# ask_programs NAME... : where PATH has it. Not `command -v`, which also knows what the shell itself has.
ask_programs() {
  for name; do
    answer=none
    for directory in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do
      if [ -f "$directory/$name" ] && [ -x "$directory/$name" ]; then
        answer="at $(printf %s "$directory/$name" | encode)"
        break
      fi
    done
    echo "$answer"
  done
}

# ask_ports PORT... : who listens
ask_ports() {
  for port; do
    # Where IPv6 is off there is no tcp6; without the other nothing can be said.
    [ -r /proc/net/tcp ] || { echo unknown; continue; }
    if ! grep -Eqi "^ *[0-9]+: [0-9A-F]+:$(printf '%04X' "$port") [0-9A-F]+:0000 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null; then
      echo free
    else
      owner=$(timeout 5 ss -Hltnp "sport = :$port" 2>/dev/null | sed -n 's/.*users:(("\([^"]*\)".*/\1/p' | head -n 1)
      printf 'used %s\n' "$(printf %s "$owner" | encode)"
    fi
  done
}

# ask_commands [SECONDS COUNT ARG...]... : exit code and standard output of read-only commands
ask_commands() {
  while [ $# -gt 0 ]; do
    seconds=$1 size=$2
    shift 2
    (
      k=0
      for arg; do
        shift
        k=$((k + 1))
        [ "$k" -gt "$size" ] || set -- "$@" "$arg"
      done
      # Read up to our own last line, not to the end: what the command leaves running may hold its output open for ever.
      mark=$(printf '\036%s ' "$$")
      said=$({
        timeout -k 2 "$seconds" "$@" 2>/dev/null
        printf '\n%s%s\n' "$mark" "$?"
      } | sed "/^${mark}[0-9]*\$/q" | { head -c 65536; tail -n 1; })
      out=$(printf %s "${said%"$mark"*}")
      printf 'code %s %s\n' "${said##*"$mark"}" "$(printf %s "$out" | head -c 65536 | encode)"
    )
    shift "$size"
  done
}
