import { batched } from '@agent-server/lib/batches.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { z } from 'zod'
import { type Audit, whoOf } from './audit.ts'

interface Request {
  params?: unknown
  body: unknown
  caller: Caller
}

/** What somebody asked to be changed, in whichever protocol, and how that was answered. */
export interface Change extends Request {
  address: string
  /** The operation of the contract that does the same, if there is one. */
  action: string
  status: number
  /** As it is sent, in JSON. */
  answer?: unknown
}

export function changeEntry({ address, action, status, answer, ...request }: Change) {
  const targets = targetsOf(request, answer)
  return { who: whoOf(request.caller), address, action, status, targets }
}

export type RecordChange = ReturnType<typeof createChangeRecord>

/** Records the changes of protocols that have one route for everything, before they are acknowledged. */
export const createChangeRecord = (audit: Pick<Audit, 'record'>) => async (change: Change) => {
  if (change.status < 500) await audit.record(changeEntry(change))
}

const MAX_NAMES = 50
const MAX_ID = 300
const Ids = z.record(z.string(), z.unknown())
/** Documents of one entry. */
const MAX_DOCUMENTS = 1_000
const Results = z.object({ results: z.array(z.unknown()) })
const Identified = z.object({ id: z.string() })
/** In answers, whatever has been made or removed. */
const ANSWERED = ['id', 'documentId']

/** What a request was about: ids in its path and answer, and names of the fields that it sent; never their values. */
function targetsOf({ params, body, caller }: Request, payload: unknown) {
  const answer = typeof payload === 'string' ? parseJson(payload) : undefined
  const { results = [] } = Results.safeParse(answer).data ?? {}
  const documents = idsOf(results).slice(0, MAX_DOCUMENTS)
  const answered = Object.entries(Ids.safeParse(answer).data ?? {}).filter(([name]) =>
    ANSWERED.includes(name),
  )
  const ids = Object.entries(Ids.safeParse(params).data ?? {})
  const named = [...answered, ...ids].flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value.slice(0, MAX_ID)] as const] : [],
  )
  const sent = Ids.safeParse(body).data ?? {}
  // Settings are changed under their names.
  const settings = Object.keys(Ids.safeParse(sent.set).data ?? {})
  const fields = [...Object.keys(sent), ...settings].map((name) => name.slice(0, MAX_ID))
  return {
    ...Object.fromEntries(named),
    ...(documents.length > 0 && { documents }),
    ...(fields.length > 0 && { fields: fields.slice(0, MAX_NAMES) }),
    ...(caller.person && caller.key && { by: `key:${caller.key.id}` }),
  }
}

/** The documents that lines of an answer name, in lists for one entry each. */
export function documentsIn(lines: string): Iterable<string[]> {
  return batched(idsOf(lines.split('\n').map(parseJson)), MAX_DOCUMENTS)
}

function idsOf(results: readonly unknown[]): string[] {
  return results.flatMap((result) => {
    const { data } = Identified.safeParse(result)
    return data ? [data.id.slice(0, MAX_ID)] : []
  })
}
