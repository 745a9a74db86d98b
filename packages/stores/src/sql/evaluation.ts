import type { QuestionStore, StoredQuestion } from '@agent-server/evaluation'
import { AppError } from '@agent-server/lib/errors.ts'
import { MAX_CHARACTERS, MAX_QUESTIONS } from '../evaluation-store.ts'
import { insertInto } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { integer, type Read, type Row, type Tx, text } from './query.ts'

const QUESTIONS = 'SELECT * FROM judged_questions ORDER BY number'
const SIZE = `SELECT count(*) AS questions, coalesce(sum(length(json)), 0) AS characters
  FROM judged_questions`
const REPLACE = `ON CONFLICT (id) DO UPDATE SET json = excluded.json, updated_at = excluded.updated_at
  RETURNING *`

export function createQuestionReads(read: Read): Pick<QuestionStore, 'list'> {
  return { list: async () => (await read(QUESTIONS)).map(toQuestion) }
}

function toQuestion(row: Row | undefined): StoredQuestion {
  return {
    id: text(row, 'id'),
    json: text(row, 'json'),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  }
}

export function createQuestionWrites(dialect: Dialect) {
  return {
    async putQuestions(
      tx: Tx,
      questions: readonly Pick<StoredQuestion, 'id' | 'json'>[],
    ): Promise<StoredQuestion[]> {
      await dialect.exclude(tx, 'evaluation')
      const now = integer(await tx.one('SELECT now_ms() AS now'), 'now')
      const times = { created_at: now, updated_at: now }
      const rows = await Promise.all(
        questions.map(({ id, json }) =>
          insertInto(tx, 'judged_questions', { id, json, ...times }, REPLACE),
        ),
      )
      const size = await tx.one(SIZE)
      if (integer(size, 'questions') > MAX_QUESTIONS) throw full(`${MAX_QUESTIONS} questions`)
      if (integer(size, 'characters') > MAX_CHARACTERS) throw full('4 million characters')
      return rows.map(([row]) => toQuestion(row))
    },

    async removeQuestion(tx: Tx, id: string): Promise<boolean> {
      return (await tx.run('DELETE FROM judged_questions WHERE id = $1', [id])) > 0
    },
  }
}

function full(most: string): AppError {
  const message = `At most ${most} are kept: export them, then delete some`
  return new AppError('too_many_questions', message)
}
