import { signal } from '@preact/signals'
import type { CreateJudgedLine, JudgedQuestion } from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { may, onSignOut } from '../session.ts'
import type { JudgedQuery } from './beir.ts'

/** The judged questions of the server, as this page last read them. */
export const judged = signal<readonly JudgedQuestion[]>([])

onSignOut(() => {
  judged.value = []
})

/** What was wrong with the last thing that was tried with the set, in words. */
export const failure = signal('')

/** One change after the other, each on what the one before has left. */
let last: Promise<unknown> = Promise.resolve()

/** Runs `work`, and then reads the questions again. Throws what `work` throws. */
export function changeJudged(work: () => Promise<unknown>): Promise<void> {
  const result = last.then(async () => {
    try {
      await work()
    } finally {
      judged.value = await client.evaluation.questions.list()
    }
  })
  last = result.catch(() => undefined)
  return result
}

/** Reads what others have changed, too, for people who may; the failure says why it could not. */
export async function readJudgedQuestions(): Promise<void> {
  if (may('admin')) await attempt(failure, () => changeJudged(async () => undefined))
}

export const isRight = (question: string, documentId: string): boolean =>
  knownAs(question)?.relevant.some((one) => one.documentId === documentId) ?? false

const knownAs = (question: string) => judged.value.find((one) => one.question === question)

/** Says of a document that it answers the question, or no longer; the failure says why it cannot. */
export async function toggle(question: string, documentId: string): Promise<void> {
  await attempt(failure, () =>
    changeJudged(async () => {
      const { id = null, relevant = [], facts = null, ...rest } = knownAs(question) ?? {}
      const others = relevant.filter((one) => one.documentId !== documentId)
      const isRemoved = others.length < relevant.length
      if (id !== null && isRemoved && others.length === 0 && facts === null)
        return client.evaluation.questions.delete(id)
      const documents = isRemoved ? others : [...others, { documentId }]
      // That no document has the answer is no longer true.
      const newFacts = documents.length > 0 && facts?.length === 0 ? null : facts
      return client.evaluation.questions.import([
        { ...rest, id, question, relevant: documents, facts: newFacts },
      ])
    }),
  )
}

/** Says of these documents, too, that they answer the question. */
export const addJudged = (question: string, documentIds: readonly string[]): Promise<void> =>
  addAll([{ text: question, relevant: new Map(documentIds.map((id) => [id, 1])) }])

/** Adds questions without ids; of those that are known, the documents that are not. */
export function addAll(queries: readonly Pick<JudgedQuery, 'text' | 'relevant'>[]): Promise<void> {
  return changeJudged(async () => {
    judged.value = await client.evaluation.questions.list()
    const merged = new Map<string, CreateJudgedLine & { relevant: { documentId: string }[] }>()
    for (const { text: question, relevant: newRelevant } of queries) {
      const existing = merged.get(question) ?? knownAs(question)
      const relevant = existing?.relevant ?? []
      const has = new Set(relevant.map(({ documentId }) => documentId))
      const more = Array.from(newRelevant, ([documentId, grade]) => ({ documentId, grade }))
      merged.set(question, {
        ...existing,
        question,
        relevant: [...relevant, ...more.filter(({ documentId }) => !has.has(documentId))],
      })
    }
    if (merged.size > 0) await client.evaluation.questions.import([...merged.values()])
  })
}
