import { writeFileSync } from 'node:fs'
import { reportJsonSchema } from './run-report.ts'

// Run by hand or by a package script after run-report.ts or host-report.ts was changed; a test fails until then.
const target = new URL('../../docs/report.schema.json', import.meta.url)
writeFileSync(target, `${JSON.stringify(reportJsonSchema(), null, 2)}\n`)
