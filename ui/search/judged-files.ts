import { effect, signal } from '@preact/signals'
import { client, messageOf } from '../api.ts'
import { phase } from '../session.ts'
import { addAll, changeJudged, judged, readJudgedQuestions } from './judged.ts'

/** Where earlier versions kept the set: in the browser. */
const KEY = 'agent-server.judged'

/** Why the questions that an earlier version kept in this browser are still only here, in words; empty if none are. */
export const unsentQuestions = signal('')

effect(() => {
  if (phase.value === 'signed-in') void takeOver()
})

/** Gives the server the questions that an earlier version kept in this browser, where there are some. */
export async function takeOver(): Promise<void> {
  const stored = localStorage.getItem(KEY)
  if (stored === null) return
  try {
    const { readJudged } = await import('./beir.ts')
    await addAll(readJudged(JSON.parse(stored)))
    localStorage.removeItem(KEY)
    unsentQuestions.value = ''
  } catch (error) {
    unsentQuestions.value = messageOf(error)
  }
}

/** Reads the questions of the server, to which it gives those of this browser first. */
export const readWholeSet = () => takeOver().then(readJudgedQuestions)

/** The questions that an earlier version kept in this browser, as it exported them. */
export function storedInBrowser(): Blob {
  return new Blob([localStorage.getItem(KEY) ?? ''])
}

/** What `npm run eval` reads: one question per line. */
export function exported(): Blob {
  return new Blob(judged.value.map((question) => `${JSON.stringify(question)}\n`))
}

/** Adds the questions of an export, or of a folder in BEIR layout or its zip. Throws an Error, for people. */
export async function take(files: readonly File[]): Promise<void> {
  const { readQuestions } = await import('./judged-import.ts')
  const { queries, lines = [] } = await readQuestions(files)
  if (queries) await addAll(queries)
  else await changeJudged(() => client.evaluation.questions.import(lines))
}
