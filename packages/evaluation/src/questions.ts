import { AppError } from '@agent-server/lib/errors.ts'
import { newId } from '@agent-server/lib/new-id.ts'
import { type JudgedLine, type JudgedQuestion, NewJudgedQuestion } from './schema.ts'
import type { QuestionStore, StoredQuestion } from './store.ts'

export type Questions = ReturnType<typeof createQuestions>

/** The judged questions of the server. */
export function createQuestions(store: QuestionStore) {
  const put = async (lines: readonly JudgedLine[]): Promise<JudgedQuestion[]> => {
    const rows = lines.map(({ id = newId('q'), ...question }) => {
      return { id, json: JSON.stringify(question) }
    })
    return (await store.put(rows)).map(toQuestion)
  }

  return {
    list: async (): Promise<JudgedQuestion[]> => (await store.list()).map(toQuestion),
    /** Adds questions, and replaces those with the same ids; all or none. Throws `too_many_questions`. */
    put,
    /** Throws `question_not_found`. */
    async remove(id: string): Promise<void> {
      if (await store.remove(id)) return
      const message = `There is no judged question "${id}"`
      throw new AppError('question_not_found', message, { param: 'id' })
    },
  }
}

function toQuestion({ id, json, createdAt, updatedAt }: StoredQuestion): JudgedQuestion {
  return {
    id,
    ...NewJudgedQuestion.parse(JSON.parse(json)),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}
