import { effect, signal } from '@preact/signals'
import type { CreateJudgedLine } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { phase } from '../session.ts'
import { readJudged } from './beir.ts'
import { addAll, changeJudged, judged, readJudgedQuestions } from './judged.ts'

/** Where earlier versions kept the set: in the browser. */
const KEY = 'agent-server.judged'
const MAX_CHARACTERS = 4_000_000
const QUERIES = 'queries.jsonl'
const QRELS = 'qrels.tsv'

/** Why the questions that an earlier version kept in this browser are still only here, in words; empty if none are. */
export const leftInBrowser = signal('')

effect(() => {
  if (phase.value === 'signed-in') void takeOver()
})

/** Gives the server the questions that an earlier version kept in this browser, where there are some. */
export async function takeOver(): Promise<void> {
  const stored = localStorage.getItem(KEY)
  if (stored === null) return
  try {
    await addAll(readJudged(JSON.parse(stored)))
    localStorage.removeItem(KEY)
    leftInBrowser.value = ''
  } catch (error) {
    leftInBrowser.value = messageOf(error)
  }
}

/** Reads the questions of the server, to which it gives those of this browser first. */
export const readWholeSet = () => takeOver().then(readJudgedQuestions)

/** The questions that an earlier version kept in this browser, as it exported them. */
export function keptInBrowser(): Blob {
  return new Blob([localStorage.getItem(KEY) ?? ''])
}

/** What `npm run eval` reads: one question per line. */
export function exported(): Blob {
  return new Blob(judged.value.map((question) => `${JSON.stringify(question)}\n`))
}

/** Adds the questions of an export, or of a folder in BEIR layout or its zip. Throws an Error, for people. */
export async function take(files: readonly File[]): Promise<void> {
  const texts = new Map<string, string>()
  for (const file of files) {
    const entries = file.name.endsWith('.zip')
      ? await unzip(file)
      : [[file.name, await file.text()]]
    for (const [name = '', text = ''] of entries) texts.set(name, text)
  }
  const queries = texts.get(QUERIES)
  const qrels = texts.get(QRELS)
  if (queries !== undefined && qrels !== undefined) return takeBeir(readJudged({ queries, qrels }))
  const [text, ...others] = texts.values()
  if (text === undefined || others.length > 0) {
    throw new Error(`Judged questions are one file of lines, or ${QUERIES} with ${QRELS}.`)
  }
  const lines = readLines(text)
  if (lines.length === 0) throw new Error('It contains no judged questions.')
  await changeJudged(() => client.evaluation.questions.import(lines))
}

async function takeBeir(queries: ReturnType<typeof readJudged>): Promise<void> {
  if (queries.length === 0) throw new Error('It contains no judged questions.')
  await addAll(queries)
}

/** Throws an Error, for people, that names the line. The server checks what the lines are. */
function readLines(text: string): CreateJudgedLine[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    try {
      return [JSON.parse(line)]
    } catch (cause) {
      throw new Error(`Line ${index + 1} is not JSON.`, { cause })
    }
  })
}

/** The names and texts of the files in it. */
async function unzip(file: File): Promise<[string, string][]> {
  const { strFromU8, unzipSync } = await import('fflate')
  const bytes = new Uint8Array(await file.arrayBuffer())
  try {
    const entries = unzipSync(bytes, {
      filter: ({ originalSize }) => originalSize <= MAX_CHARACTERS,
    })
    return Object.entries(entries).map(([name, content]) => [name, strFromU8(content)])
  } catch {
    throw new Error('This is not a zip file.')
  }
}
