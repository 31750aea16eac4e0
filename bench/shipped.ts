// What users get is measured: compiled JavaScript, and not the sources with their types stripped at every start.
import { cpSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { runStep } from '../test/suite/step.ts'
import { benchFolder, root } from './place.ts'

/** Compiles drover as the package holds it, beside the sources rather than into dist/. Returns the folder. */
export const buildShipped = async (): Promise<string> => {
  const folder = benchFolder('drover')
  const dist = join(folder, 'dist')
  rmSync(dist, { recursive: true, force: true })
  const argv = ['tsc', '-p', 'tsconfig.build.json', '--outDir', dist] as const
  if (!(await runStep({ name: 'compile', argv }))) throw new Error('what does not compile is not measured')
  for (const script of globSync('**/*.sh', { cwd: join(root, 'src') }))
    cpSync(join(root, 'src', script), join(dist, script))
  for (const part of ['bin', 'playbooks', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  return folder
}
