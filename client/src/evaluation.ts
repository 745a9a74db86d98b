import { type Call, mapCall } from './call.ts'
import type {
  JudgedQuestion,
  JudgedQuestionList,
  NewJudgedLine,
  NewJudgedQuestion,
} from './contract.ts'
import type { RequestOptions, Transport } from './transport.ts'

const PATH = '/evaluation/questions'
const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`

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

  create(question: NewJudgedQuestion, options?: RequestOptions): Call<JudgedQuestion> {
    const request = { method: 'POST', path: PATH, json: question, isRepeatable: false } as const
    return this.#transport.json(request, options)
  }

  /** Adds a question under an id of your own, or replaces it. */
  put(id: string, question: NewJudgedQuestion, options?: RequestOptions): Call<JudgedQuestion> {
    return this.#transport.json({ method: 'PUT', path: pathOf(id), json: question }, options)
  }

  /** Throws `NotFoundError`. */
  delete(id: string, options?: RequestOptions): Call<void> {
    return this.#transport.json({ method: 'DELETE', path: pathOf(id) }, options)
  }

  /** Adds questions, and replaces those with the same ids; all or none. Returns those. */
  import(questions: readonly NewJudgedLine[], options?: RequestOptions): Call<JudgedQuestion[]> {
    const path = `${PATH}/import`
    const request = { method: 'POST', path, json: questions, isRepeatable: false } as const
    return mapCall(
      this.#transport.json<JudgedQuestionList>(request, options),
      (imported) => imported.questions,
    )
  }
}

/** Measures search and answers. */
export class Evaluation {
  readonly questions: JudgedQuestions

  constructor(transport: Transport) {
    this.questions = new JudgedQuestions(transport)
  }
}
