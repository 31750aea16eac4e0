import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'

const klistMs = 5_000

/** Whether this user has a Kerberos ticket that is good now. */
export const hasKerberosTicket = (env: NodeJS.ProcessEnv): Promise<boolean> =>
  new Promise((resolve) => {
    execFile('klist', ['-s'], { env, timeout: klistMs }, (error) => {
      if (error === null) resolve(true)
      else resolve(error.code === 'ENOENT' && hasTicketFile(env))
    })
  })

/** Where nothing can be asked: the file where MIT Kerberos keeps tickets unless it is told otherwise. */
const hasTicketFile = ({ KRB5CCNAME: name = '' }: NodeJS.ProcessEnv): boolean => {
  const kind = /^([A-Z]+):/.exec(name)?.[1]
  if (kind !== undefined && kind !== 'FILE') return true
  return existsSync(name === '' ? `/tmp/krb5cc_${process.getuid?.() ?? ''}` : name.replace(/^FILE:/, ''))
}
