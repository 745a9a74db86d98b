import { pause, untilAborted } from '@agent-server/lib/abort.ts'
import { parseParameters } from '@agent-server/lib/command-line.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { z } from 'zod'
import { AgentServer, AuthenticationError } from '../../client/src/agent-server.ts'

const USAGE = `Usage: AGENT_SERVER_KEY=… npm run deploy -- verify <url> [--seconds N]

Tests a deployed server through its API and deletes what it added. Exits with status 1 if a test fails.

  --seconds N    how long a stream is held open, 1 to 3600; by itself 60
`
const UPLOAD_BYTES = 20_000_000
/** How often the server sends a sign of life in a stream. */
const HEARTBEAT_MS = 15_000
/** The longest time between sending a line and its answer. */
const ANSWER_MS = 20_000
const MAX_CLOCK_SECONDS = 60
/** A response that took so long, yet came all at once, was buffered on its way. */
const BUFFERED_MS = 2_000
const TEXT = 'The lantern of the eastern lighthouse was lit by Ottilie Brandt in 1893.'

export interface VerifyContext {
  /** The arguments after the command's name. */
  parameters: readonly string[]
  environment: Readonly<Record<string, string | undefined>>
  stderr: { write(text: string): unknown }
  signal: AbortSignal
}

interface Target {
  url: string
  client: AgentServer
  key: string
  seconds: number
  signal: AbortSignal
  /** Ids of the documents to delete at the end. */
  added: Set<string>
}
type Check = (target: Target) => Promise<string>

/** `npm run deploy -- verify <url>`: prints a line per check; each runs whatever the others' outcome. */
export async function verifyDeployment(context: VerifyContext): Promise<number> {
  const { parameters, environment, stderr, signal } = context
  const options = { seconds: { type: 'string', default: '60' } } as const
  const { values, positionals } = parseParameters(parameters, options)
  const [, url] = positionals
  const seconds = Number(values.seconds)
  if (url === undefined || !(seconds >= 1 && seconds <= 3_600)) {
    stderr.write(USAGE)
    return 2
  }
  const key = environment.AGENT_SERVER_KEY ?? environment.SERVER_API_KEY
  if (!key) throw new Error('AGENT_SERVER_KEY is required: the key of the deployed server')
  const client = new AgentServer({ baseURL: url, apiKey: key })
  const target = { url: client.baseURL, client, key, seconds, signal, added: new Set<string>() }
  let passed = 0
  for (const [name, check] of CHECKS) {
    const started = performance.now()
    const { ok, words } = await outcomeOf(check, target)
    signal.throwIfAborted()
    const took = `${Math.round(performance.now() - started)} ms`.padStart(9)
    stderr.write(`${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(14)}${took}  ${words}\n`)
    if (ok) passed += 1
  }
  stderr.write(`${passed} of ${CHECKS.length} passed\n`)
  return passed === CHECKS.length ? 0 : 1
}

async function outcomeOf(check: Check, target: Target): Promise<{ ok: boolean; words: string }> {
  try {
    return { ok: true, words: await check(target) }
  } catch (error) {
    return { ok: false, words: String(error) }
  }
}

const health: Check = async ({ client, signal }) => {
  const { response } = await client.admin.health({ signal }).withResponse()
  const clock = Date.parse(response.headers.get('date') ?? '')
  const apart = Math.round(Math.abs(Date.now() - clock) / 1_000)
  if (apart > MAX_CLOCK_SECONDS)
    throw new Error(`its clock differs by ${apart} s from the one here`)
  return `its clock is ${Number.isNaN(clock) ? 'not known' : `${apart} s apart`}`
}

const readiness: Check = async ({ client, signal }) => {
  const { status, checks } = await client.admin.readiness({ signal })
  if (status !== 'ready') throw new Error(JSON.stringify(checks))
  return Object.keys(checks).join(', ')
}

const Contract = z.object({ info: z.object({ version: z.string() }) })

const reference: Check = async ({ url, signal }) => {
  const page = await fetch(`${url}/reference`, { signal })
  const contract = await fetch(`${url}/openapi.json`, { signal })
  if (!page.ok || !contract.ok) throw new Error(`answers ${page.status} and ${contract.status}`)
  const { info } = Contract.parse(await contract.json())
  return `version ${info.version}`
}

const wrongKey: Check = async ({ url, signal }) => {
  const stranger = new AgentServer({ baseURL: url, apiKey: 'a-key-that-is-wrong', maxRetries: 0 })
  const outcome = await stranger.agent.get({ signal }).catch((error: unknown) => error)
  if (!(outcome instanceof AuthenticationError)) throw new Error('it is accepted')
  return 'refused'
}

const ingest: Check = async ({ client, added, signal }) => {
  const { id } = await client.documents.create({ title: 'deploy verify', text: TEXT }, { signal })
  added.add(id)
  await client.documents.waitUntilReady(id, { signal, maxWait: 120_000 })
  return 'ready'
}

const query: Check = async ({ client, added, signal }) => {
  const { hits } = await client.query({ query: 'Ottilie Brandt lighthouse lantern' }, { signal })
  if (!hits.some(({ documentId }) => added.has(documentId)))
    throw new Error('does not find the test document')
  return `${hits.length} hits`
}

const chat: Check = async ({ client, added, signal }) => {
  const started = performance.now()
  const times: number[] = []
  const stream = client.chat(
    { messages: [{ role: 'user', content: 'Who lit the lantern of the eastern lighthouse?' }] },
    { signal },
  )
  for await (const _event of stream) times.push(performance.now() - started)
  const { hits, text } = await stream.result()
  if (!hits.some(({ documentId }) => added.has(documentId)))
    throw new Error('does not cite the test document')
  if (text === '') throw new Error('has no text')
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const timing = `first frame after ${Math.round(first)} ms, last ${Math.round(last - first)} ms later`
  if (first > BUFFERED_MS && last - first < 20)
    throw new Error(`is held back on its way: ${timing}`)
  return timing
}

/** Sends a document every few seconds on one open request; each must be answered before the next is sent. */
const longStream: Check = async ({ url, key, seconds, added, signal }) => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const send = (index: number) =>
    writer.write(new TextEncoder().encode(`${JSON.stringify({ text: `${TEXT} ${index}` })}\n`))
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' }
  const request = { method: 'POST', headers, body: readable, signal, duplex: 'half' } as const
  const answering = fetch(`${url}/documents/batch`, request)
  const inTime = () => AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])
  const end = performance.now() + seconds * 1_000
  void ignore(send(0), 'the answer tells of a stream that broke')
  const response = await untilAborted(answering, inTime())
  if (!response.ok || !response.body) throw new Error(`is answered ${response.status}`)
  const lines = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let index = 1; ; index++) {
    const { value = '', done } = await untilAborted(lines.read(), inTime())
    if (done) throw new Error(`ended before ${seconds} s`)
    for (const [, id = ''] of value.matchAll(/"id":"([^"]+)"/g)) added.add(id)
    const remaining = end - performance.now()
    if (remaining <= 0) break
    await pause(Math.min(HEARTBEAT_MS, remaining), signal)
    await untilAborted(send(index), inTime())
  }
  await untilAborted(writer.close(), inTime())
  return `open for ${seconds} s`
}

const upload: Check = async ({ client, added, signal }) => {
  const bytes = new Uint8Array(UPLOAD_BYTES).fill(97)
  for (let index = 60; index < bytes.length; index += 61) bytes[index] = 32
  const { id } = await client.documents.upload(bytes, { name: 'deploy-verify.txt', signal })
  added.add(id)
  return `${UPLOAD_BYTES / 1_000_000} MB taken`
}

const remove: Check = async ({ client, added, signal }) => {
  for (const id of added) await client.documents.delete(id, { signal })
  const { hits } = await client.query({ query: 'Ottilie Brandt lighthouse lantern' }, { signal })
  if (hits.some(({ documentId }) => added.has(documentId))) throw new Error('is still found')
  return `${added.size} documents`
}

const CHECKS: readonly (readonly [string, Check])[] = Object.entries({
  health,
  readiness,
  reference,
  'wrong key': wrongKey,
  ingest,
  query,
  chat,
  'long stream': longStream,
  upload,
  delete: remove,
})
