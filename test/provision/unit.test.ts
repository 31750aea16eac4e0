import { expect, test } from 'vitest'
import { unitName, unitText } from '../../src/provision/unit.ts'

test('the unit is what a reset removes by name, and has the directives of domain.md 10 and no others', () => {
  expect(unitName).toBe('aks-flex-node-bootstrap.service')
  expect(unitText.split('\n').filter((line) => line !== '')).toEqual([
    '[Unit]',
    'Wants=network-online.target',
    'After=network-online.target nss-lookup.target',
    'ConditionPathExists=!/etc/systemd/system/aks-flex-node-agent.service',
    'AssertPathExists=/etc/aks-flex-node/first-boot/bootstrap.sh',
    'StartLimitIntervalSec=0',
    '[Service]',
    'Type=oneshot',
    'RemainAfterExit=yes',
    'TimeoutStartSec=30min',
    'Restart=on-failure',
    'RestartSec=10s',
    'RestartSteps=10',
    'RestartMaxDelaySec=300',
    // M9: what cannot succeed on a retry.
    'RestartPreventExitStatus=78',
    'Environment=AKS_FLEX_NODE_BASE_CONFIG_FILE=/etc/aks-flex-node/first-boot/base-config.json',
    'EnvironmentFile=/etc/aks-flex-node/first-boot/bootstrap.env',
    'ExecStart=/bin/bash /etc/aks-flex-node/first-boot/bootstrap.sh',
    'ExecStartPost=/bin/rm -rf /etc/aks-flex-node/first-boot',
    '[Install]',
    'WantedBy=multi-user.target',
  ])
})
