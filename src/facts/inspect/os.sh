# shellcheck shell=sh
# ask_os: who the host is. One line each.
ask_os() {
  for file in /etc/os-release /usr/lib/os-release; do
    [ -r "$file" ] || continue
    printf 'release '
    head -c 8192 "$file" | encode
    echo
    break
  done
  printf 'machine '
  uname -m
  read -r boot </proc/sys/kernel/random/boot_id && printf 'boot %s\n' "$boot"
  read -r stat </proc/1/stat && pid1_start "${stat##*) }"
  read -r up _ </proc/uptime && printf 'uptime %s\n' "${up%.*}"
  # Not `read &&`: it fails at a file without a newline at its end, and enforce is one.
  if [ -r /etc/machine-id ]; then read -r id </etc/machine-id; printf 'id %s\n' "${id:-}"; fi
  if [ -r /sys/fs/selinux/enforce ]; then read -r mode </sys/fs/selinux/enforce; printf 'selinux %s\n' "${mode:-}"; fi
  printf 'uid '
  id -u
  date '+clock %s'
  if [ -d /run/systemd/system ]; then
    printf 'systemd yes\nmanager '
    timeout 15 systemctl show --no-pager -p Version,Virtualization,SystemState 2>/dev/null | encode
    echo
  else
    # Nobody would answer.
    echo 'manager '
  fi
}

# The 22nd field of /proc/1/stat; the caller has cut the first two, since a name may hold blanks.
pid1_start() {
  # shellcheck disable=SC2086
  set -- $1
  shift 19
  printf 'pid1 %s\n' "$1"
}
