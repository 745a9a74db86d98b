import { readFileSync } from 'node:fs'
import { createAnalyser } from '@agent-server/search'
import { abstains } from '../../src/agent/citations/abstention.ts'
import { createCitations } from '../../src/agent/citations/citations.ts'

/** The question, and what a right answer contains. */
export interface PromptQuestion {
  question: string
  /** Ids of the passages that are shown, in order. */
  passages: readonly string[]
  /** A pattern of the fact, and the id of the only passage that holds it; neither if no passage answers. */
  answer?: string
  source?: string
  heldOut?: boolean
}

/** The passages by id, and the questions about them. */
interface PromptQuestions {
  passages: Record<string, { title: string; text: string }>
  questions: readonly PromptQuestion[]
}

export function readPromptQuestions(): PromptQuestions {
  return JSON.parse(readFileSync(new URL('prompt-questions.json', import.meta.url), 'utf8'))
}

export interface Judgement {
  /** The fact is there, or it is said to be missing where it is. */
  right: boolean
  /** The passage that holds the fact is cited. */
  cited: boolean
  /** Numbers that are cited and belong to no passage. */
  unknown: number
  /** Numbers that are cited and belong to another passage. */
  other: number
}

const MARK = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g

export function judge(text: string, { passages, answer, source }: PromptQuestion): Judgement {
  const numbers = [...text.matchAll(MARK)].flatMap(([, list = '']) => list.split(',').map(Number))
  const plainText = text.replaceAll(MARK, '')
  const expected = source === undefined ? undefined : passages.indexOf(source) + 1
  return {
    right: answer === undefined ? abstains(plainText, []) : new RegExp(answer).test(plainText),
    cited: expected !== undefined && numbers.includes(expected),
    unknown: numbers.filter((number) => number < 1 || number > passages.length).length,
    other: numbers.filter((number) => number !== expected && number <= passages.length).length,
  }
}

/** An answer as the server shows it: with its own code, and the analyser of English documents. */
export function asShown(
  text: string,
  passages: readonly { title: string; text: string }[],
): string {
  const analyser = createAnalyser('english')
  const citations = createCitations()
  const place = { score: 1, start: 0, end: 0 }
  citations.add(
    passages.map((passage, id) => ({ ...passage, ...place, id: `${id}`, documentId: `${id}` })),
  )
  const check = citations.check(false, (each) => analyser.query(each).terms)
  return check.write(text) + check.end()
}
