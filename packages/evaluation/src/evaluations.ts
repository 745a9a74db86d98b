import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { newId } from '@agent-server/lib/new-id.ts'
import type { Capabilities } from '@agent-server/schemas/agent.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { checkEffort } from '@agent-server/schemas/query.ts'
import { z } from 'zod'
import type { AskedServer } from './ask-agent.ts'
import { isAnswered } from './evaluate-answers.ts'
import { isSearched } from './evaluate-search.ts'
import { toAskedQuestion } from './judged.ts'
import type { Questions } from './questions.ts'
import { compareReports, Report } from './report.ts'
import {
  type EvaluationComparison,
  type EvaluationReport,
  EvaluationRun,
  type NewEvaluationRun,
  Values,
} from './schema.ts'
import { type RunningEvaluation, startEvaluation } from './start-evaluation.ts'
import type { EvaluationStore, StoredEvaluation } from './store.ts'

export interface Dependencies extends AskedServer {
  evaluationStore: EvaluationStore
  questions: Pick<Questions, 'list'>
  description: { capabilities(): Promise<Capabilities> }
  log: Pick<Log, 'error'>
}

export type Evaluations = ReturnType<typeof createEvaluations>

/** Measures search and answers with the judged questions, in the background; one evaluation at a time. */
export function createEvaluations(dependencies: Dependencies) {
  const { evaluationStore: store, questions, description } = dependencies
  const running = new Map<string, RunningEvaluation>()

  const find = async (id: string) => {
    const run = await store.find(id)
    if (run) return run
    throw new AppError('evaluation_not_found', `There is no evaluation "${id}"`, { param: 'id' })
  }

  return {
    /** Throws `evaluation_running`, and `invalid_request` where there is nothing to ask, or no model for it. */
    async begin(request: NewEvaluationRun, caller: Caller): Promise<EvaluationRun> {
      checkModel(request, dependencies.judgeModel)
      const all = (await questions.list()).map((question) => toAskedQuestion(question, question.id))
      const searched = all.filter(isSearched)
      const answered = request.answers ? all.filter(isAnswered) : []
      if (request.answers && answered.length === 0) {
        throw refusal('answers', 'no judged question has facts')
      }
      const total = searched.length + answered.length
      if (total === 0) throw refusal('', 'There are no judged questions with relevant documents')
      const models = modelsOf(await description.capabilities())
      const json = JSON.stringify({ ...request, models })
      const run = await store.begin({ id: newId('eval'), json, total })
      const job = startEvaluation(dependencies, { id: run.id, request, caller, searched, answered })
      running.set(run.id, job)
      void job.done.then(() => running.delete(run.id))
      return toRun(run)
    },

    list: async (): Promise<EvaluationRun[]> => (await store.list()).map(toRun),

    /** Throws `evaluation_not_found`. */
    async get(id: string): Promise<EvaluationReport> {
      const run = await find(id)
      if (run.report === undefined) return toRun(run)
      const rows = Object.entries(Report.parse(JSON.parse(run.report)))
      const outcomes = rows.map(([name, { asked }]) => [name, [...asked]])
      return { ...toRun(run), questions: Object.fromEntries(outcomes) }
    },

    /** Does nothing if the run has ended. Throws `evaluation_not_found`. */
    async cancel(id: string): Promise<EvaluationRun> {
      const { asked } = await find(id)
      await store.end({ id, asked, state: 'cancelled' })
      await running.get(id)?.stop()
      return toRun(await find(id))
    },

    /** Throws `evaluation_not_found`, and `invalid_request` for one that has no result. */
    async compare(ids: { before: string; now: string }): Promise<EvaluationComparison> {
      const [before, now] = await Promise.all([find(ids.before), find(ids.now)])
      const rows = compareReports(resultOf(before, 'before'), resultOf(now, 'now'))
      return { before: toRun(before), now: toRun(now), rows }
    },

    /** Ends what is running, which counts as interrupted. */
    async close(): Promise<void> {
      await Promise.all(Array.from(running.values(), ({ stop }) => stop('interrupted')))
    },
  }
}

/** Throws `invalid_request` if the evaluation takes a model that generates, and there is none. */
function checkModel(
  { answers, judge, effort = 'low' }: NewEvaluationRun,
  model: AskedServer['judgeModel'],
): void {
  checkEffort(effort, model)
  if (!judge) return
  if (!answers) throw refusal('judge', 'requires `answers: true`')
  if (model.generates) return
  throw refusal('judge', 'requires a model that generates, and CHAT_MODEL=extractive only quotes')
}

function modelsOf({ chat, embedder, reranker }: Capabilities): EvaluationRun['models'] {
  return { chat: chat.model, embedding: embedder.model, rerank: reranker.model }
}

function resultOf({ id, report }: { id: string; report: string | undefined }, param: string) {
  if (report !== undefined) return Report.parse(JSON.parse(report))
  throw refusal(param, `the evaluation "${id}" has no result`)
}

const StoredReport = EvaluationRun.pick({
  name: true,
  answers: true,
  judge: true,
  mode: true,
  effort: true,
  filter: true,
  models: true,
})
const Measures = z.record(z.string(), Values)

function toRun({ id, state, asked, total, ...run }: StoredEvaluation): EvaluationRun {
  return {
    id,
    state,
    ...StoredReport.parse(JSON.parse(run.json)),
    asked,
    total,
    ...(run.error !== undefined && { error: run.error }),
    ...(run.measures !== undefined && { measures: Measures.parse(JSON.parse(run.measures)) }),
    createdAt: new Date(run.createdAt).toISOString(),
    updatedAt: new Date(run.updatedAt).toISOString(),
  }
}
