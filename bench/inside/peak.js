// Loaded into a process that is to be measured, before its own code: says at its end how much memory it had at its highest.
// JavaScript and not TypeScript, since stripping types would take memory of its own.
import { writeFileSync } from 'node:fs'

const file = process.env.BENCH_PEAK_FILE
// As the kernel counts it, in KiB.
if (file !== undefined) process.on('exit', () => writeFileSync(file, String(process.resourceUsage().maxRSS)))
