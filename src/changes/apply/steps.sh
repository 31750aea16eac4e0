# shellcheck shell=sh disable=SC2154,SC2034,SC2174
# What the apply unit does, one function for each kind of change. The unit's script is this file, set_up, and
# then calls with quoted arguments, written by the workstation:
#   begin N / expect CONDITION... / perform FUNCTION ARG... / ended N
# It reports by lines that begin with \036 and a word that only this apply knows; all other output is the host's
# own words, and whatever those are, they are no report.

# set_up DIRECTORY RUN JOURNAL_LINE TOKEN
set_up() {
  set -u
  export LC_ALL=C HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  umask 022
  dir=$1 run=$2 token=$4 number=- temp=0
  # Not as info: the unit's LogLevelMax lets that through only where journald did not see whose line it is.
  printf '%s\n' "$3" | systemd-cat -t drover -p notice 2>/dev/null
}

# report WORD...
report() {
  printf '\036%s %s\n' "$token" "$*"
}

finish() {
  report T
  exit 0
}

begin() {
  number=$1
  [ ! -e "$dir/cancel" ] || { report C "$number"; exit 1; }
  report B "$number"
}

ended() {
  report D "$1"
}

perform() {
  # Each function tests its own steps: `set -e` would be off inside it (mechanisms.md 4).
  "$@" && return 0
  report F "$number" "$?"
  exit 1
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
  # Not `: >`: a redirection that fails ends the shell there, without a word.
  if mkdir -p -m 0700 /run/drover/owed && touch -- "/run/drover/owed/$1"; then return; fi
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
    mv -fT -- "$t" "$1" && sync -- "${1%/*}/" && return 0
  code=$?
  rm -f -- "$t"
  return "$code"
}

# relink PATH TARGET
relink() {
  beside "$1"
  ln -s -- "$2" "$t" && mv -fT -- "$t" "$1" && sync -- "${1%/*}/" && return 0
  code=$?
  rm -f -- "$t"
  return "$code"
}

# make_directory PATH MODE OWNER
make_directory() {
  beside "$1"
  mkdir -m 0700 -- "$t" && chown -- "$3" "$t" && chmod -- "$2" "$t" && label "$t" && mv -T -- "$t" "$1" && sync -- "${1%/*}/" && return 0
  code=$?
  rmdir -- "$t" 2>/dev/null
  return "$code"
}

# attributes PATH MODE OWNER
attributes() {
  chown -h -- "$3" "$1" && chmod -- "$2" "$1"
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
    case $point in *\\*) point=$(printf '%b' "$point") ;; esac
    case $point/ in "${place%/}"/*) echo "$point"; return 0 ;; esac
  done </proc/self/mountinfo
  return 1
}

apt_install() {
  command -v apt-get >/dev/null || { echo 'apt-get is not there'; return 127; }
  # Ubuntu's needrestart would restart services that nobody asked about.
  export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
  apt-get -q -y -o DPkg::Lock::Timeout=120 install --no-install-recommends -- "$@" ||
    { apt-get -q update && apt-get -q -y -o DPkg::Lock::Timeout=120 install --no-install-recommends -- "$@"; }
}

dnf_install() {
  dnf -q -y install -- "$@"
}

# run_command SECONDS ARGV...
run_command() {
  seconds=$1
  shift
  timeout -k 5 "$seconds" "$@"
}
