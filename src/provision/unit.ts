import { bootstrapUnit } from '../tasks/agent/names.ts'
import { agentUnitFile, credentialsDirectory, firstBootDirectory } from '../tasks/agent/paths.ts'

export const script = `${firstBootDirectory}/bootstrap.sh`
export const environment = `${firstBootDirectory}/bootstrap.env`
export const baseConfig = `${firstBootDirectory}/base-config.json`

/** With the endings by which the agent tells what it is; they stay after the bootstrap. */
export const secretFile = `${credentialsDirectory}/sp-client-secret`
export const pemFile = `${credentialsDirectory}/sp-client-certificate`
export const pfxFile = `${pemFile}.pfx`

/** The name is a contract: a reset removes the unit by it. */
export const unitName = bootstrapUnit

/** What drover's bootstrap script ends with where no retry can succeed; no release's script ends so. */
const inVain = 78

/**
 * Runs at every boot until the agent is installed, and goes on trying meanwhile. systemd before 254 does not know the two
 * settings of the back-off: it says so in the journal, and waits ten seconds each time.
 */
export const unitText = `[Unit]
Wants=network-online.target
After=network-online.target nss-lookup.target
ConditionPathExists=!${agentUnitFile}
AssertPathExists=${script}
StartLimitIntervalSec=0

[Service]
Type=oneshot
RemainAfterExit=yes
TimeoutStartSec=30min
Restart=on-failure
RestartSec=10s
RestartSteps=10
RestartMaxDelaySec=300
RestartPreventExitStatus=${inVain}
Environment=AKS_FLEX_NODE_BASE_CONFIG_FILE=${baseConfig}
EnvironmentFile=${environment}
ExecStart=/bin/bash ${script}
ExecStartPost=/bin/rm -rf ${firstBootDirectory}

[Install]
WantedBy=multi-user.target
`
