import { EvaluationRun, EvaluationRunList } from '@agent-server/evaluation'
import { expect } from 'vitest'
import { startFilled } from './filled-server.ts'
import type { TestServer } from './server.ts'

type Asking = Pick<TestServer, 'request'>

const QUESTION = { question: 'Who?', relevant: [{ documentId: 'owls' }] }
const json = JSON.stringify(QUESTION)

/** For each error code of judged questions and evaluations a way to meet it. */
export const evaluationFailures = ({ request }: Asking) => ({
  question_not_found: () => request('/evaluation/questions/unknown', { method: 'DELETE' }),
  too_many_questions: async () => {
    const many = Array.from({ length: 1_000 }, (_, id) => ({ id: `${id}`, json }))
    const full = await startFilled(({ questions }) => questions.put(many))
    return full.request('/evaluation/questions', { body: QUESTION })
  },
  evaluation_not_found: () => request('/evaluation/runs/unknown'),
  evaluation_running: async () => {
    const busy = await startFilled(async ({ questions, evaluations }) => {
      await questions.put([{ id: 'q', json }])
      await evaluations.begin({ id: 'other', json: '{}', total: 1 })
    })
    return busy.request('/evaluation/runs', { body: {} })
  },
})

export async function evaluationsOf({ request }: Asking): Promise<EvaluationRun[]> {
  return EvaluationRunList.parse(await (await request('/evaluation/runs')).json()).runs
}

/** The newest evaluation once it has ended. */
export async function endedEvaluation(server: Asking): Promise<EvaluationRun> {
  await expect
    .poll(async () => (await evaluationsOf(server))[0]?.state ?? 'running', { timeout: 30_000 })
    .not.toBe('running')
  return EvaluationRun.parse((await evaluationsOf(server))[0])
}

/** A path with the newest evaluation in place of EVALUATION. */
export async function withEvaluation(path: string, server: Asking): Promise<string> {
  return path.replaceAll('EVALUATION', (await endedEvaluation(server)).id)
}
