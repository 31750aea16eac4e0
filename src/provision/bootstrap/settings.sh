# shellcheck shell=sh disable=SC2154,SC2034
# What is wanted, and whether it can be.

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
