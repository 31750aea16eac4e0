# shellcheck shell=sh disable=SC2154
# The binary inside the worker: clients there run it, and it has to be the one that the host runs.

# worker STATE_FILE CURRENT INSIDE : INSIDE names the machine that is active as {machine}
worker() {
  [ "$pass" = worker ] || return 0
  machine=$(sed -n 's/.*"activeMachine"[[:space:]]*:[[:space:]]*"\(kube[12]\)".*/\1/p' "$1" 2>/dev/null | head -n 1)
  [ -n "$machine" ] || return 0
  base=${3%%"{machine}"*}$machine
  inside=$base${3#*"{machine}"}
  [ -d "${inside%/*}" ] || return 0
  # A link in the worker may lead out of it, and would not do so for the worker itself.
  real=$(cd -P -- "${inside%/*}" && pwd -P) && place=$(cd -P -- "$base" && pwd -P) || return
  [ "$real/${inside##*/}" = "$place${inside#"$base"}" ] || { echo "$inside leads out of $base"; return 0; }
  wanted=$(sha256sum <"$2") || return
  if [ -f "$inside" ] && [ ! -L "$inside" ] && [ "$(sha256sum <"$inside")" = "$wanted" ]; then return 0; fi
  beside=${inside%/*}/.drover.$run.undo
  rm -f -- "$beside"
  cp -- "$2" "$beside" && [ "$(sha256sum <"$beside")" = "$wanted" ] &&
    if [ -f "$inside" ]; then chown --reference="$inside" -- "$beside" && chmod --reference="$inside" -- "$beside"; else chmod 0755 -- "$beside"; fi &&
    sync -- "$beside" && mv -fT -- "$beside" "$inside" && label "$inside" && sync -- "${inside%/*}/" && return
  rm -f -- "$beside"
  echo "$inside cannot be made the binary that the host runs"
  return 1
}
