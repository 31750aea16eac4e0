import { exitCodeMeanings } from '../report/exit-code.ts'

const exitCodes = Object.entries(exitCodeMeanings)
  .map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`)
  .join('\n')

/** What follows the options in --help. A test runs every line that begins with `drover` through the parser. */
export const examples = {
  drover: `
Examples:
  drover status -i hosts.yaml
  drover run remediate -i "10.0.0.7," --check --diff
  drover run machines-target -i hosts.yaml -l rhel --reason "bug 436"

Environment:
  DROVER_INVENTORY       inventory to use where no -i is given
  DROVER_SSH_PASSWORD    login password where a host has none of its own (as -k asks for)
  DROVER_BECOME_PASSWORD password of sudo or doas, likewise (as -K asks for)
  DROVER_KEY_PASSPHRASE  opens encrypted private keys that ssh-agent does not hold
  DROVER_SSH_CONFIG      ssh_config to read where no -F is given, or none
  DROVER_OPERATOR        who is responsible, as hosts and reports show it (default: USER@workstation)
  HTTPS_PROXY, NO_PROXY  how releases are downloaded; XDG_CACHE_HOME: where they are kept
  NO_COLOR, FORCE_COLOR  no colours, or colours where there is no terminal

Exit codes:
${exitCodes}
`,
  run: `
Examples:
  drover run preflight -i hosts.yaml --ignore-preflight-errors swap-active
  drover run remediate -i hosts.yaml -l 'rhel,!rhel9-b' -C -D
  drover run remediate -i hosts.yaml -l @stuck.txt --output json
  drover run ./my-playbook.yaml -i "web1,web2:2222," -u admin -e within_s=60 -e @vars.yaml
  drover run migrate -i hosts.yaml -l canary --stop-at link
  drover run reset -i hosts.yaml -l node7 --check
  drover run reset -i hosts.yaml -l node7 --confirm 1 --reason "to be rebuilt"

drover playbooks lists the names. Ctrl-C starts no further host and lets the others end; a second one stops them.
`,
  confirm: `
Examples:
  drover confirm -i hosts.yaml -l node7 --reason "checked by hand"
  drover confirm -i hosts.yaml -l @unconfirmed.txt

drover status --where verdict=unconfirmed lists the hosts on which a rollback is armed.
`,
  rollback: `
Examples:
  drover rollback --now -i hosts.yaml -l node7
  drover rollback --now -i hosts.yaml -l node7 --check
`,
  status: `
Examples:
  drover status -i hosts.yaml -l rhel
  drover status -i hosts.yaml --where verdict=stuck -o names > stuck.txt
  drover status -i hosts.yaml --exit-code --output json
`,
  collect: `
Examples:
  drover collect -i hosts.yaml -l node7
  drover collect -i hosts.yaml -l @stuck.txt --since 2h --out ./for-support
  drover collect -i "root@10.0.0.7," -o json

Look through an archive before you pass it on: no pattern knows every secret.
`,
  keys: `
Examples:
  drover keys scan -i hosts.yaml
  drover keys scan -i hosts.yaml -l web --write
  drover keys scan -i hosts.yaml --write --yes --output json

It exits 2 where a host shows another key than known_hosts holds, 4 where hosts are only unreachable.
`,
  ignition: `
Examples:
  drover ignition -i hosts.yaml -l acl --out ./first-boot --ssh-authorized-key ~/.ssh/fleet.pub
  drover ignition -i hosts.yaml -l acl1 --out ./first-boot --merge ours.ign --force
  drover ignition -i hosts.yaml -l acl --out ./first-boot --bootstrap-script bootstrap.sh --bootstrap-script-sha256 HEX

The variables agent and provision say what is in them. The files are as secret as what they were made of.
`,
  cloudInit: `
Examples:
  drover cloud-init -i hosts.yaml -l rhel --out ./user-data
  drover cloud-init -i hosts.yaml -l rhel --out ./user-data -e @site.yaml -o json

The variables agent and provision say what is in them. The files are as secret as what they were made of.
`,
  inventory: `
Examples:
  drover inventory list -i hosts.yaml -l rhel
  drover inventory graph -i hosts.yaml
  drover inventory check -i hosts.yaml -i more-hosts.yaml
`,
} as const
