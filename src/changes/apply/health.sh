# shellcheck shell=sh disable=SC2154,SC2034
# Conditions of health, for wait_for. Of each only the last answer is shown, in the words of whom it asked.

# is_running_from UNIT EXE: not from a file of that name that has been replaced since
is_running_from() {
  is_active "$1" || return
  pid=$(systemctl show --no-pager -p MainPID --value -- "$1") && exe=$(readlink -- "/proc/$pid/exe" 2>/dev/null) || exe=nothing
  found="$1 runs $exe"
  [ "$exe" = "$2" ]
}

# succeeds SECONDS any|line LINE ARGV... : LINE is one of those it prints
succeeds() {
  seconds=$1 lines=$2 line=$3
  shift 3
  answer=$dir/words.answer
  bounded timeout -k 5 "$seconds" "$@" >"$answer"
  code=$? holds_for=yes
  case $code in
    0)
      found="it does not print the line $line"
      [ "$lines" = any ] || grep -Fqx -- "$line" "$answer"
      ;;
    124 | 137) found="it did not end within $seconds s"; false ;;
    *) found="it ended with exit code $code"; false ;;
  esac
}

# answers SECONDS URL. The URL may hold a token in its query: it is on no command line, and in no word.
answers() {
  answer=''
  command -v curl >/dev/null || { found='the host has no curl, so it cannot ask'; return 2; }
  holds_for=yes
  words=$(printf 'url = "%s"\n' "$(printf %s "$2" | sed 's/["\\]/\\&/g')" |
    curl -q -fsS -g --proto =http,https --max-time "$1" -o /dev/null -K - 2>&1) && return
  code=$?
  found="curl ended with exit code $code"
  case $words in *"${2#*\?}"*) ;; *) found="$found: $(printf %s "$words" | head -c 1024)" ;; esac
  return 1
}

# show_last: what the last answer was
show_last() {
  [ -z "${answer:-}" ] || [ ! -s "$answer" ] || cat -- "$answer"
  printf '%s\n' "${found:-}"
}
