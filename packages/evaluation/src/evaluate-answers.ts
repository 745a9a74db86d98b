import type { Judge } from './judge.ts'
import { type AskedQuestion, namesOf, type Place, type Progress } from './judged.ts'
import { mean, percentile } from './measures.ts'
import { type Row, rowOf } from './report.ts'
import type { Outcome } from './schema.ts'

interface Cited {
  number: number
  /** Who wrote the mark. */
  by?: 'model' | 'server' | undefined
  supported?: boolean | undefined
}

export interface Answered {
  text: string
  hits: readonly Place[]
  /** Whether the server says that the answer says that the documents do not say it. */
  abstained?: boolean | undefined
  citations?: readonly Cited[] | undefined
}

interface Options {
  /** Asks the agent. */
  ask(question: AskedQuestion): Promise<Answered>
  progress: Progress
  /** Without one, an answer must contain the fact. */
  judge?: Judge | undefined
}

export const isAnswered = ({ facts }: AskedQuestion): boolean => facts !== undefined

/**
 * Asks the agent the questions that have facts, and measures its answers in shares from 0 to 1, NaN where nothing was to
 * be measured. Throws if there are none.
 */
export async function evaluateAnswers(questions: readonly AskedQuestion[], options: Options) {
  const judged = questions.filter(isAnswered)
  if (judged.length === 0) throw new Error('No question of the set has facts')
  const outcomes: Judged[] = []
  for (const question of judged) {
    outcomes.push(await judgedOf(question, options))
    options.progress(outcomes.length, judged.length)
  }
  const answerable = outcomes.filter(({ isAnswerable }) => isAnswerable)
  const others = outcomes.filter(({ isAnswerable }) => !isAnswerable)
  const latencies = outcomes.map(({ milliseconds }) => milliseconds)
  return {
    // Questions that the documents answer, and that they do not.
    answerable: answerable.length,
    unanswerable: others.length,
    // Shares of the answerable questions: the answer contains the fact, or says that there is none although there is.
    right: shareOf(answerable.map(({ right }) => right === true)),
    wronglyAbstained: shareOf(answerable.map(({ right, abstained }) => abstained && !right)),
    // The share of citations of a right document, and of answerable questions whose answer has such a citation, or one that
    // the model itself wrote.
    citationPrecision: shareOf(answerable.flatMap(({ cited }) => cited)),
    citationRecall: shareOf(answerable.map(({ cited }) => cited.includes(true))),
    citedByModel: shareOf(answerable.map((one) => one.citedByModel)),
    // The share of cited statements that the server calls unsupported.
    unsupported: shareOf(outcomes.flatMap((one) => one.supported.map((is) => !is))),
    // The share of unanswerable questions whose answer says so.
    abstained: shareOf(others.map((one) => one.abstained)),
    latency: { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) },
    asked: outcomes.map(toOutcome),
  }
}

type AnswerEvaluation = Awaited<ReturnType<typeof evaluateAnswers>>

export function answersRow({ asked, latency, ...shares }: AnswerEvaluation): Row {
  return rowOf({ ...shares, 'p50 ms': latency.p50, 'p95 ms': latency.p95 }, asked)
}

const shareOf = (values: readonly boolean[]): number => mean(values.map(Number))

function toOutcome({ question, ...outcome }: Judged): Outcome {
  const { answer, isAnswerable, right, abstained, cited, citedByModel, supported } = outcome
  const { id, text } = question
  const values = isAnswerable
    ? {
        right: Number(right),
        cited: Number(cited.includes(true)),
        citedByModel: Number(citedByModel),
        unsupported: supported.filter((is) => !is).length,
      }
    : { abstained: Number(abstained) }
  return { id, text, answer, values }
}

type Judged = Awaited<ReturnType<typeof judgedOf>>

async function judgedOf(question: AskedQuestion, { ask, judge }: Options) {
  const { text, relevant, facts = [] } = question
  const started = performance.now()
  const answer = await ask(question)
  const milliseconds = performance.now() - started
  const citations = answer.citations ?? []
  const cited = new Set(citations.map(({ number }) => number))
  const isRight = (number: number) => {
    const hit = answer.hits[number - 1]
    return hit !== undefined && namesOf(hit, question).some((name) => relevant.has(name))
  }
  const verdict = judge
    ? await judge({ question: text, facts, answer: answer.text })
    : {
        right: containsAny(answer.text, facts),
        abstained: answer.abstained === true,
      }
  return {
    question,
    answer: answer.text,
    milliseconds,
    isAnswerable: facts.length > 0,
    ...verdict,
    // Whether each citation is of a right document.
    cited: Array.from(cited, isRight),
    citedByModel: citations.some(({ number, by }) => by === 'model' && isRight(number)),
    supported: citations.flatMap(({ supported }) => supported ?? []),
  }
}

const withoutMarks = (text: string) => text.replaceAll(/\[\d+\]/g, '')

/** Whether the text contains one of the facts as whole words, whatever the case, white space and emphasis. */
export function containsAny(text: string, facts: readonly string[]): boolean {
  const normalised = normalise(text)
  return facts.some((fact) => {
    const escaped = normalise(fact).replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'u').test(normalised)
  })
}

function normalise(text: string): string {
  return withoutMarks(text)
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[*`’']/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
