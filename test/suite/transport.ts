import { ensureImages, type ImageName, imageName } from '../../e2e/lab/images.ts'
import { root, runStep } from './step.ts'
import { type Counts, readCounts, reportFile } from './vitest-report.ts'

/** The transport's integration tests beside the sshd of one lab image, in a container that reaches nothing but itself. */
export const testTransport = async (image: ImageName): Promise<{ isGood: boolean; counts: Counts }> => {
  const report = reportFile(`transport-${image}`)
  await ensureImages([image], { yes: true })
  const isGood = await runStep({
    name: `transport against the sshd of ${image}`,
    argv: [
      ...['docker', 'run', '--rm', '--network=none', '--init', `--volume=${root}:${root}`, `--workdir=${root}`],
      ...['--env=CI=true', imageName(image), 'node_modules/.bin/node', 'node_modules/.bin/vitest', 'run'],
      ...[
        '--config=vitest.integration.config.ts',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
      ],
    ] as [string, ...string[]],
  })
  return { isGood, counts: readCounts(report) }
}
