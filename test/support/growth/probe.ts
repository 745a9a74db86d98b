import { createServer } from 'node:http'
import { isMainThread } from 'node:worker_threads'
import { processorMs } from '../processor-time.ts'

// Loaded into the server's process with `--import`: tells what processor time the process has used, and for how long of
// it the main thread gave nothing else a turn since it was last asked. What it starts inherits the option.
if (isMainThread && process.argv[1]?.endsWith('/src/main.ts')) {
  let last = processorMs()
  let longest = 0
  setInterval(() => {
    const now = processorMs()
    longest = Math.max(longest, now - last)
    last = now
  }, 1).unref()
  const server = createServer((_request, response) => {
    const { user, system } = process.cpuUsage()
    response.end(JSON.stringify({ used: (user + system) / 1_000, longest }))
    longest = 0
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address !== 'object') return
    process.stdout.write(`probe at http://127.0.0.1:${address?.port}/\n`)
  })
  server.unref()
}
