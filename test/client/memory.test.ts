import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { isLong, onlyLong } from '../support/long.ts'
import { startServer, TEST_KEY } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const CLIENT = fileURLToPath(new URL('../../packages/client/src/agent-server.ts', import.meta.url))
const DOCUMENTS = 3_000
/** Half of the documents' texts are 60 MB. */
const GROWTH = 2_500_000
const TIMEOUT_MS = 600_000
const FILE_BYTES = isLong ? 190_000_000 : 32_000_000

/** Runs a program over a client of its own process, whose memory nobody else uses; answers what it prints as JSON. */
async function measure(url: string, program: string): Promise<Record<string, number>> {
  const head = `
    import { AgentServer } from ${JSON.stringify(CLIENT)}
    const { documents } = new AgentServer({ baseURL: ${JSON.stringify(url)}, apiKey: '${TEST_KEY}' })
    const { setTimeout: wait } = await import('node:timers/promises')
    const held = () => { gc(); const { heapUsed, arrayBuffers } = process.memoryUsage(); return heapUsed + arrayBuffers }
    // Buffers are freed by another thread, soon after a collection.
    const atRest = async () => { gc(); await wait(50); return held() }
    const median = (values) => values.toSorted((one, other) => one - other)[values.length >> 1]
    // From half to half, since what is compiled meanwhile moves single values.
    const growth = (values) => median(values.slice(values.length >> 1)) - median(values.slice(0, values.length >> 1))`
  const parameters = ['--expose-gc', '--input-type=module', '--eval', `${head}\n${program}`]
  const { stdout } = await promisify(execFile)(process.execPath, parameters)
  return JSON.parse(stdout)
}

it(`${DOCUMENTS} documents go through upload and list, and none of them stays in memory`, {
  ...onlyLong,
  timeout: TIMEOUT_MS,
}, async () => {
  const server = await startServer({}, { begin: false })
  const measured = await measure(
    server.url,
    `
    const text = 'Owls hunt at night. '.repeat(2_000)
    const uploads = []
    for (let tenth = 0; tenth < 10; tenth += 1) {
      const numbers = Array(${DOCUMENTS / 10}).keys()
      const worker = async () => {
        for (const number of numbers) await documents.upload(new File([text, tenth, number], 'owl.txt'))
      }
      await Promise.all(Array.from({ length: 8 }, worker))
      uploads.push(await atRest())
    }
    const lists = []
    let listed = 0
    for (let round = 0; round < 10; round += 1) {
      for await (const { id } of documents.list()) listed += 1
      lists.push(await atRest())
    }
    console.log(JSON.stringify({ listed, uploads: growth(uploads), lists: growth(lists) }))`,
  )
  expect(measured.listed).toBe(DOCUMENTS * 10)
  expect(measured.uploads).toBeLessThan(GROWTH)
  expect(measured.lists).toBeLessThan(GROWTH)
})

it('A large file is never in memory whole', { ...onlyLong, timeout: TIMEOUT_MS }, async () => {
  const server = await startServer({}, { begin: false })
  const path = join(await temporaryDirectory(), 'large.dat')
  const file = await open(path, 'w')
  await file.truncate(FILE_BYTES)
  await file.close()
  const measured = await measure(
    server.url,
    `
    const before = held()
    let most = 0
    let next = 0
    await documents.upload(${JSON.stringify(path)}, { onProgress(sent) {
      if (sent < next) return
      next = sent + 4_000_000
      most = Math.max(most, held() - before)
    } })
    console.log(JSON.stringify({ most }))`,
  )
  expect(measured.most).toBeLessThan(24_000_000)
})
