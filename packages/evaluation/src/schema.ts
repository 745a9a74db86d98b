import { boundedText, filledText, optional, optionalOr } from '@agent-server/lib/fields.ts'
import { CollectionName } from '@agent-server/schemas/collection.ts'
import { DocumentId } from '@agent-server/schemas/document.ts'
import { Filter } from '@agent-server/schemas/metadata.ts'
import { ChosenId } from '@agent-server/schemas/new-document.ts'
import { Effort, SearchMode } from '@agent-server/schemas/query.ts'
import { z } from 'zod'

const MAX_RELEVANT = 1_000
const MAX_FACTS = 20

const Relevant = z
  .object({
    documentId: DocumentId,
    page: optional(z.int().min(1)).describe(
      'The page with the answer; if absent, every page of the document counts.',
    ),
    grade: optionalOr(z.number().positive().max(100), 1).describe(
      'How relevant the document is; higher is better.',
    ),
  })
  .meta({ id: 'RelevantDocument' })

const QuestionId = ChosenId.describe('Identifier of the question.')

const fields = {
  question: filledText(10_000).describe('The question, as a user would ask it.'),
  relevant: optionalOr(z.array(Relevant).max(MAX_RELEVANT), []).describe(
    'The documents that answer the question, or their pages.',
  ),
  facts: optional(z.array(filledText(500)).max(MAX_FACTS)).describe(
    'Wordings of the answer, one of which a correct answer contains; `[]` if no document has the answer. If absent, only the search is measured.',
  ),
  kind: optional(boundedText(100)).describe(
    'A group of questions, whose results are also reported separately.',
  ),
  collection: optional(CollectionName).describe(
    'The collection to search; if absent, all documents.',
  ),
}

const withAnswer = <Schema extends z.ZodType<Answer>>(schema: Schema) =>
  schema.superRefine(({ relevant, facts }: Answer, context) => {
    if (relevant.length === 0 && !facts) {
      const message = 'must name a document, unless there are facts'
      context.addIssue({ code: 'custom', path: ['relevant'], message })
    }
    if (relevant.length > 0 && facts?.length === 0) {
      const message = 'must not be empty where documents are relevant'
      context.addIssue({ code: 'custom', path: ['facts'], message })
    }
    if (new Set(relevant.map(({ page }) => page === undefined)).size > 1) {
      const message = 'must name pages of all documents or of none'
      context.addIssue({ code: 'custom', path: ['relevant'], message })
    }
  })

interface Answer {
  relevant: readonly { page?: number | undefined }[]
  facts?: readonly string[] | undefined
}

const EXAMPLE = {
  question: 'When does the library open?',
  relevant: [{ documentId: 'doc_0198c5f28f2e7c1b' }],
  facts: ['nine', '9:00'],
}

export const NewJudgedQuestion = withAnswer(z.object(fields)).meta({
  id: 'CreateJudgedQuestion',
  examples: [EXAMPLE],
})

/** A line of an export; times are left to the server. */
export const JudgedLine = withAnswer(z.object({ id: optional(QuestionId), ...fields })).meta({
  id: 'CreateJudgedLine',
  examples: [{ id: 'opening-hours', ...EXAMPLE }],
})

export const JudgedImport = z
  .array(JudgedLine)
  .min(1)
  .max(1_000)
  .superRefine((lines, context) => {
    const ids = new Set<string>()
    for (const [place, { id }] of lines.entries()) {
      if (id === undefined) continue
      if (ids.has(id)) {
        context.addIssue({ code: 'custom', path: [place, 'id'], message: 'must not occur twice' })
      }
      ids.add(id)
    }
  })
  .meta({ id: 'JudgedImport', description: 'At most 1,000 questions.', examples: [[EXAMPLE]] })

export const JudgedQuestion = z
  .object({
    id: z.string().describe('Identifier of the question.'),
    question: z.string().describe('The question, as a user would ask it.'),
    relevant: z
      .array(
        z.object({
          documentId: z.string().describe('Identifier of the document.'),
          page: z
            .int()
            .optional()
            .describe('The page with the answer; if absent, every page of the document counts.'),
          grade: z.number().describe('How relevant the document is; higher is better.'),
        }),
      )
      .describe('The documents that answer the question, or their pages.'),
    facts: z
      .array(z.string())
      .optional()
      .describe('Wordings of the answer, one of which a correct answer contains.'),
    kind: z.string().optional().describe('The group that the question belongs to.'),
    collection: z
      .string()
      .optional()
      .describe('The collection to search; if absent, all documents.'),
    createdAt: z.iso.datetime().describe('When the question was added.'),
    updatedAt: z.iso.datetime().describe('When the question was last changed.'),
  })
  .meta({ id: 'JudgedQuestion' })

export const JudgedQuestionList = z
  .object({ questions: z.array(JudgedQuestion).describe('All questions, oldest first.') })
  .meta({ id: 'JudgedQuestionList' })

export const QuestionParams = z.object({ id: QuestionId })

export const NewEvaluationRun = z
  .object({
    name: optional(boundedText(100)).describe('A name for people, such as what the run tries out.'),
    answers: optionalOr(z.boolean(), false).describe(
      'Whether the agent is also asked the questions that have `facts`, which uses the chat model.',
    ),
    judge: optionalOr(z.boolean(), false).describe(
      'Whether the chat model decides if an answer is right; otherwise it must contain a fact.',
    ),
    mode: optional(SearchMode),
    effort: optional(Effort),
    filter: optional(Filter),
  })
  .meta({ id: 'CreateEvaluationRun', examples: [{ name: 'by words alone', mode: 'lexical' }] })

export const Values = z.record(z.string(), z.number())
const QuestionText = z.string().describe('The question.')
const QuestionOf = z.string().describe('Identifier of the judged question.')

export const EvaluationRun = z
  .object({
    id: z.string().describe('Identifier of the run.'),
    state: z
      .enum(['running', 'done', 'failed', 'cancelled', 'interrupted'])
      .describe(
        'Whether it is running, or how it ended; `interrupted` means that the server stopped.',
      ),
    name: z.string().optional().describe('Name of the run, if it was given one.'),
    answers: z.boolean().describe('Whether the agent is also asked.'),
    judge: z.boolean().describe('Whether the chat model judges the answers.'),
    mode: SearchMode.optional(),
    effort: Effort.optional(),
    filter: Filter.optional(),
    models: z
      .object({
        chat: z.string().describe('The chat model.'),
        embedding: z.string().optional().describe('The embedding model.'),
        rerank: z.string().optional().describe('The reranker.'),
      })
      .describe('The models when the run began.'),
    asked: z
      .int()
      .describe('Questions asked so far; one that is also put to the agent counts twice.'),
    total: z.int().describe('Questions to ask in all, counted in the same way.'),
    error: z.string().optional().describe('Why the run failed.'),
    measures: z
      .record(z.string(), Values)
      .optional()
      .describe(
        'The measures of `search` and `answers`, explained in docs/guides/evaluation.md; absent until the run is done.',
      ),
    createdAt: z.iso.datetime().describe('When the run began.'),
    updatedAt: z.iso.datetime().describe('When the run last made progress.'),
  })
  .meta({ id: 'EvaluationRun' })

export const EvaluationRunList = z
  .object({ runs: z.array(EvaluationRun).describe('The last 50 runs, newest first.') })
  .meta({ id: 'EvaluationRunList' })

/** One question, with what counts of its outcome. */
export const Outcome = z.object({
  id: QuestionOf,
  text: QuestionText,
  answer: z
    .string()
    .optional()
    .describe('What the agent answered, cut off after 1,000 characters.'),
  values: Values.describe('The measures of this question.'),
})

export const EvaluationReport = EvaluationRun.extend({
  questions: z
    .record(z.string(), z.array(Outcome))
    .optional()
    .describe(
      'The outcome of each question, for `search` and `answers`; absent until the run is done.',
    ),
}).meta({ id: 'EvaluationReport' })

const Difference = z.object({
  before: z.number().describe('The value of the earlier run.'),
  now: z.number().describe('The value of the run that it is compared with.'),
})

export const EvaluationComparison = z
  .object({
    before: EvaluationRun.describe('The earlier run.'),
    now: EvaluationRun.describe('The run that it is compared with.'),
    rows: z
      .array(
        z.object({
          name: z.string().describe('What was measured: `search` or `answers`.'),
          measures: z
            .record(
              z.string(),
              Difference.extend({ difference: z.number().describe('`now` minus `before`.') }),
            )
            .describe('Each measure that both runs have.'),
          tests: z
            .record(
              z.string(),
              z.object({
                questions: z.int().describe('How many questions both runs asked.'),
                difference: z.number().describe('The mean of `now` minus `before` over them.'),
                significant: z
                  .boolean()
                  .describe(
                    'Whether the difference is more than chance, by a paired randomization test at a level of 5 %.',
                  ),
              }),
            )
            .describe('A paired test of each measure that questions have of their own.'),
          questions: z
            .array(
              z.object({
                id: QuestionOf,
                text: QuestionText,
                differs: z.record(z.string(), Difference).describe('The measures that differ.'),
                answers: z
                  .object({
                    before: z.string().describe('The answer of the earlier run.'),
                    now: z.string().describe('The answer of the run that it is compared with.'),
                  })
                  .optional()
                  .describe('What the agent answered, cut off after 1,000 characters.'),
              }),
            )
            .describe('Questions of both runs whose outcome differs.'),
        }),
      )
      .describe('One row for the search, and one for answers if both runs asked the agent.'),
  })
  .meta({ id: 'EvaluationComparison' })

const RunId = z.string().min(1).max(64).describe('Identifier of the run.')
export const EvaluationRunParams = z.object({ id: RunId })
export const ComparisonQuery = z.object({
  before: RunId.describe('The `id` of the earlier run.'),
  now: RunId.describe('The `id` of the run that it is compared with.'),
})

export type Outcome = z.output<typeof Outcome>
export type NewEvaluationRun = z.output<typeof NewEvaluationRun>
export type EvaluationRun = z.output<typeof EvaluationRun>
export type EvaluationReport = z.output<typeof EvaluationReport>
export type EvaluationComparison = z.output<typeof EvaluationComparison>
export type NewJudgedQuestion = z.output<typeof NewJudgedQuestion>
export type JudgedLine = z.output<typeof JudgedLine>
export type JudgedQuestion = z.output<typeof JudgedQuestion>
export type JudgedQuestionList = z.output<typeof JudgedQuestionList>
