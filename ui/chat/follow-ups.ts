import type { Hit } from '../../packages/client/src/agent-server.ts'
import { headingAbove, headingsIn } from '../parts/headings.ts'
import type { Turn } from './turns.ts'

/** How many questions are suggested at most. */
export const COUNT = 3

/** In UTF-16 code units; a longer one is a sentence. */
const MAX_HEADING = 80

/** What somebody writes the rest of. */
export const beginningAbout = (title: string) => `What does “${title}” say about `

export const questionAbout = (title: string, heading?: string) =>
  heading === undefined ? `What does “${title}” say?` : `${beginningAbout(title)}“${heading}”?`

type Answer = Pick<Turn, 'question' | 'hits' | 'citations'>

/** Questions about chapters and documents that were found for an answer, but that it is not about; no model makes them. */
export function followUps(turn: Answer, earlier: readonly string[]): string[] {
  const cited = new Set(turn.citations.map(({ number }) => turn.hits[number - 1]?.documentId))
  const known = knownHeadings(turn)
  const questions = new Set<string>()
  // For a document that somebody may not read, both stay hidden.
  for (const hit of turn.hits.filter(({ title, text }) => title !== '' && text !== '')) {
    const { title, documentId } = hit
    const chapters = headingsOf(hit).filter((heading) => {
      const isAsked = turn.question.toLowerCase().includes(heading.toLowerCase())
      return !isAsked && !known.has(heading) && heading !== title
    })
    for (const heading of chapters) questions.add(questionAbout(title, heading))
    if (chapters.length === 0 && !cited.has(documentId)) questions.add(questionAbout(title))
  }
  return [...questions].filter((question) => !earlier.includes(question)).slice(0, COUNT)
}

/** The chapters that the statements of an answer come from. */
function knownHeadings({ hits, citations }: Answer): Set<string | undefined> {
  const headings = citations.flatMap(({ number, quotes }) => {
    const hit = hits[number - 1]
    if (!hit) return []
    return quotes.length === 0 ? headingsOf(hit) : quotes.map((quote) => headingAbove(hit, quote))
  })
  return new Set(headings.map((heading) => heading && lastStep(heading)))
}

/** The chapters that a passage is of; the rows of a table have none. */
function headingsOf({ heading, text, row }: Hit): string[] {
  if (row !== undefined) return []
  const above = heading === undefined ? [] : [lastStep(heading)]
  return [...above, ...headingsIn(text)].filter(
    (one) => one.length <= MAX_HEADING && !/[|*_`[\]$<]/.test(one),
  )
}

/** The last of several headings, one below the other. */
const lastStep = (heading: string) => heading.split(' > ').at(-1) ?? heading
