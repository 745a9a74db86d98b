import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { breakingChanges, Contract, setupContract } from '../../scripts/compare-contracts.ts'
import { ROOT } from '../support/source-tree.ts'

interface Asking {
  body?: object
  answer?: object
  parameters?: object[]
  path?: string
  schemas?: object
}

function contract({ body, answer = {}, parameters = [], path = '/ask', schemas = {} }: Asking) {
  const json = (schema: object) => ({ 'application/json': { schema } })
  return Contract.parse({
    paths: {
      [path]: {
        post: {
          parameters,
          ...(body && { requestBody: { content: json(body) } }),
          responses: { 200: { content: json(answer) }, 400: { content: json({ type: 'string' }) } },
        },
      },
    },
    components: { schemas },
  })
}

const object = (properties: object, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
})
const TEXT = { type: 'string' }
const SELF = object({ child: { $ref: '#/components/schemas/Self' }, name: TEXT }, ['name'])

it.each<[string, Asking, Asking, string[]]>([
  ['a path', {}, { path: '/other' }, ['POST /ask: is gone']],
  [
    'a parameter',
    { parameters: [{ name: 'a', in: 'query', schema: TEXT }] },
    { parameters: [{ name: 'b', in: 'query', required: true, schema: TEXT }] },
    ['POST /ask: query parameter b is required now', 'POST /ask: query parameter a is gone'],
  ],
  [
    'a field that is sent',
    { body: object({ a: TEXT, b: TEXT }) },
    { body: object({ b: { type: 'integer' }, c: TEXT }, ['c']) },
    [
      'POST /ask: body.a: is gone',
      'POST /ask: body.c: is required now',
      'POST /ask: body.b: no longer takes string',
    ],
  ],
  [
    'a field that is received',
    { answer: object({ a: TEXT, b: TEXT }, ['a', 'b']) },
    { answer: object({ a: { type: ['string', 'null'] } }) },
    [
      'POST /ask: 200.b: is gone',
      'POST /ask: 200.a: may be absent now',
      'POST /ask: 200.a: can be null now',
    ],
  ],
  [
    'a value that is sent',
    { body: { ...TEXT, enum: ['x', 'y'] } },
    { body: { ...TEXT, enum: ['y', 'z'] } },
    ['POST /ask: body: no longer takes "x"'],
  ],
  [
    'what a schema that contains itself has',
    { answer: { $ref: '#/components/schemas/Self' }, schemas: { Self: SELF } },
    { answer: { $ref: '#/components/schemas/Self' }, schemas: { Self: object({ name: TEXT }) } },
    ['Self.child: is gone', 'Self.name: may be absent now'],
  ],
  [
    'one of several shapes',
    { answer: { anyOf: [object({ a: TEXT }), TEXT] } },
    { answer: { anyOf: [object({}), TEXT] } },
    ['POST /ask: 200 (1).a: is gone'],
  ],
])('names %s that is gone or has changed', (_case, before, after, lines) => {
  expect(breakingChanges(contract(before), contract(after))).toEqual(lines)
})

it.each<[string, Asking, Asking]>([
  ['a field', { body: object({ a: TEXT }) }, { body: object({ a: TEXT, b: TEXT }) }],
  ['a field of an answer', { answer: object({}) }, { answer: object({ a: TEXT }, ['a']) }],
  ['a type that is taken', { body: { type: 'integer' } }, { body: { type: ['number', 'null'] } }],
  ['a value of an answer', { answer: { enum: ['x'] } }, { answer: { enum: ['x', 'y'] } }],
  ['what is optional', { body: object({ a: TEXT }, ['a']) }, { body: object({ a: TEXT }) }],
])('lets %s be added', (_case, before, after) => {
  expect(breakingChanges(contract(before), contract(after))).toEqual([])
})

it('names fields of agent.json and variables that are no longer accepted', () => {
  const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')
  const [schema, example] = [read('agent.schema.json'), read('.env.example')]
  const now = setupContract(schema, example)
  expect(breakingChanges(now, now)).toEqual([])
  const earlier = setupContract(
    schema
      .replace('"toolCalls":', '"calls":')
      .replace('"enum": [\n            "no-images"', '"enum": ["none",\n            "no-images"'),
    `${example}\n#CHAT_STYLE=\n`,
  )
  expect(breakingChanges(earlier, now).toSorted()).toEqual([
    'AgentConfiguration.limits.calls: is gone',
    'AgentConfiguration.links: no longer takes "none"',
    'READ .env: body.CHAT_STYLE: is gone',
  ])
})
