import type { LabHost } from '../lab/host.ts'

/**
 * Every state of machines.target in domain.md 4.1, really made on a host: what is run there, and what systemd then says
 * (`UnitFileState`). `$u` is the unit's name, `$shipped` its file of the package, `$kept` a copy of that.
 */
const targetStates = {
  missing: { make: 'rm "$shipped"', says: '' },
  enabled: { make: 'systemctl enable --quiet $u', says: 'enabled' },
  'enabled-runtime': { make: 'systemctl enable --quiet --runtime $u', says: 'enabled-runtime' },
  disabled: { make: ':', says: 'disabled' },
  masked: { make: 'systemctl mask --quiet $u', says: 'masked' },
  'masked-runtime': { make: 'systemctl mask --quiet --runtime $u', says: 'masked-runtime' },
  'an empty file': { make: ': >"/etc/systemd/system/$u"', says: 'masked' },
  linked: {
    make: 'mkdir -p /srv/units; mv "$shipped" /srv/units/; systemctl link --quiet /srv/units/$u',
    says: 'linked',
  },
  'linked-runtime': {
    make: 'mkdir -p /srv/units; mv "$shipped" /srv/units/; systemctl link --quiet --runtime /srv/units/$u',
    says: 'linked-runtime',
  },
  static: { make: 'sed "/^\\[Install\\]/,\\$d" "$kept" >"/etc/systemd/system/$u"', says: 'static' },
  indirect: {
    make: '{ sed "/^\\[Install\\]/,\\$d" "$kept"; printf "[Install]\\nAlso=remote-fs.target\\n"; } >"/etc/systemd/system/$u"',
    says: 'indirect',
  },
  // Of an enabled unit, whose state is what systemd then shows for the alias.
  alias: {
    make: 'systemctl enable --quiet remote-fs.target; ln -s /usr/lib/systemd/system/remote-fs.target "/etc/systemd/system/$u"',
    says: 'enabled',
  },
  generated: {
    make: `g=/etc/systemd/system-generators/lab; mkdir -p "\${g%/*}"; printf '#!/bin/sh\\ncp %s "$1/machines.target"\\n' "$kept" >$g; chmod 0755 $g`,
    says: 'generated',
  },
} as const satisfies Readonly<Record<string, { readonly make: string; readonly says: string }>>

export type TargetState = keyof typeof targetStates

const pristine = `set -eu
u=machines.target shipped=/usr/lib/systemd/system/machines.target kept=/srv/kept-machines.target
[ -e "$kept" ] || cp -p "$shipped" "$kept"
systemctl unmask --quiet $u || :
systemctl unmask --quiet --runtime $u || :
rm -rf "/etc/systemd/system/$u" "/run/systemd/system/$u" /srv/units /etc/systemd/system-generators/lab
cp -p "$kept" "$shipped"
systemctl daemon-reload
systemctl disable --quiet $u
systemctl disable --quiet --runtime $u
`

/** Brings the target of a host to a state, from whatever state it had; an error if systemd then says another one. */
export const makeTarget = async (host: LabHost, state: TargetState): Promise<void> => {
  const { make, says } = targetStates[state]
  const seen = await host.must(
    `${pristine}${make}\nsystemctl daemon-reload; systemctl show -p UnitFileState --value $u`,
  )
  if (seen !== says)
    throw new Error(`on ${host.name} machines.target is '${seen}' where '${says}' was made for ${state}`)
}
