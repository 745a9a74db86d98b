import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { isLong, long } from '../support/long.ts'
import { startServer, TEST_KEY } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const CLIENT = fileURLToPath(new URL('../../client/src/agent-server.ts', import.meta.url))
const DOCUMENTS = isLong ? 3_000 : 200
const TIMEOUT_MS = 600_000
const FILE_BYTES = isLong ? 190_000_000 : 32_000_000

/** Runs a program over a client of its own process, whose memory nobody else uses; answers what it prints as JSON. */
async function measure(url: string, program: string): Promise<Record<string, number>> {
  const head = `
    import { AgentServer } from ${JSON.stringify(CLIENT)}
    const { documents } = new AgentServer({ baseURL: ${JSON.stringify(url)}, apiKey: '${TEST_KEY}' })
    const held = () => { gc(); const { heapUsed, arrayBuffers } = process.memoryUsage(); return heapUsed + arrayBuffers }`
  const parameters = ['--expose-gc', '--input-type=module', '--eval', `${head}\n${program}`]
  const { stdout } = await promisify(execFile)(process.execPath, parameters)
  return JSON.parse(stdout)
}

it(`${DOCUMENTS} documents go through upload and list, and none of them stays in memory`, {
  ...long,
  timeout: TIMEOUT_MS,
}, async () => {
  const server = await startServer({}, { begin: false })
  const told = await measure(
    server.url,
    `
    const numbers = Array(${DOCUMENTS}).keys()
    const text = 'Owls hunt at night. '.repeat(100)
    const marks = []
    const worker = async () => {
      for (const number of numbers) {
        await documents.upload(new File([text + number], 'owl.txt'))
        if (number === ${DOCUMENTS / 10} || number === ${DOCUMENTS - 1}) marks.push(held())
      }
    }
    await Promise.all(Array.from({ length: 8 }, worker))
    let listed = 0
    let early = 0
    for await (const { id } of documents.list()) if (++listed === 150) early = held()
    const [first, last] = marks
    console.log(JSON.stringify({ listed, uploads: last - first, lists: held() - early }))`,
  )
  expect(told.listed).toBe(DOCUMENTS)
  expect(told.uploads).toBeLessThan(3_000_000)
  expect(told.lists).toBeLessThan(3_000_000)
})

it('A large file is never in memory whole', { ...long, timeout: TIMEOUT_MS }, async () => {
  const server = await startServer({}, { begin: false })
  const path = join(await temporaryDirectory(), 'large.dat')
  const file = await open(path, 'w')
  await file.truncate(FILE_BYTES)
  await file.close()
  const told = await measure(
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
  expect(told.most).toBeLessThan(16_000_000)
})
