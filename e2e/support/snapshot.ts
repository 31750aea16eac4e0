import type { LabHost } from '../lab/host.ts'

/**
 * All of a host that a run could leave a trace in: files by inode, times, mode and owner, and units with their
 * processes. Left out is what every login and every passing second changes, with or without drover.
 */
export const snapshotOf = async (host: LabHost): Promise<string[]> => {
  const files = await host.must(
    `find /etc /usr/local /opt /root /home /srv /tmp /var/tmp /var/lib /var/cache /var/spool /run -xdev \\
      \\( -path /run/log -o -path /run/systemd -o -path /run/utmp -o -path /run/sudo -o -path /run/user -o -path /run/sshd -o -path /run/motd.dynamic -o -path /var/lib/systemd \\) -prune \\
      -o -printf '%p %y %m %u:%g %s %i %T@ %C@ %l\\n'`,
  )
  const units = await host.must(
    `systemctl show --no-pager -p Id,ActiveState,SubState,UnitFileState,NeedDaemonReload,MainPID,ExecMainStartTimestampMonotonic,InvocationID,NRestarts '*.service' '*.target' '*.socket' '*.mount' |
      awk -v RS= '{ gsub(/\\n/, " "); print }'`,
  )
  // /run is named for what is created and removed in it; its own times move with every login.
  const lines = [...files.split('\n'), ...units.split('\n')].filter(
    (line) => !/^\/run d/.test(line) && !/ Id=user/.test(line),
  )
  return lines.sort()
}
