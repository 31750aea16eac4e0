/** How far ssh has come. */
export type MasterStage = 'start' | 'resolve' | 'connect' | 'handshake' | 'authenticate' | 'open'

export interface OfferedKey {
  readonly name: string
  readonly type: string
  readonly fingerprint: string
  readonly isOfAgent: boolean
}

// ssh writes little, but a banner or an endless answer of something that is no SSH server is not its own.
const maxLine = 4096
const keptLines = 40

/** What ssh says of itself with LogLevel=DEBUG1, in its English: what it does, and at last why it gave up. */
export class MasterLog {
  stage: MasterStage = 'start'
  /** `SSH-2.0-OpenSSH_9.2p1 ...`; empty: it never said one. */
  version = ''
  /** What the far side said before its version. */
  greeting = ''
  /** Host key: `ssh-ed25519 SHA256:...`; undefined: none was shown. */
  shownKey: string | undefined
  /** `user@name` as ssh's questions call it. */
  login: string | undefined
  /** It has taken the last key that was offered; what is left is the signature, or the account. */
  hasAccepted = false
  /** What the server would still take. */
  serverMethods: readonly string[] = []
  isPartial = false
  readonly offered: OfferedKey[] = []
  /** What is no debugging, newest last: reasons and warnings. */
  readonly words: string[] = []
  /** Addresses that were tried so far. */
  tried = 0
  #rest = ''

  /** Whole lines only. Returns whether something is new in them. */
  push(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = (lines.pop() ?? '').slice(-maxLine)
    for (const line of lines) this.#read(line.replace(/\r$/, '').slice(0, maxLine))
  }

  #read(line: string): void {
    if (this.stage === 'start' && line.startsWith('debug1: ')) this.stage = 'resolve'
    const debug = /^debug\d: (.*)$/.exec(line)?.[1]
    if (debug !== undefined) this.#readDebug(debug)
    else if (this.stage !== 'open' && /^Authenticated (using|with) .* with partial success/.test(line))
      this.isPartial = true
    else if (line.trim() !== '') {
      this.words.push(line)
      if (this.words.length > keptLines) this.words.shift()
    }
  }

  #readDebug(line: string): void {
    // Once the far side is known to be the host, it could still write lines that look like ssh's (a banner).
    const isEarly = this.stage !== 'authenticate' && this.stage !== 'open'
    if (isEarly) this.#readHandshake(line)
    else if (this.stage === 'authenticate') this.#readLogin(line)
  }

  #readHandshake(line: string): void {
    const read = (pattern: RegExp, take: (...groups: string[]) => void): void => {
      const found = pattern.exec(line)
      if (found !== null) take(...found.slice(1))
    }
    read(/^(?:Connecting to |Executing proxy command)/, () => {
      this.stage = 'connect'
      this.tried += 1
    })
    // The second is said by the ssh that goes through the jump host.
    read(/^(?:Connection established|mux_client_request_stdio_fwd: master session id)/, () => {
      this.stage = 'handshake'
    })
    read(/^Remote protocol version ([\d.]+), remote software version (.*)$/, (protocol, software) => {
      this.stage = 'handshake'
      this.version = `SSH-${protocol}-${software}`
    })
    read(/^kex_exchange_identification: banner line \d+: (.*)$/, (text) => {
      this.greeting = `${this.greeting}${text}\n`.slice(0, maxLine)
    })
    read(/^Authenticating to (\S+):\d+ as '(.*)'$/, (name, user) => {
      this.login = `${user}@${name}`
    })
    read(/^Server host key: (\S+ SHA256:\S+)/, (key) => {
      this.shownKey = key
    })
    read(/^SSH2_MSG_SERVICE_ACCEPT received/, () => {
      this.stage = 'authenticate'
    })
  }

  #readLogin(line: string): void {
    const methods = /^Authentications that can continue: (.*)$/.exec(line)?.[1]
    if (methods !== undefined) {
      this.serverMethods = methods.split(',')
      this.hasAccepted = false
    }
    if (line.startsWith('Server accepts key: ')) this.hasAccepted = true
    const [, name, type, fingerprint, source] =
      /^Offering public key: (.*) (\S+) (SHA256:\S+)(?: (.*))?$/.exec(line) ?? []
    if (name !== undefined && type !== undefined && fingerprint !== undefined) {
      this.offered.push({
        name,
        type: keyTypes[type] ?? type,
        fingerprint,
        isOfAgent: source?.includes('agent') ?? false,
      })
    }
    if (line.startsWith('Entering interactive session')) this.stage = 'open'
  }
}

const keyTypes: Readonly<Record<string, string>> = {
  ED25519: 'ssh-ed25519',
  RSA: 'ssh-rsa',
  ECDSA: 'ecdsa-sha2',
  'ED25519-SK': 'sk-ssh-ed25519@openssh.com',
  'ECDSA-SK': 'sk-ecdsa-sha2-nistp256@openssh.com',
}
