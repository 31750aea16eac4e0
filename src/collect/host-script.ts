import { shellSource } from '../facts/shell-source.ts'
import type { Part } from './part.ts'

/** The script that reads the parts, and its arguments. Of each it asks a byte more than is kept, to tell what was cut. */
export const collectScript = (parts: readonly Part[], budgetS: number): { script: string; args: string[] } => ({
  script: shellSource(new URL('./host/run-parts.sh', import.meta.url)),
  args: [
    String(budgetS),
    ...parts.flatMap(({ file, seconds, bytes, keep, argv }) => [
      file,
      String(seconds),
      String(bytes + 1),
      keep === 'last' ? 'last' : 'first',
      String(argv.length),
      ...argv,
    ]),
  ],
})
