import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { keepTrying } from '@agent-server/lib/keep-trying.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { type AskedServer, createAgentAsking } from './ask-agent.ts'
import { answersRow, evaluateAnswers } from './evaluate-answers.ts'
import { evaluateSearch, searchRow } from './evaluate-search.ts'
import type { AskedQuestion } from './judged.ts'
import type { Report, Row } from './report.ts'
import type { NewEvaluationRun } from './schema.ts'
import type { EvaluationEnd, EvaluationStore } from './store.ts'

/** The interval of heartbeats, which also tell whether the evaluation was cancelled on another server. */
const GO_ON_MS = 2_000
/** Characters that are stored of a question, and of its answer. */
const MAX_TEXT = 300
const MAX_ANSWER = 1_000

const NOT_STORED = 'the end of an evaluation could not be stored; retrying until the server stops'

interface Dependencies extends AskedServer {
  evaluationStore: EvaluationStore
  log: Pick<Log, 'error'>
}

interface Evaluation {
  id: string
  request: NewEvaluationRun
  caller: Caller
  searched: readonly AskedQuestion[]
  answered: readonly AskedQuestion[]
}

/** An evaluation that runs in the background. */
export interface RunningEvaluation {
  /** Resolves, never rejects, once its end is stored. */
  done: Promise<void>
  stop(as?: 'cancelled' | 'interrupted'): Promise<void>
}

export function startEvaluation(
  dependencies: Dependencies,
  evaluation: Evaluation,
): RunningEvaluation {
  const { evaluationStore: store, log } = dependencies
  const { id } = evaluation
  const stopped = new AbortController()
  let asked = 0
  let stoppedAs: 'cancelled' | 'interrupted' = 'cancelled'

  const heartbeat = async () => {
    try {
      if (!(await store.heartbeat({ id, asked }))) stopped.abort()
    } catch (error) {
      log.error({ err: error, evaluation: id }, 'the progress of an evaluation was not stored')
    }
  }
  const endOf = async (): Promise<Omit<EvaluationEnd, 'id' | 'asked'>> => {
    try {
      const onQuestion = () => {
        asked += 1
      }
      return toEnd(await measure(dependencies, evaluation, onQuestion, stopped.signal))
    } catch (error) {
      if (stopped.signal.aborted) return { state: stoppedAs }
      log.error({ err: error, evaluation: id }, 'an evaluation failed')
      const reason = error instanceof AppError ? error.message : 'Internal error: see the log'
      return { state: 'failed', error: reason }
    }
  }
  const run = async () => {
    const beat = setInterval(() => void heartbeat(), GO_ON_MS)
    const end = await endOf()
    const onFailure = (error: unknown) => log.error({ err: error, evaluation: id }, NOT_STORED)
    const stored = keepTrying(() => store.end({ id, asked, ...end }), onFailure, stopped.signal)
    await ignore(stored, 'it was logged at first')
    clearInterval(beat)
  }
  const done = run()
  return {
    done,
    stop(as = 'cancelled') {
      stoppedAs = as
      stopped.abort()
      return done
    },
  }
}

async function measure(
  dependencies: Dependencies,
  { request, caller, searched, answered }: Evaluation,
  progress: () => void,
  signal: AbortSignal,
): Promise<Report> {
  const { search, answer, judge } = createAgentAsking(dependencies, request, caller, signal)
  const report: Report = {}
  if (searched.length > 0) {
    const searchResult = await evaluateSearch(searched, { ask: search, graded: false, progress })
    report.search = shortened(searchRow(searchResult))
  }
  if (answered.length > 0) {
    const judged = request.judge ? judge : undefined
    const answerResult = await evaluateAnswers(answered, { ask: answer, judge: judged, progress })
    report.answers = shortened(answersRow(answerResult))
  }
  return report
}

function shortened({ measures, asked }: Row): Row {
  return {
    measures,
    asked: asked.map(({ text, answer, ...each }) => ({
      ...each,
      text: text.slice(0, MAX_TEXT),
      ...(answer !== undefined && { answer: answer.slice(0, MAX_ANSWER) }),
    })),
  }
}

function toEnd(report: Report) {
  const measures = Object.entries(report).map(([name, row]) => [name, row.measures])
  return {
    state: 'done' as const,
    measures: JSON.stringify(Object.fromEntries(measures)),
    report: JSON.stringify(report),
  }
}
