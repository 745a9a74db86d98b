import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ActivityEvent } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { onSignOut } from '../session.ts'

type Sample = Extract<ActivityEvent, { type: 'sample' }>
export type Occurrence = Exclude<ActivityEvent, Sample>

/** As many as the server keeps of successful requests, and of everything else. */
const MAX_EVENTS = 1_000
const MAX_SAMPLES = 360
const AGAIN_MS = 3_000

/** Latest last. Kept while other pages are open. */
export const occurrences = signal<readonly Occurrence[]>([])
export const samples = signal<readonly Sample[]>([])
const failure = signal('')

onSignOut(() => {
  occurrences.value = []
  samples.value = []
})

/** Follows the server while the page is open, also over a restart; answers what keeps it from that. */
export function useActivity() {
  useEffect(() => {
    const left = new AbortController()
    void followUntil(left.signal)
    return () => left.abort()
  }, [])
  return failure
}

async function followUntil(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const after = Math.max(occurrences.value.at(-1)?.id ?? 0, samples.value.at(-1)?.id ?? 0)
      await readAll(client.admin.events({ after }, { signal, maxRetries: 0 }))
    } catch (error) {
      if (!signal.aborted) failure.value = messageOf(error)
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}

/** What comes together is shown together. */
async function readAll(events: AsyncIterable<ActivityEvent>): Promise<void> {
  let waiting: ActivityEvent[] = []
  for await (const event of events) {
    if (waiting.push(event) > 1) continue
    setTimeout(() => {
      show(waiting)
      waiting = []
    })
  }
}

function show(events: readonly ActivityEvent[]): void {
  failure.value = ''
  const newSamples = events.filter((event) => event.type === 'sample')
  if (newSamples.length > 0) samples.value = [...samples.value, ...newSamples].slice(-MAX_SAMPLES)
  const others = events.flatMap((event) => (event.type === 'sample' || isOwn(event) ? [] : [event]))
  if (others.length > 0) occurrences.value = lastOf([...occurrences.value, ...others])
}

/** What the web UI reads to show itself. */
function isOwn(event: Occurrence): boolean {
  return event.type === 'request' && event.method === 'GET' && event.path.startsWith('/ui/')
}

/** Successful requests, however many, do not push out what went wrong. */
function lastOf(events: readonly Occurrence[]): readonly Occurrence[] {
  const requests = events.filter(isSuccessful).slice(-MAX_EVENTS)
  const others = events.filter((event) => !isSuccessful(event)).slice(-MAX_EVENTS)
  if (requests.length + others.length === events.length) return events
  return [...requests, ...others].toSorted((one, other) => one.id - other.id)
}

const isSuccessful = (event: Occurrence) => event.type === 'request' && event.status < 400
