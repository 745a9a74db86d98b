import type { Log } from '@agent-server/lib/log.ts'
import type { CompleteRequest, McpServer } from '@modelcontextprotocol/server'
import { invalidParams } from './corpus-tools.ts'
import { DOCUMENT_TEMPLATE, guarded } from './document-resources.ts'
import type { Corpus, Skill } from './services.ts'

/** As the protocol has it, for one answer. */
const MAX_VALUES = 100
/** The newest documents, among which completions are searched for. */
const MAX_DOCUMENTS = 200

interface Services {
  skills: () => readonly Skill[]
  /** What the caller may see; absent if it may not read. */
  corpus: Pick<Corpus, 'collections' | 'documents'> | undefined
  log: Pick<Log, 'error'>
}

/** Completes the arguments of prompts, and the ids of documents by their ids or titles. */
export function addCompletion({ server }: McpServer, { skills, corpus, log }: Services): void {
  server.setRequestHandler('completion/complete', async ({ params }, { mcpReq }) => {
    const { ref, argument } = params
    const isMeant = (text: string) => text.toLowerCase().startsWith(argument.value.toLowerCase())
    return guarded(log, async () => {
      check(ref, skills(), corpus)
      const all = await valuesOf(argument.name, isMeant, mcpReq.signal)
      const values = all.slice(0, MAX_VALUES)
      return { completion: { values, hasMore: values.length < all.length } }
    })
  })

  async function valuesOf(name: string, isMeant: (text: string) => boolean, signal: AbortSignal) {
    if (name === 'collection') return ((await corpus?.collections(signal)) ?? []).filter(isMeant)
    if (name !== 'id' || !corpus) return []
    const page = { limit: MAX_DOCUMENTS, status: 'ready' as const, cursor: undefined }
    const { documents } = await corpus.documents.list(page, signal)
    return documents
      .filter(({ id, title = '' }) => isMeant(id) || isMeant(title))
      .map(({ id }) => id)
  }
}

/** Throws a ProtocolError for what there is not. */
function check(
  ref: CompleteRequest['params']['ref'],
  skills: readonly Skill[],
  corpus: Services['corpus'],
): void {
  if (ref.type === 'ref/prompt') {
    if (skills.some(({ name }) => name === ref.name)) return
    throw invalidParams(`There is no prompt "${ref.name}"`)
  }
  if (ref.uri === DOCUMENT_TEMPLATE && corpus) return
  throw invalidParams(`There is no resource template "${ref.uri}"`)
}
