/** A question, with the documents that answer it. */
export interface JudgedQuery {
  id: string
  text: string
  /** Relevance by document id, above 0. */
  relevant: ReadonlyMap<string, number>
}

/** The files of a judged set in BEIR layout: https://github.com/beir-cellar/beir. */
interface JudgedFiles {
  /** `queries.jsonl`. */
  queries: string
  /** `qrels.tsv`, with a line above. */
  qrels: string
}

/** The queries of both files, in the order of the first. Throws an Error, for people, that names the line. */
export function readJudged({ queries, qrels }: JudgedFiles): JudgedQuery[] {
  const judged = readJudgements(qrels)
  return queries.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    const { _id: id, text } = readQuery(line, index + 1)
    const relevant = judged.get(id)
    return relevant ? [{ id, text, relevant }] : []
  })
}

function readQuery(line: string, number: number): { _id: string; text: string } {
  const refusal = `Line ${number} of queries.jsonl is not JSON with _id and text`
  const { _id, text } = parse(line, refusal)
  if (_id === undefined || typeof text !== 'string') throw new Error(refusal)
  return { _id: String(_id), text }
}

function parse(line: string, refusal: string): { _id?: unknown; text?: unknown } {
  try {
    return Object(JSON.parse(line))
  } catch (cause) {
    throw new Error(refusal, { cause })
  }
}

function readJudgements(text: string): Map<string, Map<string, number>> {
  const judged = new Map<string, Map<string, number>>()
  for (const line of text.split('\n').slice(1)) {
    const [query = '', document = '', score = '0'] = line.trim().split('\t')
    if (!(Number(score) > 0)) continue
    const relevant = judged.get(query) ?? new Map<string, number>()
    judged.set(query, relevant.set(document, Number(score)))
  }
  return judged
}
