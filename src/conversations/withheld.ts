import { isObject, parseJson } from '@agent-server/lib/text/json.ts'
import type { StoredAnswer } from '@agent-server/schemas/conversation.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import { forCallerById } from '@agent-server/schemas/visibility.ts'
import type { StoredItem } from '@agent-server/stores'
import type { HiddenDocuments } from '../documents/hidden-documents.ts'
import { readAnswer } from './answer-record.ts'
import { documentsIn, visibleToOthers, withoutWords } from './cited-items.ts'
import { shownToOthers, WITHHELD } from './shown-to-others.ts'

/** All of their results comes from documents that are among the hits; what others read is not stored. */
const CITING_TOOLS = ['semantic_search', 'read_document', 'find_text', 'query_table']

/** Who reads an answer: whoever asked for it, or somebody with whom the conversation is shared. */
interface Reader {
  caller: Caller
  isOwner: boolean
}

/** Names a file that a reader may have, by a path that opens it for a while. */
type LinkFor = (artifactId: string, person: string | undefined) => string

/**
 * Answers without the words of documents that their reader may not read any more; what was answered stays. Files that
 * tools made stay with whoever asked; others get them while they may read all that the answer was made from.
 */
export function createWithholding(hiddenOf: HiddenDocuments, linkFor: LinkFor) {
  const answer = async (
    stored: StoredAnswer,
    { caller, isOwner }: Reader,
  ): Promise<StoredAnswer> => {
    if (forCallerById(caller).rights === 'all') return stored
    const { hits } = stored.agent
    const hidden = await hiddenOf(
      hits.map(({ documentId }) => documentId),
      caller,
    )
    const isWhole = isWholeFor(stored.agent, hidden)
    const mayHave = isOwner || isWhole
    const own = withheld(stored.agent, hidden)
    const { artifacts = [], ...others } = isOwner ? own : shownToOthers(own, hidden, isWhole)
    if (!mayHave || artifacts.length === 0) return { ...stored, agent: others }
    const linked = artifacts.map((one) => ({ ...one, link: linkFor(one.id, caller.person?.id) }))
    return { ...stored, agent: { ...others, artifacts: linked } }
  }
  /** What programs have added, such as the output of the Responses API, which has no record of its hits. */
  const added = async (item: StoredItem, { caller, isOwner }: Reader): Promise<StoredItem> => {
    const before = parseJson(item.json)
    if (!isObject(before)) return item
    const hidden = await hiddenOf(documentsIn(before), caller)
    if (isOwner && hidden.size === 0) return item
    const after = isOwner ? withoutWords(before, hidden) : visibleToOthers(before, hidden)
    return { ...item, json: JSON.stringify(after) }
  }
  const shown = async (item: StoredItem, reader: Reader): Promise<StoredItem> => {
    const before = readAnswer({ ...item, silentMs: 0 })
    if (!before) return added(item, reader)
    const after = await answer(before, reader)
    return after === before ? item : { ...item, json: JSON.stringify(after) }
  }
  return {
    answer,
    async items(items: StoredItem[], reader: Reader): Promise<StoredItem[]> {
      // Nothing is withheld, and what is long would be parsed in vain.
      if (forCallerById(reader.caller).rights === 'all') return items
      return Promise.all(items.map((item) => shown(item, reader)))
    },
  }
}

export type Withholding = ReturnType<typeof createWithholding>

type Step = StoredAnswer['agent']['steps'][number]

/** A call that failed cites nothing, though its error may quote; rows that the model wrote may come from anything. */
const isCiting = ({ tool, input, isError }: Step) =>
  !isError &&
  (CITING_TOOLS.includes(tool) || (tool === 'make_chart' && typeof Object(input).sql === 'string'))

/** Tools of other servers read no documents. */
const isShown = (step: Step, hidden: ReadonlySet<string>) =>
  step.tool.startsWith('mcp__') || (hidden.size === 0 && isCiting(step))

/** Only the end of a run tells everything that its tools have read. */
const hasAllHits = ({ finishReason, error }: StoredAnswer['agent']) =>
  error === undefined &&
  finishReason !== undefined &&
  finishReason !== 'cancelled' &&
  finishReason !== 'interrupted'

/** Whether somebody may read everything that an answer was made from. */
const isWholeFor = (agent: StoredAnswer['agent'], hidden: ReadonlySet<string>) =>
  hasAllHits(agent) && hidden.size === 0 && agent.steps.every((step) => isShown(step, hidden))

function withheld(agent: StoredAnswer['agent'], hidden: ReadonlySet<string>) {
  const { steps } = agent
  const isComplete = hasAllHits(agent)
  return {
    ...agent,
    ...withoutPassages(agent, hidden),
    steps: steps.map((step) =>
      step.output === undefined || (isComplete && isShown(step, hidden))
        ? step
        : { ...step, output: isComplete ? WITHHELD : undefined },
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
        isHidden(hits[citation.number - 1])
          ? { ...citation, quotes: [], evidence: undefined }
          : citation,
      ),
    }),
  }
}
