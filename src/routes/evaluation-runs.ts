import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { groupRoutes } from '../http/reference.ts'
import type { Evaluations } from '../operator/evaluation/evaluations.ts'
import { errorResponses } from '../schemas/error.ts'
import {
  ComparisonQuery,
  EvaluationComparison,
  EvaluationReport,
  EvaluationRun,
  EvaluationRunList,
  EvaluationRunParams,
  NewEvaluationRun,
} from '../schemas/operator/evaluation.ts'

/** Measures search and answers with the judged questions. */
export const evaluationRunRoutes: FastifyPluginAsyncZod<{ evaluations: Evaluations }> = async (
  app,
  { evaluations },
) => {
  groupRoutes(app, 'admin', ['admin'])
  app.addHook('onClose', () => evaluations.close())

  app.post('/evaluation/runs', {
    schema: {
      operationId: 'createEvaluationRun',
      summary: 'Evaluate search and answers',
      description:
        'Asks the judged questions in the background, one run at a time; poll the URL in `Location` until `state` is no longer `running`. With `answers`, the tokens are those of the key.',
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
      description: 'Those of all servers on the database, without the outcome of each question.',
      response: { 200: EvaluationRunList.describe('The runs.'), ...errorResponses() },
    },
    handler: async () => ({ runs: await evaluations.list() }),
  })

  app.get('/evaluation/runs/:id', {
    schema: {
      operationId: 'getEvaluationRun',
      summary: 'Get an evaluation',
      description: 'With its progress or, once it is done, the outcome of each question.',
      params: EvaluationRunParams,
      response: { 200: EvaluationReport.describe('The run.'), ...errorResponses(404) },
    },
    handler: ({ params }) => evaluations.get(params.id),
  })

  app.post('/evaluation/runs/:id/cancel', {
    schema: {
      operationId: 'cancelEvaluationRun',
      summary: 'Cancel an evaluation',
      description: 'What it has measured by then is not kept. Does nothing if it has ended.',
      params: EvaluationRunParams,
      response: { 200: EvaluationRun.describe('The run.'), ...errorResponses(404) },
    },
    handler: ({ params }) => evaluations.cancel(params.id),
  })

  app.get('/evaluation/comparison', {
    schema: {
      operationId: 'compareEvaluationRuns',
      summary: 'Compare two evaluations',
      description: 'Measures side by side, and the questions that came out differently.',
      querystring: ComparisonQuery,
      response: { 200: EvaluationComparison.describe('The comparison.'), ...errorResponses(404) },
    },
    handler: ({ query }) => evaluations.compare(query),
  })
}
