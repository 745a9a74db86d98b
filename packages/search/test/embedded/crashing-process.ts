import { once } from 'node:events'
import { createEmbeddedIndex } from '../../src/embedded/embedded-index.ts'
import { addTo, createSource, searchIn } from '../contracts/chunk-index.fixture.ts'
import { CRASH_CHANNEL } from './crash-on-demand.ts'

const [directory] = await once(process, 'message')
const crashes: string[] = []
const index = createEmbeddedIndex({
  directory,
  fingerprint: 'test',
  source: createSource(),
  onCrash: ({ message }) => crashes.push(message),
})
await addTo(index, { 1: ['wing'] })
const crashed = new BroadcastChannel(CRASH_CHANNEL)
crashed.postMessage('now')
// Enough work that the crash comes before its end.
const chunks = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [i, [`a ${i}`]]))
const underWay = await outcome(addTo(index, chunks))
const afterwards = await outcome(searchIn(index, ['wing']))
const closing = await outcome(index.close())
process.send?.({ underWay, afterwards, closing, crashes }, () => process.exit())

async function outcome(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'fulfilled',
    (error: unknown) => `rejected: ${error instanceof Error ? error.message : error}`,
  )
}
