# shellcheck shell=sh
# ask_os: who the host is. One line each.
ask_os() {
  for file in /etc/os-release /usr/lib/os-release; do
    [ ! -r "$file" ] || { printf 'release %s\n' "$(head -c 8192 "$file" | encode)"; break; }
  done
  printf 'machine %s\n' "$(uname -m)"
  read -r boot </proc/sys/kernel/random/boot_id && printf 'boot %s\n' "$boot"
  read -r stat </proc/1/stat && printf 'pid1 %s\n' "$(pid1_start "${stat##*) }")"
  read -r up _ </proc/uptime && printf 'uptime %s\n' "${up%.*}"
  # Not `read &&`: it fails at a file without a newline at its end, and enforce is one.
  if [ -r /etc/machine-id ]; then read -r id </etc/machine-id; printf 'id %s\n' "${id:-}"; fi
  if [ -r /sys/fs/selinux/enforce ]; then read -r mode </sys/fs/selinux/enforce; printf 'selinux %s\n' "${mode:-}"; fi
  printf 'uid %s\nclock %s\n' "$(id -u)" "$(date +%s)"
  [ ! -d /run/systemd/system ] || printf 'systemd yes\n'
  printf 'manager %s\n' "$(timeout 15 systemctl show --no-pager -p Version,Virtualization,SystemState 2>/dev/null | encode)"
}

# The 22nd field of /proc/1/stat; the caller has cut the first two, since a name may hold blanks.
pid1_start() {
  # shellcheck disable=SC2086
  set -- $1
  shift 19
  printf %s "$1"
}
