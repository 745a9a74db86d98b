import { sendEvents } from '@agent-server/http/event-stream.ts'
import { lineFormat } from '@agent-server/http/ndjson.ts'
import { NDJSON } from '@agent-server/http/request-body.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Questions } from './questions.ts'
import {
  JudgedImport,
  JudgedLine,
  JudgedQuestion,
  JudgedQuestionList,
  NewJudgedQuestion,
  QuestionParams,
} from './schema.ts'

/** Questions whose right documents are known. */
export const questionRoutes: FastifyPluginAsyncZod<{ questions: Questions }> = async (
  app,
  { questions },
) => {
  app.addContentTypeParser(NDJSON, { parseAs: 'string' }, async (_request: unknown, body: string) =>
    linesOf(body),
  )

  app.get('/evaluation/questions', {
    schema: {
      operationId: 'listJudgedQuestions',
      summary: 'List the judged questions',
      description:
        'Returns the questions whose right documents are known, which measure search and answers. All keys with the scope `admin` share them.',
      response: { 200: JudgedQuestionList.describe('The questions.'), ...errorResponses() },
    },
    handler: async () => ({ questions: await questions.list() }),
  })

  app.post('/evaluation/questions', {
    schema: {
      operationId: 'createJudgedQuestion',
      summary: 'Add a judged question',
      description: 'At most 1,000 questions are kept.',
      body: NewJudgedQuestion,
      response: { 201: JudgedQuestion.describe('The question.'), ...errorResponses(409) },
    },
    handler: async ({ body }, reply) => reply.status(201).send(await one(questions, body)),
  })

  app.put('/evaluation/questions/:id', {
    schema: {
      operationId: 'putJudgedQuestion',
      summary: 'Add or replace a judged question',
      description: 'The question is replaced whole.',
      params: QuestionParams,
      body: NewJudgedQuestion,
      response: { 200: JudgedQuestion.describe('The question.'), ...errorResponses(409) },
    },
    handler: ({ params, body }) => one(questions, { ...params, ...body }),
  })

  app.delete('/evaluation/questions/:id', {
    schema: {
      operationId: 'deleteJudgedQuestion',
      summary: 'Delete a judged question',
      description: 'Results of runs that asked it are kept.',
      params: QuestionParams,
      response: { 204: z.undefined().describe('Deleted.'), ...errorResponses(404) },
    },
    handler: async ({ params }, reply) => {
      await questions.remove(params.id)
      return reply.status(204).send()
    },
  })

  app.post('/evaluation/questions/import', {
    config: { alsoTakes: { [NDJSON]: JudgedLine } },
    schema: {
      operationId: 'importJudgedQuestions',
      summary: 'Import judged questions',
      description:
        'Takes a list or, as in an export, one question per line. A question with the `id` of an existing one replaces it. If any is invalid or there is no room, none is imported.',
      body: JudgedImport,
      response: {
        200: JudgedQuestionList.describe('The imported questions.'),
        ...errorResponses(409),
      },
    },
    handler: async ({ body }) => ({ questions: await questions.put(body) }),
  })

  app.get('/evaluation/questions/export', {
    schema: {
      operationId: 'exportJudgedQuestions',
      summary: 'Export the judged questions',
      description:
        'Returns one `JudgedQuestion` per line, oldest first, as `npm run eval` reads them.',
      response: {
        200: { description: 'The questions.', content: { [NDJSON]: { schema: JudgedQuestion } } },
        ...errorResponses(),
      },
    },
    handler: (_request, reply) => sendEvents(reply, batchesOf(questions), lineFormat()),
  })
}

async function one(questions: Questions, line: JudgedLine): Promise<JudgedQuestion> {
  const [stored] = await questions.put([line])
  if (!stored) throw new Error('The store returned no question')
  return stored
}

async function* batchesOf(questions: Questions) {
  const all = await questions.list()
  if (all.length > 0) yield all
}

/** The values of the lines that are not blank. Throws `invalid_request`, which names the place of the line. */
function linesOf(body: string): unknown[] {
  return body
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, place): unknown => {
      try {
        return JSON.parse(line)
      } catch {
        throw refusal(String(place), 'is not valid JSON')
      }
    })
}
