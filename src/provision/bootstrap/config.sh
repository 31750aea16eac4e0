# shellcheck shell=sh disable=SC2154,SC2034
# config.json, and the join.

# What comes later wins; mappings are joined, all else is replaced.
render_config() {
  echo '{}' >"$work/config" || fail 'there is no room for temporary files'
  if [ -n "$base" ]; then
    one_object <"$base" >/dev/null || give_up 'BASE_CONFIG_FILE is no JSON object'
    one_object <"$base" >"$work/config" || fail 'there is no room for temporary files'
  fi
  # shellcheck disable=SC2016   # of jq
  jq -n --arg cluster "$cluster" --arg pool "$pool" --arg endpoint "$endpoint" '
    {azure: ((if $cluster == "" then {} else {targetCluster: {resourceId: $cluster}} end)
      + (if $pool == "" then {} else {targetAgentPoolName: $pool} end)
      + (if $endpoint == "" then {} else {resourceManagerEndpoint: $endpoint} end))}' >"$work/target" || fail 'jq failed'
  lay_over target
  if [ -n "$fetch" ]; then fetch_data; fi
  if [ -n "$overrides" ]; then
    printf '%s\n' "$overrides" | one_object >/dev/null || give_up 'CONFIG_OVERRIDES is no JSON object'
    printf '%s\n' "$overrides" | one_object >"$work/overrides" || fail 'there is no room for temporary files'
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
    --arg file "$secret_file$certificate" "$1" "$work/config" >"$work/next" 2>/dev/null
  # With 5 jq says that the data do not fit; anything else, as a full disk, may pass.
  case $? in
    0) ;;
    5) give_up 'the sections azure, agent, components, networking and bootstrap of the configuration must be mappings' ;;
    *) fail 'the configuration cannot be put together' ;;
  esac
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
  as_usual timeout -k 10 300 "$bin" fetch-bootstrap-data "$@" </dev/null ||
    fail "the data to join with cannot be fetched: exit $?"
  one_object <"$work/fetched" >"$work/data" || fail 'the data to join with cannot be read'
  lay_over data
}

# The agent makes files and directories that others must read: ours is no umask for it.
as_usual() { (umask 022 && exec "$@"); }

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
  as_usual "$bin" preflight --config "$config" --output text </dev/null || fail 'the preflight of the agent found a fault'
  as_usual "$bin" start --config "$config" </dev/null || fail 'the agent could not join'
  [ -e "$AGENT_UNIT" ] || fail 'the agent ended before it was installed'
  systemctl is-active --quiet "${AGENT_UNIT##*/}" || fail "${AGENT_UNIT##*/} does not run"
  say 'the agent is installed and runs'
}
