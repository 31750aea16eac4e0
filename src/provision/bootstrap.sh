#!/bin/sh
# bootstrap.sh [--install-dir DIR]: from a fresh host to a node. Settings are AKS_FLEX_NODE_* in the environment.
#
# Exits 0: the agent is installed and runs. 78: no retry can succeed before something is corrected. 1: anything else.
# No setting is in the environment of a program that is started here, and none that may be secret is an argument of one.
# shellcheck disable=SC2154   # `settings` assigns the variables of `take`

HOST_ROOT=/opt/unbounded/agent
LEGACY_ROOT=/usr/local
AGENT_UNIT=/etc/systemd/system/aks-flex-node-agent.service
LOCK=/run/aks-flex-node-agent-upgrade.lock

main() {
  work='' staged=''
  trap clean EXIT
  trap 'exit 1' HUP INT TERM
  umask 077
  settings
  arguments "$@"
  check_host
  check_settings
  work=$(mktemp -d) || fail "no directory for temporary files can be made"
  install_binary
  render_config
  write_config
  unset secret url overrides oci_image offline
  join
}

say() { printf 'bootstrap: %s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }
give_up() { say "$@"; say 'This is not tried again: it cannot succeed before it is corrected.'; exit 78; }

clean() {
  if [ -n "$staged" ]; then rm -f -- "${staged:?}"; fi
  if [ -n "$work" ]; then rm -rf -- "${work:?}"; fi
}

# take VARIABLE SETTING: out of the environment, into a variable that no program inherits
take() { eval "unset $1; $1=\${AKS_FLEX_NODE_$2-}; unset AKS_FLEX_NODE_$2"; }

settings() {
  unset root bin library
  take auth AUTH
  take msi_client MSI_CLIENT_ID
  take sp_tenant SP_TENANT_ID
  take sp_client SP_CLIENT_ID
  take secret SP_CLIENT_SECRET
  take secret_file SP_CLIENT_SECRET_FILE
  take certificate SP_CLIENT_CERTIFICATE_FILE
  take url AGENT_URL
  take version AGENT_VERSION
  take digest AGENT_SHA256
  take fetch FETCH_BOOTSTRAP_DATA
  take api_version BOOTSTRAP_DATA_API_VERSION
  take authority AUTHORITY_HOST
  take endpoint RESOURCE_MANAGER_ENDPOINT
  take cluster CLUSTER_RESOURCE_ID
  take pool AGENT_POOL_NAME
  take oci_image BOOTSTRAP_OCI_IMAGE
  take offline BOOTSTRAP_OFFLINE_ARTIFACTS_SOURCE
  take overrides CONFIG_OVERRIDES
  take base BASE_CONFIG_FILE
  take config CONFIG_PATH
  take agent_kubeconfig AGENT_KUBECONFIG
  take kubelet_kubeconfig KUBELET_KUBECONFIG
  take install_dir INSTALL_DIR
}

arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      --install-dir=*) install_dir=${1#*=} ;;
      --install-dir)
        [ $# -gt 1 ] || give_up '--install-dir needs a directory'
        install_dir=$2
        shift
        ;;
      *) give_up 'the only argument known here is --install-dir: every setting is a variable AKS_FLEX_NODE_*' ;;
    esac
    shift
  done
}

check_settings() {
  config=${config:-/etc/aks-flex-node/config.json}
  case $config in
    */ | */../* | */./* | *//* | *[[:cntrl:]]*) give_up 'CONFIG_PATH is no clean path of a file' ;;
    /*) ;;
    *) give_up 'CONFIG_PATH is not absolute' ;;
  esac
  case $fetch in
    '' | false | 0 | no | n) fetch='' ;;
    true | 1 | yes | y) fetch=yes ;;
    *) give_up 'FETCH_BOOTSTRAP_DATA is neither true nor false' ;;
  esac
  check_source
  check_auth
  check_kubeconfigs
  if [ -n "$base" ]; then
    case $base in /*) ;; *) give_up 'BASE_CONFIG_FILE is not absolute' ;; esac
    [ -f "$base" ] || give_up "BASE_CONFIG_FILE is no regular file: $base"
  elif [ -z "$fetch" ] || [ -z "$cluster" ] || [ -z "$pool" ]; then
    say 'there is nothing to configure the agent from'
    give_up 'give BASE_CONFIG_FILE, or FETCH_BOOTSTRAP_DATA with CLUSTER_RESOURCE_ID and AGENT_POOL_NAME'
  fi
}

check_source() {
  case $version in *[!0-9A-Za-z.+_-]*) give_up 'AGENT_VERSION is no version' ;; esac
  if [ -z "$url" ]; then
    [ -n "$version" ] || give_up 'there is no agent to download: give AGENT_URL or AGENT_VERSION'
    url="https://github.com/Azure/AKSFlexNode/releases/download/$version/$(mark ARCHIVE_NAME)"
  fi
  case $url in
    *[![:graph:]]* | *[\"\\]*) give_up 'AGENT_URL holds a character that a URL cannot have' ;;
    https://?*) ;;
    *) give_up 'AGENT_URL does not begin with https://' ;;
  esac
  [ ${#digest} -eq 64 ] || give_up 'AGENT_SHA256 is not the 64 hexadecimal digits that the archive is held to'
  case $digest in *[!0123456789ABCDEFabcdef]*) give_up 'AGENT_SHA256 is not hexadecimal' ;; esac
}

check_auth() {
  case $auth in
    '') [ -z "$fetch" ] || give_up 'FETCH_BOOTSTRAP_DATA needs AUTH' ;;
    arc | msi) ;;
    service-principal)
      { [ -n "$sp_tenant" ] && [ -n "$sp_client" ]; } ||
        give_up 'a service principal needs SP_TENANT_ID and SP_CLIENT_ID'
      given=0
      for one in "$secret" "$secret_file" "$certificate"; do [ -z "$one" ] || given=$((given + 1)); done
      unset one
      [ "$given" -eq 1 ] ||
        give_up 'a service principal needs exactly one of SP_CLIENT_SECRET, its _FILE and SP_CLIENT_CERTIFICATE_FILE'
      if [ -n "$secret_file" ]; then protected SP_CLIENT_SECRET_FILE "$secret_file"; fi
      if [ -n "$certificate" ]; then check_certificate; fi
      ;;
    *) give_up 'AUTH is none of arc, msi and service-principal' ;;
  esac
}

# The agent tells a PFX by its name.
check_certificate() {
  protected SP_CLIENT_CERTIFICATE_FILE "$certificate"
  case $certificate in *.pfx) return ;; esac
  grep -q -e '-----BEGIN ' -- "$certificate" ||
    give_up "SP_CLIENT_CERTIFICATE_FILE holds no PEM; the name of a PFX must end in .pfx: $certificate"
}

check_kubeconfigs() {
  if [ -z "$agent_kubeconfig$kubelet_kubeconfig" ]; then return; fi
  { [ -n "$agent_kubeconfig" ] && [ -n "$kubelet_kubeconfig" ]; } ||
    give_up 'AGENT_KUBECONFIG and KUBELET_KUBECONFIG belong together'
  protected AGENT_KUBECONFIG "$agent_kubeconfig"
  protected KUBELET_KUBECONFIG "$kubelet_kubeconfig"
}

# protected SETTING FILE: root alone may read what is secret
protected() {
  case $2 in /*) ;; *) give_up "$1 is not absolute" ;; esac
  [ ! -L "$2" ] || give_up "$1 is a symbolic link: $2"
  [ -f "$2" ] || give_up "$1 is no regular file: $2"
  [ -s "$2" ] || give_up "$1 is empty: $2"
  case $(stat -c %a -- "$2") in *00) ;; *) give_up "$1 may be read by others than its owner: chmod 0600 $2" ;; esac
}

check_host() {
  [ "$(id -u)" -eq 0 ] || give_up 'only root can install the agent'
  case $(uname -m) in
    x86_64) arch=amd64 ;;
    aarch64) arch=arm64 ;;
    *) give_up "there is no agent for $(uname -m)" ;;
  esac
  missing=''
  for tool in curl tar gzip jq mktemp sha256sum flock timeout stat sync; do
    command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
  done
  if [ -z "$missing" ]; then return; fi
  ! is_image_managed || give_up "the image lacks$missing, and nothing can be installed on it"
  fail "the host lacks$missing: install them, or let whatever provisions the host do so"
}

# Nothing is ever installed there, whatever package manager seems to be there.
is_image_managed() {
  grep -Eqs '^(VARIANT_ID=["'\'']?azurecontainerlinux["'\'']?|ID_LIKE=(["'\'']?|.* )flatcar(["'\'']?| .*))$' /etc/os-release
}

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
  said=$(timeout -k 5 30 "$staged" version </dev/null 2>/dev/null 9>&-)
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

# What comes later wins; mappings are joined, all else is replaced.
render_config() {
  echo '{}' >"$work/config" || fail 'there is no room for temporary files'
  if [ -n "$base" ]; then one_object <"$base" >"$work/config" || give_up 'BASE_CONFIG_FILE is no JSON object'; fi
  # shellcheck disable=SC2016   # of jq
  jq -n --arg cluster "$cluster" --arg pool "$pool" --arg endpoint "$endpoint" '
    {azure: ((if $cluster == "" then {} else {targetCluster: {resourceId: $cluster}} end)
      + (if $pool == "" then {} else {targetAgentPoolName: $pool} end)
      + (if $endpoint == "" then {} else {resourceManagerEndpoint: $endpoint} end))}' >"$work/target" || fail 'jq failed'
  lay_over target
  if [ -n "$fetch" ]; then fetch_data; fi
  if [ -n "$overrides" ]; then
    printf '%s\n' "$overrides" | one_object >"$work/overrides" || give_up 'CONFIG_OVERRIDES is no JSON object'
    lay_over overrides
  fi
  lay_over target
  if [ -n "$oci_image" ]; then text_at '{bootstrap: {ociImage: .}}' "$oci_image"; fi
  if [ -n "$offline" ]; then text_at '{bootstrap: {offlineArtifacts: {source: .}}}' "$offline"; fi
  if [ -n "$agent_kubeconfig" ]; then
    text_at '{agent: {kubeconfigData: .}}' "$(cat -- "$agent_kubeconfig")"
    text_at '{node: {kubelet: {kubeconfigData: .}}}' "$(cat -- "$kubelet_kubeconfig")"
  fi
  name_node
  # shellcheck disable=SC2016   # of jq
  edit '
    if (.bootstrap.offlineArtifacts.source // "") == "" then .
      else del(.components.containerd, .components.runc, .networking.cniVersion) end
    | if (.agent.nodeName // "") == "" then .agent.nodeName = $node else . end
    | if $auth == "" then . else del(.azure.arc, .azure.managedIdentity, .azure.servicePrincipal) end
    | if $auth == "arc" then .azure.arc = {enabled: true}
      elif $auth == "msi" then .azure.managedIdentity = (if $msi == "" then {} else {clientId: $msi} end)
      elif $auth == "service-principal" then .azure.servicePrincipal =
        ({tenantId: $tenant, clientId: $client} + (if $file == "" then {} else {clientSecretFile: $file} end))
      else . end'
  if [ -n "$secret" ]; then text_at '{azure: {servicePrincipal: {clientSecret: .}}}' "$secret"; fi
}

name_node() {
  node=$(uname -n | tr '[:upper:]' '[:lower:]')
  case $node in
    '' | localhost | localhost.* | '(none)')
      [ -n "$(jq -r '.agent.nodeName // ""' "$work/config" 2>/dev/null)" ] ||
        fail 'the host has no name of its own yet, and the configuration gives it none'
      ;;
  esac
}

# Standard input, if it is one mapping in JSON. What jq has to say may hold some of it.
one_object() { jq -es 'if length == 1 and (.[0] | type) == "object" then .[0] else false end' 2>/dev/null; }

# lay_over FILE: of the work directory, over what there is
lay_over() {
  { jq -s '.[0] * .[1]' "$work/config" "$work/$1" >"$work/next" 2>/dev/null && mv -f -- "$work/next" "$work/config"; } ||
    fail "the configuration cannot be put together: $1"
}

# text_at PROGRAM TEXT: a text that may be secret
text_at() {
  printf %s "$2" | jq -Rs "$1" >"$work/text" || fail 'jq failed'
  lay_over text
}

edit() {
  jq --arg node "$node" --arg auth "$auth" --arg msi "$msi_client" --arg tenant "$sp_tenant" --arg client "$sp_client" \
    --arg file "$secret_file$certificate" "$1" "$work/config" >"$work/next" 2>/dev/null ||
    give_up 'the sections azure, agent, components, networking and bootstrap of the configuration must be mappings'
  mv -f -- "$work/next" "$work/config" || fail 'the configuration cannot be put together'
}

fetch_data() {
  cluster=${cluster:-$(jq -r '.azure.targetCluster.resourceId // ""' "$work/config" 2>/dev/null)}
  pool=${pool:-$(jq -r '.azure.targetAgentPoolName // ""' "$work/config" 2>/dev/null)}
  { [ -n "$cluster" ] && [ -n "$pool" ]; } ||
    give_up 'FETCH_BOOTSTRAP_DATA needs CLUSTER_RESOURCE_ID and AGENT_POOL_NAME'
  set -- --cluster-resource-id "$cluster" --agent-pool-name "$pool" --auth "$auth" --output "$work/fetched"
  if [ -n "$msi_client" ]; then set -- "$@" --msi-client-id "$msi_client"; fi
  if [ "$auth" = service-principal ]; then
    set -- "$@" --sp-tenant-id "$sp_tenant" --sp-client-id "$sp_client"
    if [ -n "$certificate" ]; then
      set -- "$@" --sp-client-certificate-file "$certificate"
    elif [ -n "$secret_file" ]; then
      set -- "$@" --sp-client-secret-file "$secret_file"
    else
      printf %s "$secret" >"$work/secret" || fail 'there is no room for temporary files'
      set -- "$@" --sp-client-secret-file "$work/secret"
    fi
  fi
  if [ -n "$endpoint" ]; then set -- "$@" --resource-manager-endpoint "$endpoint"; fi
  if [ -n "$authority" ]; then set -- "$@" --authority-host "$authority"; fi
  if [ -n "$api_version" ]; then set -- "$@" --api-version "$api_version"; fi
  say 'fetching the data to join with'
  timeout -k 10 300 "$bin" fetch-bootstrap-data "$@" </dev/null ||
    fail "the data to join with cannot be fetched: exit $?"
  one_object <"$work/fetched" >"$work/data" || fail 'the data to join with cannot be read'
  lay_over data
}

# Whole or not at all, and never to be read by others.
write_config() {
  make_directory "${config%/*}/" || fail "${config%/*} cannot be made"
  if [ -L "$config" ] || { [ -e "$config" ] && [ ! -f "$config" ]; }; then give_up "$config is no regular file"; fi
  staged=$(mktemp "${config%/*}/.config.json.XXXXXX") || fail "${config%/*} cannot be written to"
  { jq . "$work/config" >"$staged" && chmod 0600 "$staged" && sync "$staged" && mv -fT -- "$staged" "$config" &&
    sync "${config%/*}/"; } || fail "$config cannot be written"
  staged=''
  rm -rf -- "${work:?}"
  work=''
  say "wrote $config"
}

# The agent ends with 0 when it is told to stop, too, so its word is not enough.
join() {
  "$bin" preflight --config "$config" --output text </dev/null || fail 'the preflight of the agent found a fault'
  "$bin" start --config "$config" </dev/null || fail 'the agent could not join'
  [ -e "$AGENT_UNIT" ] || fail 'the agent ended before it was installed'
  systemctl is-active --quiet "${AGENT_UNIT##*/}" || fail "${AGENT_UNIT##*/} does not run"
  say 'the agent is installed and runs'
}

main "$@"
