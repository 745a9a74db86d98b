import { z } from 'zod'

export const CitationCheck = z
  .enum(['words', 'model'])
  .describe(
    'What tells whether the cited hits carry what the answer says: `words`, without a model, or `model`, by one more call of the chat model after the answer. Default: CITATION_CHECK.',
  )
export type CitationCheck = z.output<typeof CitationCheck>

const Quote = z.object({
  text: z.string().describe('The sentence.'),
  start: z
    .int()
    .optional()
    .describe('Start offset in the document, in UTF-16 code units. Absent for rows of tables.'),
  end: z.int().optional().describe('End offset in the document (exclusive).'),
  page: z.int().optional().describe('Page or slide on which the quote begins.'),
})

/** The verdicts of the chat model on a cited statement. */
export const VERDICTS = ['supported', 'contradicted', 'not_said'] as const

export const Citation = z
  .object({
    at: z.int().describe('Position of `[n]` in the answer, in UTF-16 code units.'),
    number: z.int().describe('The number: the position of the cited hit, from 1.'),
    by: z
      .enum(['model', 'server'])
      .optional()
      .describe(
        'Who wrote the mark: `server` where it was added, or put in the place of the model’s. Absent in answers that an earlier version stored.',
      ),
    quotes: z
      .array(Quote)
      .describe(
        'Up to three sentences of the hit that are closest to the statement before the citation, in the order of the text. Empty if none shares a word with it.',
      ),
    supported: z
      .boolean()
      .optional()
      .describe(
        'False if the hit lacks most words, a number or a name of the statement, or says the opposite. Words are compared, unless there is a `verdict`. Absent if the languages seem to differ.',
      ),
    verdict: z
      .enum(VERDICTS)
      .optional()
      .describe(
        'What the chat model says, if it was asked: the hit says so, says otherwise, or neither. `supported` is true for the first only.',
      ),
    evidence: z
      .string()
      .optional()
      .describe('The words of the hit that decide, as the chat model copied them.'),
  })
  .meta({ id: 'Citation' })

/** Present in an answer only if there are any. */
export const CITATIONS = z
  .array(Citation)
  .optional()
  .describe('The citations in the answer, in order: the first 4,000. Absent if there are none.')

export const CITATION_CHECK = z
  .object({
    statements: z.int().describe('Statements with a verdict.'),
    tokens: z
      .int()
      .describe('Tokens of the call, of those in `usage`; estimated if they were not reported.'),
    warning: z
      .string()
      .optional()
      .describe('Why all statements, or some, were compared by words alone.'),
  })
  .optional()
  .describe('How the chat model checked the citations. Absent if it was not asked.')

export type Citation = z.output<typeof Citation>
export type CitationCheckOutcome = NonNullable<z.output<typeof CITATION_CHECK>>
