# shellcheck shell=sh disable=SC2154,SC2034,SC2174
# What the apply unit does, one function for each kind of change. The unit's script is this file, set_up, and
# then calls with quoted arguments, written by the workstation:
#   begin N KIND / expect CONDITION... / owe DEBT / perform FUNCTION ARG... / ended N
# with `within SECONDS` before the changes of a step that has a limit of its own.
# It reports by lines that begin with \036 and a word that only this apply knows; all other output is the host's
# own words, and whatever those are, they are no report.

# set_up DIRECTORY RUN JOURNAL_LINE TOKEN NOT_AFTER
set_up() {
  set -u
  # systemd may start the unit although it had said that it would not: the work is done once.
  umask 077
  mkdir -- "$1/begun" || exit 3
  touch -- "$1/at" "$1/speaking"
  export LC_ALL=C HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  umask 022
  dir=$1 run=$2 token=$4 number=- temp=0 watch=
  read -r up _ </proc/uptime
  if [ "${up%.*}" -gt "$5" ]; then
    # The machine stood still on the way, and what was planned is old.
    report L "$((${up%.*} - $5))"
    exit 1
  fi
  # Not as info: the unit's LogLevelMax lets that through only where journald did not see whose line it is.
  printf '%s\n' "$3" | systemd-cat -t drover -p notice 2>/dev/null
}

# report WORD...
report() {
  printf '\036%s %s\n' "$token" "$*"
}

finish() {
  within 0
  report T
  exit 0
}

# begin N KIND
begin() {
  number=$1
  [ ! -e "$dir/cancel" ] || { report C "$number"; exit 1; }
  [ ! -e "$dir/late" ] || { report O "$number"; exit 1; }
  printf '%s %s\n' "$1" "$2" >"$dir/at"
  report B "$number"
}

ended() {
  report D "$1"
}

# within SECONDS: from here to the next call; 0: as long as it takes
within() {
  [ -z "$watch" ] || kill "$watch" 2>/dev/null
  watch=
  [ ! -e "$dir/late" ] || { report O "$number"; exit 1; }
  [ "$1" -gt 0 ] || return 0
  limit "$1" "$$" &
  watch=$!
}

# limit SECONDS PID: ends the script, and with it all that it started, when they are over. A package manager is given
# two minutes more: cut in the middle it leaves a host that nobody can install on.
limit() {
  sleep "$1" &
  nap=$!
  trap 'kill "$nap"; exit 0' TERM
  wait "$nap"
  touch -- "$dir/late"
  waited=0
  while [ "$waited" -lt 120 ]; do
    case $(cat "$dir/at" 2>/dev/null) in *' package') ;; *) break ;; esac
    sleep 1
    waited=$((waited + 1))
  done
  read -r at _ <"$dir/at" || at=$number
  [ ! -s "$dir/speaking" ] || tell "$(cat "$dir/speaking")"
  rm -f -- "$dir/speaking"
  report O "$at"
  kill -s KILL "$2"
}

perform() {
  # Each function tests its own steps: `set -e` would be off inside it (mechanisms.md 4).
  moved=
  "$@" && { owed=; return 0; }
  failed=$?
  forgive "$1"
  report F "$number" "$failed"
  exit 1
}

# forgive FUNCTION: a write that did not come to its rename changed nothing, so what it would have owed is not owed
forgive() {
  case $1:$moved in put: | relink: | make_directory: | rename_to: | place: | copy_file:) ;; *) return ;; esac
  for debt in ${owed:-}; do rm -f -- "/run/drover/owed/$debt"; done
}

expect() {
  "$@" && return 0
  report X "$number" "$(printf '%s' "$found" | base64 -w0)"
  exit 1
}

# path_is PATH KIND VALUE : sets $found to what is there instead
path_is() {
  if [ -L "$1" ]; then
    text=$(readlink -n -- "$1"; echo .)
    found="$1 is a link to ${text%.}"
    [ "$2" = symlink ] && [ "${text%.}" = "$3" ]
  elif [ -f "$1" ]; then
    found="$1 is a file"
    [ "$2" = file ] || return 1
    [ -n "$3" ] || return 0
    found="$1 is a file with other content"
    sum=$(sha256sum <"$1") && [ "$sum" = "$3  -" ]
  elif [ -d "$1" ]; then
    found="$1 is a directory"
    [ "$2" = directory ]
  elif [ -e "$1" ]; then
    found="$1 is neither file, directory nor link"
    [ "$2" = other ]
  else
    found="$1 is not there"
    [ "$2" = absent ]
  fi
}

# directory_holds DIRECTORY NAME... : these names and no others
directory_holds() {
  directory=$1
  shift
  found="$directory does not hold what it held"
  wanted=$#
  for entry in "$directory"/* "$directory"/.[!.]* "$directory"/..?*; do
    { [ -e "$entry" ] || [ -L "$entry" ]; } || continue
    wanted=$((wanted - 1))
    known=no
    for name; do [ "$name" != "${entry##*/}" ] || known=yes; done
    [ "$known" = yes ] || { found="$entry is there"; return 1; }
  done
  [ "$wanted" -eq 0 ]
}

# unit_is UNIT PROPERTY VALUE
unit_is() {
  found="$2 of $1 is not to be had"
  value=$(systemctl show --no-pager -p "$2" --value -- "$1") || return 1
  found="$2 of $1 is $value"
  [ "$value" = "$3" ]
}

# owe NAME / paid NAME: debts that outlive this script, but not a reboot, which pays them
owe() {
  [ ! -e "/run/drover/owed/$1" ] || return 0
  # Not `: >`: a redirection that fails ends the shell there, without a word.
  if mkdir -p -m 0700 /run/drover/owed && touch -- "/run/drover/owed/$1"; then owed="${owed:-} $1"; return; fi
  report F "$number" 1
  exit 1
}
paid() {
  rm -f -- "/run/drover/owed/$1"
}

# beside PATH: a name of ours in the same directory, so that the rename is atomic
beside() {
  t=${1%/*}/.drover.$run.$temp
  temp=$((temp + 1))
}

label() {
  ! command -v restorecon >/dev/null 2>&1 || restorecon -F -- "$1"
}

# put PATH MODE OWNER OFFSET SIZE SHA256: whole or not at all
put() {
  beside "$1"
  ( umask 077; set -C; tail -c "+$(($4 + 1))" "$dir/content" 2>/dev/null | head -c "$5" >"$t" ) &&
    [ "$(wc -c <"$t")" -eq "$5" ] && [ "$(sha256sum <"$t")" = "$6  -" ] &&
    chown -- "$3" "$t" && chmod -- "$2" "$t" && label "$t" && sync -- "$t" &&
    mv -fT -- "$t" "$1" && moved=yes && sync -- "${1%/*}/" && return 0
  code=$?
  rm -f -- "$t"
  return "$code"
}

# relink PATH TARGET
relink() {
  beside "$1"
  ln -s -- "$2" "$t" && mv -fT -- "$t" "$1" && moved=yes && sync -- "${1%/*}/" && return 0
  code=$?
  rm -f -- "$t"
  return "$code"
}

# make_directory PATH MODE OWNER
make_directory() {
  beside "$1"
  mkdir -m 0700 -- "$t" && chown -- "$3" "$t" && chmod -- "$2" "$t" && label "$t" && mv -T -- "$t" "$1" && moved=yes && sync -- "${1%/*}/" && return 0
  code=$?
  rmdir -- "$t" 2>/dev/null
  return "$code"
}

# attributes PATH MODE OWNER
attributes() {
  chown -h -- "$3" "$1" && chmod -- "$2" "$1"
}

# rename_to FROM TO: never onto something, nor into a directory that has come about meanwhile
rename_to() {
  if [ -e "$2" ] || [ -L "$2" ]; then
    echo "$2 is there"
    return 1
  fi
  mv -T -- "$1" "$2" && moved=yes && sync -- "${1%/*}/" "${2%/*}/"
}

# remove PATH: a file, a link or an empty directory
remove() {
  if [ -d "$1" ] && [ ! -L "$1" ]; then rmdir -- "$1"; else rm -f -- "$1"; fi && sync -- "${1%/*}/"
}

# remove_tree PATH: gone at once under its own name; never across a mount, which the rename would carry along
remove_tree() {
  if mounted=$(mount_below "$1"); then
    echo "$mounted is a mount point"
    return 1
  fi
  beside "$1"
  mv -T -- "$1" "$t" && sync -- "${1%/*}/" && rm -rf --one-file-system -- "$t"
}

# mount_below PATH: a mount point at or below it; not where a link leads
mount_below() {
  [ -d "$1" ] && [ ! -L "$1" ] || return 1
  place=$(cd -P -- "$1" && pwd -P && echo .) || return 1
  place=${place%??}
  while read -r _ _ _ _ point _; do
    # `%b` wants a zero before the three digits, or takes one that follows them for its own.
    case $point in *\\*) point=$(printf '%b' "$(printf %s "$point" | sed 's/\\/\\0/g')") ;; esac
    case $point/ in "${place%/}"/*) echo "$point"; return 0 ;; esac
  done </proc/self/mountinfo
  return 1
}

apt_install() {
  command -v apt-get >/dev/null || { echo 'apt-get is not there'; return 127; }
  # Ubuntu's needrestart would restart services that nobody asked about.
  export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
  bounded apt_get install --no-install-recommends -- "$@" ||
    { bounded apt-get -q update && bounded apt_get install --no-install-recommends -- "$@"; }
}

apt_get() {
  apt-get -q -y -o DPkg::Lock::Timeout=120 "$@"
}

dnf_install() {
  bounded dnf -q -y install -- "$@"
}

# run_command SECONDS ARGV...
run_command() {
  seconds=$1
  shift
  bounded timeout -k 5 "$seconds" "$@"
}
