import type { StoredAnswer } from '@agent-server/schemas/conversation.ts'
import type { Hit } from '@agent-server/schemas/query.ts'

type Agent = StoredAnswer['agent']
type Step = Agent['steps'][number]

/** What stands for words of a document that its reader may not read any more. */
export const WITHHELD = 'Withheld: you may not read all documents that this may have come from.'

/** What these write around their passages counts, or names, documents that they do not cite. */
const PASSAGE_TOOLS = ['semantic_search', 'read_document', 'find_text']
const PASSAGES = /<passages>.*?(?:<\/passages>|$)/s

/**
 * What led to an answer, for those with whom its conversation is shared: nothing in it counts or names documents that
 * they may not read. `isWhole` if they may read all that it was made from.
 */
export function shownToOthers(
  { usage: _, approval: __, ...agent }: Agent,
  hidden: ReadonlySet<string>,
  isWhole: boolean,
): Agent {
  return {
    ...agent,
    hits: agent.hits.map((hit, place) => (hidden.has(hit.documentId) ? unnamed(hit, place) : hit)),
    steps: agent.steps.map((step) => {
      const output = outputOf(step)
      // The model writes what it has read into the next call, so its words are withheld as well.
      const isShown = isWhole && output !== WITHHELD
      return isShown
        ? { ...step, ...(output !== undefined && { output }) }
        : withoutInput(step, output)
    }),
  }
}

/** Its number stays, by which the answer cites it; ids may be made of the names of files. */
const unnamed = (hit: Hit, place: number): Hit => ({
  ...hit,
  id: `withheld-${place + 1}`,
  documentId: '',
})

function outputOf({ tool, output, isError }: Step): string | undefined {
  if (output === undefined || isError || !PASSAGE_TOOLS.includes(tool)) return output
  return PASSAGES.exec(output)?.[0] ?? WITHHELD
}

const withoutInput = ({ callId, tool, isError }: Step, output: string | undefined): Step => ({
  callId,
  tool,
  input: {},
  ...(output !== undefined && { output }),
  ...(isError !== undefined && { isError }),
})
