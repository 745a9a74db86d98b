// @module-tag long
import { expect, it } from 'vitest'
import { Conversation } from '../../src/dialects/conversations/schema.ts'
import { readContract } from '../support/contract.ts'
import { echo } from '../support/growth/echo.ts'
import { FLOOR_MS, growthOf, TIMES } from '../support/growth/judge.ts'
import {
  type FieldRequest,
  fieldsOfOperations,
  type OperationField,
} from '../support/growth/operation-fields.ts'
import { MAX_HELD_MS, startProbedServer } from '../support/growth/probed-server.ts'
import { filled, SHAPES } from '../support/growth/shapes.ts'
import { isLong } from '../support/long.ts'
import { createRandom } from '../support/random.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { TEST_KEY } from '../support/server.ts'

const LENGTH = 40_000
/** Sent at once: only if together they take long, one after the other. */
const AT_ONCE = 6
/** Tries after which another conversation begins. */
const RENEWED_AFTER = 50 * AT_ONCE
const PATIENCE_MS = 60_000
/** Of all shapes of all fields, as many as there is time for, in an order that the seed decides. */
const SECONDS = isLong ? 120 : 6
const SEED = Number(process.env.TEST_SEED ?? 51)

const upstream = await startScriptedUpstream({ forgets: true })
upstream.always(echo)
const { server, costOf } = await startProbedServer(upstream)

const id = await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
const begin = async () =>
  Conversation.parse(await (await server.request('/v1/conversations', { body: {} })).json())
const conversation = await begin()
/** The conversation that stands for it: what was added before is no text of the request. */
let current = conversation
const IDS = Object.entries({
  '/documents/': id,
  '/v1/files/': id,
  '/v1/conversations/': conversation.id,
  '/v1/models': 'agent',
})
const fields = fieldsOfOperations(
  await readContract(server),
  ({ path }) => IDS.find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'owls',
)

interface Try {
  field: OperationField
  shape: string
  /** At most. */
  length: number
}

async function send({ path, method, body, headers }: FieldRequest): Promise<number> {
  const place = path.replace(conversation.id, current.id)
  const response = await fetch(`${server.url}${place}`, {
    method,
    headers: { authorization: `Bearer ${TEST_KEY}`, ...headers },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  await response.arrayBuffer()
  return response.status
}

const accepted = new Set<string>()

async function sendShape({ field, shape }: Try, length: number) {
  const status = await send(field.request(filled(shape, length)))
  if (status < 300) accepted.add(field.name)
}

/** What is wrong with a field that is filled with a shape. */
async function faultsOf(each: Try): Promise<string[]> {
  let held = Number.POSITIVE_INFINITY
  const growth = await growthOf(each.length, async (length) => {
    const { used, longest } = await costOf(() => sendShape(each, length))
    if (length === each.length) held = Math.min(held, longest)
    return used
  })
  for (let time = 1; time < TIMES && held > MAX_HELD_MS; time += 1) {
    const { longest } = await costOf(() => sendShape(each, each.length))
    held = Math.min(held, longest)
  }
  const what = `${each.field.name}, ${JSON.stringify(each.shape)}`
  return [
    ...(growth ? [`${what}: ${growth}`] : []),
    ...(held > MAX_HELD_MS ? [`${what}: nobody else for ${held.toFixed(0)} ms`] : []),
  ]
}

async function tryAll(tries: readonly Try[]) {
  const deadline = performance.now() + SECONDS * 1_000
  const faults: string[] = []
  let count = 0
  while (count < tries.length && performance.now() < deadline) {
    const batch = tries.slice(count, count + AT_ONCE)
    if (count % RENEWED_AFTER === 0) current = await begin()
    const { used } = await costOf(() =>
      Promise.all(batch.map((each) => sendShape(each, each.length))),
    )
    // Whatever is above the floor alone is so together with others.
    if (used > FLOOR_MS) for (const each of batch) faults.push(...(await faultsOf(each)))
    count += batch.length
  }
  return { faults, count }
}

it('The processor time of a request grows no faster than any text in it, and none holds up others', {
  timeout: 290_000,
}, async () => {
  const random = createRandom(SEED)
  const tries = fields
    .flatMap((field) => SHAPES.map((shape) => ({ field, shape, order: random.next() })))
    .toSorted((a, b) => a.order - b.order)
    .map(({ field, shape }): Try => {
      return { field, shape, length: Math.min(LENGTH, field.lengthOf(shape)) }
    })
  const { faults, count } = await tryAll(tries)
  process.stdout.write(
    `${count} of ${tries.length} shapes of ${fields.length} fields were tried, in the order of seed ${SEED}\n`,
  )
  expect(faults).toEqual([])
  // What is refused for another reason than its text shows little.
  expect(accepted.size).toBeGreaterThan(isLong ? 200 : 20)
})
