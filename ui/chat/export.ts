import type { Conversation } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { placeOf } from '../parts/chunk-facts.tsx'
import { saveFile } from '../parts/save-file.ts'
import { branchTo, isContinuation, type Turn, toTurns } from './turns.ts'

/** Saves the branch that a conversation is continued with. Throws what the server says. */
export async function exportConversation({ id, title }: Conversation): Promise<void> {
  const { last_item_id: last } = await client.conversations.get(id)
  const items = await Array.fromAsync(client.conversations.items(id, { branches: true }))
  const all = toTurns(items)
  const turns = branchTo(all, all.find((turn) => turn.last === last)?.id)
  const name = (title ?? '').replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/g, '')
  saveFile(
    `${name || 'conversation'}.md`,
    new Blob([toMarkdown(title, turns)], { type: 'text/markdown' }),
  )
}

/** The conversation as a document of its own, with the sources of each answer. */
function toMarkdown(title: string | null, turns: readonly Turn[]): string {
  const parts = turns.map((turn, place) => {
    const heading = isContinuation(turn, turns[place - 1]) ? '' : `## ${turn.question}\n\n`
    return `${heading}${withSources(turn)}\n`
  })
  return [...(title ? [`# ${title}\n`] : []), ...parts].join('\n')
}

/** The hits that an answer cites, with their marks. */
export function citedHits({ answer, hits }: Pick<Turn, 'answer' | 'hits'>) {
  return hits
    .map((hit, index) => ({ hit, number: index + 1, mark: `[${index + 1}]` }))
    .filter(({ mark }) => answer.includes(mark))
}

/** An answer with a list of the sources that it cites, each once, under the numbers of their marks. */
export function withSources(turn: Pick<Turn, 'answer' | 'hits' | 'citations'>): string {
  const sources = citedHits(turn).map(({ hit, number, mark }) => {
    const quotes = turn.citations.flatMap((one) => (one.number === number ? one.quotes : []))
    const address = hit.url === undefined ? '' : `<${hit.url}>`
    const facts = [hit.title || hit.documentId, placeOf(hit, quotes), address].filter(Boolean)
    return `${mark} ${facts.join(', ')}`
  })
  return sources.length === 0 ? turn.answer : `${turn.answer}\n\nSources:\n\n${sources.join('\n')}`
}
