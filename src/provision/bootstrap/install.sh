# shellcheck shell=sh disable=SC2154,SC2034
# The binary, into the place that the host calls for.

# The lock is the one that everything takes that switches the agent's binary; the agent itself wants it later.
install_binary() {
  exec 9>>"$LOCK" || fail "$LOCK cannot be opened"
  flock -n 9 || fail 'the agent is being installed or upgraded by somebody else just now'
  if [ -e "$AGENT_UNIT" ] || [ -L "$AGENT_UNIT" ]; then
    give_up "an agent is installed ($AGENT_UNIT): it is upgraded, not bootstrapped"
  fi
  choose_root
  check_place
  download
  put_binary
  exec 9>&-
}

# Never asks the binary. Whatever a cut run leaves of it makes the next one choose the same.
choose_root() {
  if [ -d "$HOST_ROOT" ] && [ ! -L "$HOST_ROOT" ]; then
    root=$HOST_ROOT
  elif can_hold "$LEGACY_ROOT/bin"; then
    root=$LEGACY_ROOT
  elif [ -d "$HOST_ROOT" ] || { [ ! -e "$HOST_ROOT" ] && [ ! -L "$HOST_ROOT" ]; }; then
    root=$HOST_ROOT
  else
    give_up "$HOST_ROOT is neither a directory nor a link to one"
  fi
  bin=$root/bin/aks-flex-node
  library=$root/lib/aks-flex-node
  if [ -z "$install_dir" ]; then return; fi
  if [ "${install_dir%/}" = "$root/bin" ]; then
    say "--install-dir and INSTALL_DIR are deprecated: $root/bin is chosen without them"
  else
    say "--install-dir and INSTALL_DIR are deprecated: another directory than $root/bin is ignored"
  fi
}

# What is missing is made 0755 whatever the umask; what is there stays as it is.
make_directory() { (umask 022 && mkdir -p -- "$1") 2>/dev/null; }

can_hold() {
  make_directory "$1" || return
  probe=$(mktemp "$1/.aks-flex-node.XXXXXX" 2>/dev/null) || return
  rm -f -- "${probe:?}"
}

# A reset keeps the layout: a link to the current slot, and the slots. Any other link is somebody else's.
check_place() {
  if [ -L "$bin" ]; then
    [ "$(readlink -- "$bin")" = "$library/aks-flex-node-current" ] ||
      give_up "$bin is a link that no agent made: look at where it leads, and remove it"
  elif [ -e "$bin" ] && [ ! -f "$bin" ]; then
    give_up "$bin is no file"
  fi
  for slot in blue green current last-good; do
    [ -L "$library/aks-flex-node-$slot" ] || [ ! -d "$library/aks-flex-node-$slot" ] ||
      give_up "$library/aks-flex-node-$slot is a directory"
  done
}

download() {
  member=aks-flex-node-linux-$arch
  fill OS linux
  fill ARCH "$arch"
  fill VERSION "$version"
  fill ARCHIVE_NAME "$member.tar.gz"
  shown=${url%%[?#]*}
  shown=https://${shown##*@}
  shown=https://${shown##*https://}
  say "downloading $shown"
  # By standard input, since arguments can be seen by every user. What curl has to say may hold the whole URL.
  status=$(printf 'url = "%s"\n' "$url" |
    timeout -k 10 900 curl --disable --config - --silent --fail --location --globoff \
      --proto '=https' --proto-redir '=https' --connect-timeout 15 --speed-limit 1024 --speed-time 60 --max-time 600 \
      --retry 3 --retry-delay 2 --retry-max-time 300 --retry-connrefused \
      --output "$work/archive" --write-out '%{http_code}' 2>/dev/null)
  code=$?
  [ "$code" -eq 0 ] || fail "downloading $shown failed: curl $code, HTTP ${status:-000}"
  digest=$(printf %s "$digest" | tr ABCDEF abcdef)
  [ "$(sha256sum <"$work/archive")" = "$digest  -" ] || give_up "what $shown gave does not have the digest AGENT_SHA256"
}

mark() { printf '{%s%s}}' '{' "$1"; }

# fill NAME VALUE: in place of the mark of that name in the URL
fill() {
  mark=$(mark "$1")
  case $url in *"$mark"*) [ -n "$2" ] || give_up "AGENT_URL asks for $1, and there is none" ;; esac
  while :; do
    case $url in
      *"$mark"*) url=${url%%"$mark"*}$2${url#*"$mark"} ;;
      *) return ;;
    esac
  done
}

# It is run where it will lie, since temporary files may be on a file system without programs; then it takes its place.
put_binary() {
  [ "$(tar -tzf "$work/archive" 2>/dev/null)" = "$member" ] ||
    give_up "the archive does not hold $member and nothing else"
  make_directory "$root/bin" || fail "$root/bin cannot be made"
  staged=$(mktemp "$root/bin/.aks-flex-node.XXXXXX") || fail "$root/bin cannot be written to"
  tar -xzOf "$work/archive" "$member" >"$staged" || fail "$member cannot be unpacked into $root/bin"
  [ -s "$staged" ] || give_up "$member is no regular file, or empty"
  { chmod 0755 "$staged" && sync "$staged"; } || fail "$staged cannot be written"
  said=$(umask 022 && timeout -k 5 30 "$staged" version </dev/null 2>/dev/null 9>&-)
  code=$?
  if [ "$code" -eq 126 ]; then give_up "$member cannot be run in $root/bin: another architecture, or mounted noexec"; fi
  [ "$code" -eq 0 ] || fail "$member does not say its version: exit $code"
  { mv -fT -- "$staged" "$bin" && sync "$root/bin"; } || fail "$bin cannot be put into its place"
  staged=''
  drop_slots
  if command -v restorecon >/dev/null 2>&1; then restorecon "$root" "$root/bin" "$bin" 2>/dev/null || :; fi
  say "installed $bin, $(printf '%s\n' "$said" | sed -n '/^Version: /{s///p;q;}')"
}

# Of the agent that was there before the reset; nothing runs from them, for there is no unit.
drop_slots() {
  for slot in blue green current last-good; do
    if [ ! -e "$library/aks-flex-node-$slot" ] && [ ! -L "$library/aks-flex-node-$slot" ]; then continue; fi
    rm -f -- "${library:?}/aks-flex-node-$slot" || fail "$library/aks-flex-node-$slot cannot be removed"
  done
}
