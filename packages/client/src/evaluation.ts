import { type Call, mapCall } from './call.ts'
import type {
  CreateEvaluationRun,
  CreateJudgedLine,
  CreateJudgedQuestion,
  EvaluationComparison,
  EvaluationReport,
  EvaluationRun,
  EvaluationRunList,
  JudgedQuestion,
  JudgedQuestionList,
} from './contract.ts'
import type { RequestOptions, Transport } from './transport.ts'

const PATH = '/evaluation/questions'
const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`
const RUNS = '/evaluation/runs'
const runPath = (id: string) => `${RUNS}/${encodeURIComponent(id)}`

/** Questions whose right documents are known. */
export class JudgedQuestions {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** All, the oldest first. */
  list(options?: RequestOptions): Call<JudgedQuestion[]> {
    const request = { method: 'GET', path: PATH } as const
    return mapCall(
      this.#transport.json<JudgedQuestionList>(request, options),
      ({ questions }) => questions,
    )
  }

  create(question: CreateJudgedQuestion, options?: RequestOptions): Call<JudgedQuestion> {
    const request = { method: 'POST', path: PATH, json: question, isRepeatable: false } as const
    return this.#transport.json(request, options)
  }

  /** Adds a question under an id of your own, or replaces it. */
  put(id: string, question: CreateJudgedQuestion, options?: RequestOptions): Call<JudgedQuestion> {
    return this.#transport.json({ method: 'PUT', path: pathOf(id), json: question }, options)
  }

  /** Throws `NotFoundError`. */
  delete(id: string, options?: RequestOptions): Call<void> {
    return this.#transport.json({ method: 'DELETE', path: pathOf(id) }, options)
  }

  /** Adds questions, and replaces those with the same ids; all or none. Returns those. */
  import(questions: readonly CreateJudgedLine[], options?: RequestOptions): Call<JudgedQuestion[]> {
    const path = `${PATH}/import`
    const request = { method: 'POST', path, json: questions, isRepeatable: false } as const
    return mapCall(
      this.#transport.json<JudgedQuestionList>(request, options),
      (imported) => imported.questions,
    )
  }
}

/** What search and answers are worth, measured with the judged questions. */
export class EvaluationRuns {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Begins one, which runs in the background. Throws `ConflictError` while another one runs. */
  create(run: CreateEvaluationRun = {}, options?: RequestOptions): Call<EvaluationRun> {
    const request = { method: 'POST', path: RUNS, json: run, isRepeatable: false } as const
    return this.#transport.json(request, options)
  }

  /** The last 50, the newest first. */
  list(options?: RequestOptions): Call<EvaluationRun[]> {
    const list = this.#transport.json<EvaluationRunList>({ method: 'GET', path: RUNS }, options)
    return mapCall(list, ({ runs }) => runs)
  }

  /** With its progress or, once it is done, the outcome of each question. Throws `NotFoundError`. */
  get(id: string, options?: RequestOptions): Call<EvaluationReport> {
    return this.#transport.json({ method: 'GET', path: runPath(id) }, options)
  }

  /** Does nothing if it has ended. Throws `NotFoundError`. */
  cancel(id: string, options?: RequestOptions): Call<EvaluationRun> {
    return this.#transport.json({ method: 'POST', path: `${runPath(id)}/cancel` }, options)
  }

  /** Measures side by side, and the questions that came out differently. Throws `NotFoundError`. */
  compare(before: string, now: string, options?: RequestOptions): Call<EvaluationComparison> {
    const query = { before, now }
    return this.#transport.json({ method: 'GET', path: '/evaluation/comparison', query }, options)
  }
}

/** Measures search and answers. */
export class Evaluation {
  readonly questions: JudgedQuestions
  readonly runs: EvaluationRuns

  constructor(transport: Transport) {
    this.questions = new JudgedQuestions(transport)
    this.runs = new EvaluationRuns(transport)
  }
}
