import { DroverError } from '../../errors.ts'
import { shellQuote } from '../../quote.ts'

/** One of our own `.sh` files with what it is called with. */
export interface ScriptCall {
  readonly script: string
  readonly args: readonly string[]
  /** Random for each exec: it tells our frame from anything the host prints. */
  readonly token: string
}

export interface ComposedScript {
  readonly text: string
  /** Main reads its data from standard input. */
  readonly readsStdin: boolean
}

/**
 * The script between its frame marks. Main runs in a subshell so that its `exit` ends it and not the trailer.
 * The trailer is no EXIT trap: bash runs those when a signal kills it, and would then report success.
 */
export const composePayload = ({ script, args, token }: ScriptCall): ComposedScript => {
  if (!/^[A-Za-z0-9]+$/.test(token)) throw malformed(`the frame token ${JSON.stringify(token)} is not alphanumeric`)
  const { body, readsStdin } = splitScript(script)
  const words = ['main', ...args.map(shellQuote)].join(' ')
  const text = [
    `printf '\\036B ${token}\\n'; printf '\\036B ${token}\\n' >&2`,
    'LC_ALL=C; export LC_ALL',
    // Where it is exported, systemctl takes every option after its verb for the name of a unit. Bash links it to its own mode.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the braces are the shell's
    'unset POSIXLY_CORRECT; [ -z "${BASH_VERSION-}" ] || set -o posix',
    // `main || code=$?` would switch off `set -e` inside main, so the option is carried into the subshell instead.
    `${body}case $- in *e*) drover_e=-e ;; *) drover_e=+e ;; esac; set +e`,
    `( set "$drover_e"; ${words}${readsStdin ? '' : ' </dev/null'} )`,
    `drover_c=$?; printf '\\036E ${token} %s\\n' "$drover_c"; printf '\\036E ${token}\\n' >&2; exit "$drover_c"`,
  ].join('\n')
  return { text, readsStdin }
}

const splitScript = (script: string): { body: string; readsStdin: boolean } => {
  const match = /^(.*\n)?main "\$@"( <\/dev\/null)?\n*$/s.exec(script)
  if (match === null) throw malformed('its last line is neither `main "$@"` nor `main "$@" </dev/null`')
  return { body: match[1] ?? '', readsStdin: match[2] === undefined }
}

const malformed = (why: string): DroverError =>
  new DroverError({
    code: 'internal',
    message: `A host script cannot be composed: ${why}.`,
    remedy: 'This is a fault in drover. Report it.',
  })
