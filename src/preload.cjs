// Loaded before src/main.ts, in JavaScript that every Node.js reads: older ones could not even read that file to say why.
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')
const { isMainThread } = require('node:worker_threads')
const { engines } = require('../package.json')

const [wanted] = /[\d.]+/.exec(engines.node)
const [[major, minor], [least, leastMinor]] = [process.versions.node, wanted].map((version) =>
  version.split('.').map(Number),
)
if (major < least || (major === least && minor < leastMinor)) {
  process.stderr.write(
    `Agent Server needs Node.js ${wanted} or newer, and this is ${process.version} (${process.execPath}). ` +
      'Install a newer one from https://nodejs.org, or run npm ci without --omit=dev, which brings one along.\n',
  )
  process.exit(1)
}
// Settings of glibc's allocator, which it reads once, when a process begins: all threads share one heap, and freed memory
// goes back to the system. The operator's own values win. A process that its parent has a channel to would lose it, and
// any process what it inherits beyond its three streams: whoever needs those sets the two variables.
const allocator = { MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_ARENA_MAX: '1' }
const isTold = Object.keys(allocator).every((name) => process.env[name] !== undefined)
if (
  process.platform === 'linux' &&
  process.execve &&
  isMainThread &&
  !isTold &&
  !process.connected
) {
  const [program, ...command] = process.argv
  const environment = { ...allocator, ...process.env }
  try {
    process.execve(program, [program, ...process.execArgv, ...command], environment)
  } catch {
    // Not allowed here, or too long for the kernel: the server runs without these settings.
  }
}
// Compiled code is kept, which halves the next start; NODE_COMPILE_CACHE names another place.
enableCompileCache(join(__dirname, '../node_modules/.cache/agent-server'))
