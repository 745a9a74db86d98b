import type { StoredAnswer } from '@agent-server/schemas/conversation.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import { forCallerById } from '@agent-server/schemas/visibility.ts'
import type { HiddenDocuments } from '../documents/hidden-documents.ts'
import type { StoredItem } from '../stores/conversation-store.ts'
import { readAnswer } from './answer-record.ts'

/** What stands for words of a document that its reader may not read any more. */
const WITHHELD = 'Withheld: you may not read all documents that this may have come from.'

/** Their results come from documents that are among the hits; what others read is not stored. */
const CITING_TOOLS = ['semantic_search', 'read_document', 'find_text', 'query_table']

/** Answers without the words of documents that their reader may not read any more; what was answered stays. */
export function createWithholding(hiddenOf: HiddenDocuments) {
  const answer = async (stored: StoredAnswer, caller: Caller): Promise<StoredAnswer> => {
    if (forCallerById(caller).rights === 'all') return stored
    const { hits } = stored.agent
    const hidden = await hiddenOf(
      hits.map(({ documentId }) => documentId),
      caller,
    )
    return { ...stored, agent: withheld(stored.agent, hidden) }
  }
  return {
    answer,
    items: (items: readonly StoredItem[], caller: Caller): Promise<StoredItem[]> =>
      Promise.all(
        items.map(async (item) => {
          const before = readAnswer({ ...item, silentMs: undefined })
          const after = before && (await answer(before, caller))
          return after === before ? item : { ...item, json: JSON.stringify(after) }
        }),
      ),
  }
}

export type Withholding = ReturnType<typeof createWithholding>

/** Tools of other servers read no documents. */
const isShown = (tool: string, hidden: ReadonlySet<string>) =>
  tool.startsWith('mcp__') || (hidden.size === 0 && CITING_TOOLS.includes(tool))

function withheld(agent: StoredAnswer['agent'], hidden: ReadonlySet<string>) {
  const { steps } = agent
  return {
    ...agent,
    ...withoutPassages(agent, hidden),
    steps: steps.map((step) =>
      step.output === undefined || isShown(step.tool, hidden)
        ? step
        : { ...step, output: WITHHELD },
    ),
  }
}

/** The hits and quotes of an answer, without the words of these documents. */
export function withoutPassages(
  { hits, citations }: Pick<StoredAnswer['agent'], 'hits' | 'citations'>,
  hidden: ReadonlySet<string>,
) {
  const isHidden = (hit: Hit | undefined) => hit !== undefined && hidden.has(hit.documentId)
  const emptied = ({ id, documentId, score, start, end }: Hit): Hit => ({
    id,
    documentId,
    score,
    start,
    end,
    text: '',
    title: '',
  })
  return {
    hits: hits.map((hit) => (isHidden(hit) ? emptied(hit) : hit)),
    ...(citations && {
      citations: citations.map((citation) =>
        isHidden(hits[citation.number - 1]) ? { ...citation, quotes: [] } : citation,
      ),
    }),
  }
}
