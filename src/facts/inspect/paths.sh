# shellcheck shell=sh disable=SC2154
# ask_paths PATH... : lstat of each, and of all that links lead to, hop by hop, so that no name in the answer
# goes through a link nobody looked at. NUL-separated records, encoded as a whole.
ask_paths() {
  {
    left=$# hops=0 chased=
    while [ "$left" -gt 0 ]; do
      path=$1
      shift
      left=$((left - 1))
      if is_remote "$path" lstat; then
        printf 'N\0%s\0' "$path"
      elif [ -L "$path" ]; then
        text=$(readlink -n -- "$path"; echo .)
        text=${text%.}
        printf 'L\0%s\0%s\0' "$path" "$text"
        # Each link once, under its one real name: that ends loops, and names that grow from hop to hop.
        real=$(cd -P -- "${path%/*}/" && pwd -P && echo .) || continue
        real=${real%??}
        [ "$real" != / ] || real=
        case $chased in *"//$real/${path##*/}//"*) continue ;; esac
        [ "$hops" -lt 1000 ] || continue
        hops=$((hops + 1)) chased="$chased//$real/${path##*/}//"
        next=$text
        while [ "$next" != "${next#../}" ]; do next=${next#../} real=${real%/*}; done
        case $text in /*) ;; *) next=$real/$next ;; esac
        # With a slash at its end a name means what a link leads to, and not the link.
        while [ "$next" != "${next%/}" ]; do next=${next%/}; done
        while [ -n "$next" ] && [ "$next" != / ]; do
          set -- "$next" "$@"
          left=$((left + 1))
          next=${next%/*}
        done
      elif [ -e "$path" ]; then
        set -- "$@" "$path"
      elif may_look "$path"; then
        printf 'A\0%s\0' "$path"
      else
        printf 'P\0%s\0' "$path"
      fi
    done
    [ $# -eq 0 ] || timeout 15 stat --printf 'S\0%n\0%f %u %g %s %Y %d:%i %U:%G\0' -- "$@"
  } 2>/dev/null | encode
  echo
}

# may_look PATH: "not there" is only true where the nearest directory above lets us look.
may_look() {
  above=${1%/*}
  while [ -n "$above" ] && [ ! -e "$above" ]; do above=${above%/*}; done
  [ ! -d "${above:-/}" ] || [ -x "${above:-/}" ]
}

# ask_texts MAX PATH ... : the first MAX bytes of regular files, and whether reading them went well
ask_texts() {
  while [ $# -gt 0 ]; do
    if is_remote "$2"; then echo remote; elif [ ! -f "$2" ]; then echo none; elif [ ! -r "$2" ]; then echo denied; else
      printf 'text '
      { code=$({ { timeout 15 head -c "$1" -- "$2" 2>/dev/null; echo $? >&3; } | encode >&4; } 3>&1); } 4>&1
      printf ' %s\n' "$code"
    fi
    shift 2
  done
}

# ask_digests PATH... : SHA-256 of regular files. A huge one has a time of its own, so that it is what is missing
# where it takes too long, and not what comes after it.
ask_digests() {
  {
    read -r begun _ </proc/uptime
    for path; do
      shift
      if is_remote "$path" || [ ! -f "$path" ] || [ ! -r "$path" ]; then continue; fi
      size=$(timeout 5 stat -L -c %s -- "$path") || continue
      if [ "$size" -le 67108864 ]; then set -- "$@" "$path"; continue; fi
      read -r up _ </proc/uptime
      [ $((${up%.*} - ${begun%.*})) -ge 75 ] || timeout 25 sha256sum -b -z -- "$path"
    done
    [ $# -eq 0 ] || timeout 60 sha256sum -b -z -- "$@"
  } 2>/dev/null | encode
  echo
}

# ask_entries DIRECTORY... : the names in each; of a very long list none rather than some
ask_entries() {
  for directory; do
    if is_remote "$directory"; then echo remote; elif [ ! -d "$directory" ]; then echo none; elif [ ! -r "$directory" ] || [ ! -x "$directory" ]; then echo denied; else
      names_in "$directory"
    fi
  done
}

names_in() {
  set -- "$1"/* "$1"/.[!.]* "$1"/..?*
  if [ "$#" -gt 8192 ]; then echo many; return; fi
  printf 'names %s\n' "$(for file; do
    { [ -e "$file" ] || [ -L "$file" ]; } && printf '%s\0' "${file##*/}"
  done | encode)"
}

# ask_mounts PATH... : file system of the nearest existing ancestor
ask_mounts() {
  newline='
'
  for path; do
    # Two lines in one name would look like two names.
    case $path in
      *"$newline"*) ;;
      *) is_remote "$path" || continue ;;
    esac
    ask_each_mount "$@"
    return
  done
  asked=$#
  for path; do
    while [ ! -e "$path" ] && [ -n "$path" ]; do path=${path%/*}; done
    set -- "$@" "${path:-/}"
  done
  shift "$asked"
  know_bound
  reals=
  [ -z "$bound" ] || reals=$(timeout 15 readlink -f -- "$@" 2>/dev/null)$newline
  # Two programs for all of them; either is silent about what it may not look at. No clean path holds two slashes.
  # Not read from here-documents, for which bash writes long ones to /tmp.
  points=$(timeout 15 stat -c '%n//%m' -- "$@" 2>/dev/null)$newline
  frees=$(timeout 15 stat -f -c '%n//%S %a %c %d' -- "$@" 2>/dev/null)$newline
  before='' shown=''
  for path; do
    point=${points%%"$newline"*} free=${frees%%"$newline"*}
    is_shown=yes
    case $point in "$path//"*) points=${points#*"$newline"} ;; *) is_shown=no ;; esac
    case $free in "$path//"*) frees=${frees#*"$newline"} ;; *) is_shown=no ;; esac
    if [ -n "$reals" ]; then
      real=${reals%%"$newline"*} reals=${reals#*"$newline"}
      bound_point "$real" "${point#"$path//"}"
      point=$path//$lowest
    fi
    # Most are on the same file system as the one before.
    if [ "$is_shown" = yes ] && [ "$point" != "$path//$before" ]; then
      before=${point#"$path//"}
      shown=$(mount_line "$before") || shown=
    fi
    if [ "$is_shown" = yes ] && [ -n "$shown" ]; then echo "$shown${free#"$path//"}"; else echo denied; fi
  done
}

ask_each_mount() {
  know_bound
  for path; do
    if is_remote "$path"; then echo remote; continue; fi
    while [ ! -e "$path" ] && [ -n "$path" ]; do path=${path%/*}; done
    point=$(timeout 5 stat -c %m -- "${path:-/}") || { echo denied; continue; }
    free=$(timeout 5 stat -f -c '%S %a %c %d' -- "${path:-/}") || { echo denied; continue; }
    if [ -n "$bound" ]; then
      bound_point "$(timeout 5 readlink -f -- "${path:-/}")" "$point"
      point=$lowest
    fi
    if mount_line "$point"; then echo "$free"; else echo denied; fi
  done
}

# know_bound: sets $bound to the mount points of file systems that are mounted in more than one place. stat tells a mount
# point by its device, so below a bind mount (a read-only /usr of the same file system as /) it names the wrong one.
know_bound() {
  newline='
'
  seen=' ' twice=' ' bound=
  set -f
  IFS=$newline
  for mounted in $mounts; do
    mounted=${mounted#* * }
    device=${mounted%% *}
    case $seen in *" $device "*) twice="$twice$device " ;; *) seen="$seen$device " ;; esac
  done
  for mounted in $mounts; do
    mounted=${mounted#* * }
    case $twice in *" ${mounted%% *} "*) ;; *) continue ;; esac
    mounted=${mounted#* * }
    place=${mounted%% *}
    case $place in *\\*) place=$(unescaped "$place") ;; esac
    bound=$bound$place$newline
  done
  unset IFS
  set +f
}

# bound_point REAL POINT: sets $lowest to the lowest of $bound that the path lies in, or to POINT if that is lower
bound_point() {
  lowest=$2
  set -f
  IFS='
'
  for place in $bound; do
    case $1/ in "${place%/}"/*) [ "${#place}" -le "${#lowest}" ] || lowest=$place ;; esac
  done
  unset IFS
  set +f
}

# mount_line POINT: `mount OPTIONS TYPE POINT `, without the end of the line. Nothing, and 1, for a point nobody mounted.
mount_line() {
  line=
  set -f
  IFS='
'
  for mounted in $mounts; do
    # Mount id, parent, device and root come first; then the point, and with no optional field the dash after the options.
    mounted=${mounted#* * * * }
    place=${mounted%% *} rest=${mounted#* }
    # Only a name with a blank or the like is written in another form, and only that is worth a process.
    case $place in *\\*) place=$(unescaped "$place") ;; esac
    [ "$place" != "$1" ] || line="${rest%% *} ${rest##* - }"
  done
  unset IFS
  set +f
  [ -n "$line" ] || return 1
  # shellcheck disable=SC2086
  set -- "$1" $line
  # The options of the file system itself as well: after an error the kernel makes only those `ro`.
  super=${5:-}
  printf 'mount %s,%s %s ' "$2" "${super%%,*}" "$3"
  printf %s "$1" | encode
  printf ' '
}
