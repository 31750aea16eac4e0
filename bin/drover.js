#!/usr/bin/env node
// Only what old versions of Node understand, too: this file has to get far enough to say that Node is too old.
// Before anything starts libuv's threads: four of them let two names be looked up at a time (src/transport/resolve.ts).
if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '64'
if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(
    'drover: it needs Node 24 or later, and this is Node ' +
      process.versions.node +
      ' (' +
      process.execPath +
      '). [usage]\n' +
      '  fix: Install Node 24 (https://nodejs.org), or put it first in PATH; in a checkout, npm install brings it and npx drover uses it.\n',
  )
  process.exitCode = 5
} else {
  void import('node:fs').then((fs) => {
    // The installed package holds the compiled form only.
    return import(fs.existsSync(new URL('../src/main.ts', import.meta.url)) ? '../src/main.ts' : '../dist/main.js')
  })
}
