import { agentUnit } from '../agent/names.ts'
import { type HostRoot, layoutEntry, recoveryScript, upgradeSignalFile } from '../agent/paths.ts'
import { unitFile } from './unit-file.ts'

/** domain.md 3.3. OnFailure= of the agent's unit starts it, so it needs no [Install]. */
export const recoveryUnitFile = (root: HostRoot): string =>
  unitFile([
    { name: 'Unit', lines: [['Description', 'Recover AKS Flex Node Agent to last-known-good binary']] },
    {
      name: 'Service',
      lines: [
        ['Type', 'oneshot'],
        ['ExecStart', recoveryScript(root)],
      ],
    },
  ])

/**
 * From systemd 254 on it runs at every failure, so without a pending upgrade it changes nothing. Where
 * reset-failed is denied (#385) it still restores and restarts, and only its exit status tells.
 */
export const recoveryScriptFile = (root: HostRoot): string => `#!/bin/sh
set -u

signal=${upgradeSignalFile}
last_good=${layoutEntry(root, 'last-good')}
unit=${agentUnit}

main() {
  [ -e "$signal" ] || return 0
  if [ ! -x "$last_good" ]; then
    echo "cannot recover: $last_good is not executable" >&2
    return 1
  fi
  status=0
  "$last_good" recover-agent-upgrade --message "the agent failed after an upgrade" || status=$?
  systemctl reset-failed "$unit" || status=$?
  systemctl --no-block restart "$unit" || status=$?
  return "$status"
}

main "$@"
`
