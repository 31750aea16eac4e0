// What a bootstrap needs that no lab host has: somebody who serves the agent's archive over TLS, and an agent that tells what it was asked.
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { LabHost } from '../lab/host.ts'
import { installMissing } from '../lab/install.ts'
import type { Lab } from '../lab/lab.ts'
import { mustRun } from '../lab/processes.ts'

export const MEMBER = 'aks-flex-node-linux-amd64'

/** What the server says to a request for a path: a status, a body, or nothing at all for as long as it is open. */
type Answer = number | Uint8Array | 'silence'

export interface AgentSource {
  /** Paths, with their queries, in order. */
  readonly requests: string[]
  /** The certificate that a host must trust. */
  readonly certificate: string
  serve(path: string, answer: Answer): void
  urlOf(path: string): string
  close(): Promise<void>
}

/** A server in the lab's network, which is this machine's end of it. */
export const openAgentSource = async (lab: Lab, host: LabHost): Promise<AgentSource> => {
  const address = host.address.replace(/\.\d+$/, '.1')
  const { key, certificate } = await certify(lab, address)
  const answers = new Map<string, Answer>()
  const requests: string[] = []
  const server = createServer({ key, cert: certificate }, ({ url = '' }, response) => {
    requests.push(url)
    const answer = answers.get(url.replace(/\?.*/, '')) ?? 404
    if (answer === 'silence') return
    if (typeof answer === 'number') response.writeHead(answer).end()
    else response.end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  return {
    requests,
    certificate,
    serve: (path, answer) => answers.set(path, answer),
    urlOf: (path) => `https://${address}:${(server.address() as AddressInfo).port}${path}`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

const certify = async (lab: Lab, address: string): Promise<{ key: string; certificate: string }> => {
  await installMissing([{ command: 'openssl', packages: ['openssl'] }], true)
  const [key, certificate] = [join(lab.folder, 'source.key'), join(lab.folder, 'source.crt')]
  const names = ['-subj', '/CN=lab', '-addext', `subjectAltName=IP:${address}`]
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  await mustRun('openssl', [...words, ...names, '-keyout', key, '-out', certificate], { timeoutMs: 30_000 })
  return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') }
}

export interface Archive {
  readonly bytes: Uint8Array
  readonly sha256: string
}

/** Packs files, by name, as a release is packed. */
export const pack = async (
  lab: Lab,
  name: string,
  members: Readonly<Record<string, string | Uint8Array>>,
): Promise<Archive> => {
  const folder = join(lab.folder, 'archives', name)
  mkdirSync(folder, { recursive: true })
  for (const [member, content] of Object.entries(members)) {
    writeFileSync(join(folder, member), content)
    chmodSync(join(folder, member), 0o755)
  }
  const file = `${folder}.tar.gz`
  await mustRun('tar', ['-czf', file, '-C', folder, '--', ...Object.keys(members)], { timeoutMs: 60_000 })
  const bytes = readFileSync(file)
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** What a telling agent leaves: `calls`, and per command the names and values of its environment. It obeys `COMMAND-exit`. */
export const TOLD = '/run/lab-bootstrap'

/** A script, so that a story can read all that it is told; whatever mount forbids programs forbids it as well. */
export const tellingAgent = (version: string): string => `#!/bin/sh
main() {
  mkdir -p ${TOLD}
  echo "$0 $*" >>${TOLD}/calls
  env >"${TOLD}/$1.env"
  case $1 in
    version) printf 'AKS Flex Node Agent\\nVersion: ${version}\\nGit Commit: 0\\nBuild Time: 0\\n' ;;
    fetch-bootstrap-data) fetch "$@" ;;
    start) if [ ! -e ${TOLD}/start-exit ]; then start; fi ;;
  esac
  if [ -e "${TOLD}/$1-exit" ]; then exit "$(cat "${TOLD}/$1-exit")"; fi
}
fetch() {
  while [ $# -gt 1 ]; do
    case $1 in
      --output) cp ${TOLD}/data "$2" ;;
      --sp-client-secret-file) cp "$2" ${TOLD}/secret ; stat -c %a "$2" >${TOLD}/secret-mode ;;
    esac
    shift
  done
}
start() {
  printf '[Service]\\nExecStart=/bin/sleep infinity\\n' >/etc/systemd/system/aks-flex-node-agent.service
  systemctl daemon-reload
  systemctl start aks-flex-node-agent.service
}
main "$@" </dev/null
`
