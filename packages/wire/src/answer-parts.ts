import { objectOf, parseJson } from '@agent-server/lib/text/json.ts'
import type { ModelToolCall } from '@agent-server/models'
import type { Hit } from '@agent-server/schemas/query.ts'
import type { AgentEvent, RunEnd } from './agent-event.ts'

/** The answer text of an event. Calls that wait for approval are included, for clients without that feature. */
export function textOf(event: AgentEvent): string {
  if (event.type === 'text-delta') return event.text
  if (event.type !== 'approval-required') return ''
  const lines = event.calls.map(({ tool, input, elicitations }) => {
    const questions = elicitations?.map(({ message }) => `\n  asks: ${message}`) ?? []
    return `- ${tool} ${JSON.stringify(input)}${questions.join('')}`
  })
  return `\n\nWaiting for approval:\n${lines.join('\n')}\n`
}

/** The arguments of a call of the client's own tool as an object, for protocols that do not send them as text. */
export function inputOf(call: ModelToolCall): object {
  return objectOf(parseJson(call.arguments))
}

/** Where a hit can be opened: at its own address on the web, or in the reader of the web UI. */
export function addressOf(hit: Hit, origin: string | undefined): string | undefined {
  const { url = '', documentId, start, end } = hit
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  if (origin === undefined) return undefined
  const place = end > start ? `?at=${start}-${end}` : ''
  return `${origin}/#/documents/${encodeURIComponent(documentId)}${place}`
}

/** The citations of a run, each with its hit. */
export function citedBy({ hits, citations }: Pick<RunEnd, 'hits' | 'citations'>) {
  return citations.flatMap((citation) => {
    const hit = hits[citation.number - 1]
    return hit ? [{ ...citation, hit }] : []
  })
}
