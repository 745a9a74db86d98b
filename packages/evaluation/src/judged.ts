import { crc32 } from 'node:zlib'
import type { JudgedLine } from './schema.ts'

/** A question with its known answer. */
export interface AskedQuestion {
  id: string
  text: string
  /** Relevance by the name of a document, or of a page as `<document>#<page>`, above 0. */
  relevant: ReadonlyMap<string, number>
  kind?: string | undefined
  /** Wordings of the fact, of which a right answer contains one; none if no document answers. */
  facts?: readonly string[] | undefined
  /** Where it is asked; by default everywhere. */
  collection?: string | undefined
  /** Relevant are pages, not whole documents. */
  byPage?: boolean | undefined
}

/** The held-out half of the questions; the split is fixed. */
export const isHeldOut = ({ text }: Pick<AskedQuestion, 'text'>): boolean =>
  crc32(`held out: ${text}`) % 2 === 1

export function toAskedQuestion(
  { question, relevant, kind, facts, collection }: JudgedLine,
  id: string,
): AskedQuestion {
  const byPage = relevant.some(({ page }) => page !== undefined)
  const names = relevant.map(({ documentId, page, grade }): [string, number] => {
    return [byPage ? `${documentId}#${page}` : documentId, grade]
  })
  return { id, text: question, relevant: new Map(names), byPage, kind, facts, collection }
}

/** Where a passage is. */
export interface Place {
  documentId: string
  page?: number | undefined
  pageEnd?: number | undefined
}

/** What a passage is called in the judgements of a question: its document, or the pages that it is on. */
export function namesOf(
  { documentId, page = 0, pageEnd = page }: Place,
  { byPage }: AskedQuestion,
): string[] {
  if (!byPage) return [documentId]
  return Array.from({ length: pageEnd - page + 1 }, (_, place) => `${documentId}#${page + place}`)
}

/** The progress of an evaluation. */
export type Progress = (done: number, of: number) => void
