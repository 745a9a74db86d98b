import { errorResponses } from '@agent-server/schemas/error.ts'
import { Run, RunList, RunListQuery, RunParams } from '@agent-server/schemas/operator/run.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { RunHistory } from '../operator/ops/runs.ts'

/** What led to the last answers. */
export const runRoutes: FastifyPluginAsyncZod<{ runs: Pick<RunHistory, 'list' | 'get'> }> = async (
  app,
  { runs },
) => {
  app.get('/admin/runs', {
    schema: {
      operationId: 'listRuns',
      summary: 'List the last runs of the agent',
      description:
        'The last RUNS_KEPT runs of all keys are kept, by all servers on a database together, for 30 days at most.',
      querystring: RunListQuery,
      response: { 200: RunList.describe('The runs.'), ...errorResponses() },
    },
    handler: async ({ query }) => runs.list(query),
  })

  app.get('/admin/runs/:id', {
    schema: {
      operationId: 'getRun',
      summary: 'Get a run of the agent',
      description:
        'Returns the question as it was searched for, what each search found with the score of each stage, every prompt as it was sent, the tool calls, and the error if there was one. Values of secret settings are replaced by `[secret]`.',
      params: RunParams,
      response: { 200: Run.describe('The run.'), ...errorResponses(404) },
    },
    handler: async ({ params }) => runs.get(params.id),
  })
}
