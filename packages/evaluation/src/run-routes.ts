import { errorResponses } from '@agent-server/schemas/error.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { Evaluations } from './evaluations.ts'
import {
  ComparisonQuery,
  EvaluationComparison,
  EvaluationReport,
  EvaluationRun,
  EvaluationRunList,
  EvaluationRunParams,
  NewEvaluationRun,
} from './schema.ts'

/** Measures search and answers with the judged questions. */
export const runRoutes: FastifyPluginAsyncZod<{ evaluations: Evaluations }> = async (
  app,
  { evaluations },
) => {
  app.post('/evaluation/runs', {
    schema: {
      operationId: 'createEvaluationRun',
      summary: 'Evaluate search and answers',
      description:
        'Asks the judged questions in the background, one run at a time; poll the URL in `Location` until `state` is no longer `running`. With `answers`, the tokens used count towards the limit of the key.',
      body: NewEvaluationRun,
      response: { 202: EvaluationRun.describe('The run has begun.'), ...errorResponses(409) },
    },
    handler: async ({ body, caller }, reply) => {
      const run = await evaluations.begin(body, caller)
      return reply.status(202).header('location', `/evaluation/runs/${run.id}`).send(run)
    },
  })

  app.get('/evaluation/runs', {
    schema: {
      operationId: 'listEvaluationRuns',
      summary: 'List the evaluations',
      description:
        'Returns the evaluations of all servers that share the database, without the outcome of each question.',
      response: { 200: EvaluationRunList.describe('The runs.'), ...errorResponses() },
    },
    handler: async () => ({ runs: await evaluations.list() }),
  })

  app.get('/evaluation/runs/:id', {
    schema: {
      operationId: 'getEvaluationRun',
      summary: 'Get an evaluation',
      description:
        'Returns a run with its progress or, once it is done, with the outcome of each question.',
      params: EvaluationRunParams,
      response: { 200: EvaluationReport.describe('The run.'), ...errorResponses(404) },
    },
    handler: ({ params }) => evaluations.get(params.id),
  })

  app.post('/evaluation/runs/:id/cancel', {
    schema: {
      operationId: 'cancelEvaluationRun',
      summary: 'Cancel an evaluation',
      description:
        'Discards what the run has measured so far. Has no effect on a run that has ended.',
      params: EvaluationRunParams,
      response: { 200: EvaluationRun.describe('The run.'), ...errorResponses(404) },
    },
    handler: ({ params }) => evaluations.cancel(params.id),
  })

  app.get('/evaluation/comparison', {
    schema: {
      operationId: 'compareEvaluationRuns',
      summary: 'Compare two evaluations',
      description:
        'Returns the measures of both side by side, and the questions that came out differently.',
      querystring: ComparisonQuery,
      response: { 200: EvaluationComparison.describe('The comparison.'), ...errorResponses(404) },
    },
    handler: ({ query }) => evaluations.compare(query),
  })
}
