import { errorResponses } from '@agent-server/schemas/error.ts'
import {
  KnownPerson,
  PeopleList,
  PeopleQuery,
  PersonParams,
  PersonRemoval,
  PersonRemoved,
} from '@agent-server/schemas/operator/people.ts'
import { PersonChange } from '@agent-server/schemas/operator/usage.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { PeopleAdmin } from '../operator/people/people-admin.ts'

/** Who was here, for the operator. */
export const peopleRoutes: FastifyPluginAsyncZod<{ people: PeopleAdmin }> = async (
  app,
  { people },
) => {
  app.get('/admin/people', {
    schema: {
      operationId: 'listPeople',
      summary: 'List people',
      description:
        'Returns everybody who has signed in, has sent an access token, or for whom a program has spoken.',
      querystring: PeopleQuery,
      response: { 200: PeopleList.describe('A page of people.'), ...errorResponses() },
    },
    handler: ({ query }) => people.list(query),
  })

  app.patch('/admin/people/:id', {
    schema: {
      operationId: 'updatePerson',
      summary: 'Set what a person may use in a day',
      description:
        'Counts from their next call of a model on, in place of what `budgets` in `agent.json` says for people and groups; limits that groups share count as well.',
      params: PersonParams,
      body: PersonChange,
      response: {
        200: KnownPerson.describe('The person as they are now.'),
        ...errorResponses(404),
      },
    },
    handler: ({ params, body }) => people.change(params.id, body),
  })

  app.delete('/admin/people/:id', {
    schema: {
      operationId: 'deletePerson',
      summary: 'Remove a person',
      description:
        'Removes what is theirs alone, and says how much that was. Documents and collections that they have added stay and belong to `handTo`, or to nobody, so that only administrators change them; the audit log stays, too. Who still has an account may come back, as somebody new.',
      params: PersonParams,
      querystring: PersonRemoval,
      response: {
        200: PersonRemoved.describe('What was removed, or would be.'),
        ...errorResponses(404),
      },
    },
    handler: ({ params, query }) => people.remove(params.id, query),
  })
}
