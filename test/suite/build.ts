// What the package holds: compiled JavaScript, and beside it the shell scripts, which tsc does not copy.
import { cpSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root, runStep } from './step.ts'

rmSync(join(root, 'dist'), { recursive: true, force: true })
if (!(await runStep({ name: 'compile', argv: ['tsc', '-p', 'tsconfig.build.json'] }))) process.exitCode = 1
for (const script of globSync('**/*.sh', { cwd: join(root, 'src') }))
  cpSync(join(root, 'src', script), join(root, 'dist', script))
