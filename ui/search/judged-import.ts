import type { CreateJudgedLine } from '../../packages/client/src/agent-server.ts'
import { type JudgedQuery, readJudged } from './beir.ts'

const MAX_CHARACTERS = 4_000_000
const QUERIES = 'queries.jsonl'
const QRELS = 'qrels.tsv'

interface Read {
  /** Queries from files in BEIR layout. */
  queries?: JudgedQuery[]
  /** Lines of an export. */
  lines?: CreateJudgedLine[]
}

/** The questions of an export, or of a folder in BEIR layout or its zip. Throws an Error, for people. */
export async function readQuestions(files: readonly File[]): Promise<Read> {
  const texts = new Map<string, string>()
  for (const file of files) {
    const entries = file.name.endsWith('.zip')
      ? await unzip(file)
      : [[file.name, await file.text()]]
    for (const [name = '', text = ''] of entries) texts.set(name, text)
  }
  const queries = texts.get(QUERIES)
  const qrels = texts.get(QRELS)
  if (queries !== undefined && qrels !== undefined)
    return { queries: some(readJudged({ queries, qrels })) }
  const [text, ...others] = texts.values()
  if (text === undefined || others.length > 0) {
    throw new Error(`Judged questions are one file of lines, or ${QUERIES} with ${QRELS}.`)
  }
  return { lines: some(readLines(text)) }
}

function some<Question>(questions: Question[]): Question[] {
  if (questions.length === 0) throw new Error('It contains no judged questions.')
  return questions
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
