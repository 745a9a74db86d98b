import { expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { operationsOf, readContract } from '../support/contract.ts'
import { startServer } from '../support/server.ts'

const server = await startServer()
const contract = await readContract(server)
const operations = operationsOf(contract)
const { schemas } = contract.components

interface Place {
  place: string
  schema: unknown
}

it('describes every parameter, and every field of bodies', verifies('openapi.descriptions'), () => {
  const parameters = operations.flatMap(({ operationId, parameters }) =>
    parameters.map((parameter) => ({
      place: `${operationId} ${parameter.name}`,
      schema: { ...Object(parameter.schema), ...parameter },
    })),
  )
  const bodies = operations.flatMap(({ operationId = '', requestBody, responses }) =>
    [requestBody, ...Object.values(responses)]
      .flatMap((body) => Object.values(body?.content ?? {}))
      .map(({ schema }) => ({ place: operationId, schema })),
  )
  const named = Object.entries(schemas).map(([place, schema]) => ({ place, schema }))
  const fields = [...named, ...bodies].flatMap((body) => [...fieldsOf(body)])
  expect([parameters.length, fields.length]).toEqual([
    expect.toSatisfy(above(100)),
    expect.toSatisfy(above(1_000)),
  ])
  const undescribed = [...parameters, ...fields].filter(({ schema }) => !isDescribed(schema))
  expect(undescribed.map(({ place }) => place)).toEqual([])
})

it('says what each answer is, in words of its own', verifies('openapi.descriptions'), () => {
  const answers = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).map(([status, { description }]) => ({
      place: `${operationId} ${status}`,
      description,
    })),
  )
  const unsaid = answers.filter(({ description }) => ['', 'Default Response'].includes(description))
  expect(unsaid).toEqual([])
  expect(answers.length).toBeGreaterThan(1_000)
})

it.each([
  ['of its own', { description: 'Text.' }, true],
  [
    'of its value, if that may be null',
    { anyOf: [{ description: 'Text.' }, { type: 'null' }] },
    true,
  ],
  ['of its items', { type: 'array', items: { description: 'Text.' } }, true],
  ['of the schema that it references', { $ref: '#/components/schemas/ErrorDetail' }, true],
  ['that this schema lacks', { $ref: '#/components/schemas/Hit' }, false],
  [
    'of one of several kinds of values',
    { anyOf: [{ description: 'Text.' }, { type: 'string' }] },
    false,
  ],
  ['that is empty', { type: 'string', description: '' }, false],
])('looks for the description %s', (_case, schema, described) => {
  expect(isDescribed(schema)).toBe(described)
})

type Schema = Record<string, unknown>

const above = (least: number) => (count: number) => count > least

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null

const listOf = (schema: Schema, key: string): unknown[] => [schema[key] ?? []].flat()

/** The fields of a schema and of all that is written in it, without what it references. */
function* fieldsOf({ place, schema }: Place): Generator<Place> {
  if (!isSchema(schema)) return
  for (const [name, field] of Object.entries(Object(schema.properties))) {
    const found = { place: `${place}.${name}`, schema: field }
    yield found
    yield* fieldsOf(found)
  }
  const members = ['allOf', 'anyOf', 'oneOf', 'items', 'additionalProperties']
  for (const part of members.flatMap((key) => listOf(schema, key))) {
    yield* fieldsOf({ place, schema: part })
  }
}

/** Whether a field is described where it stands, by its type, or by having one value only. */
function isDescribed(schema: unknown): boolean {
  if (!isSchema(schema)) return false
  if (schema.description || 'const' in schema) return true
  if ('items' in schema) return isDescribed(schema.items)
  const values = listOf(schema, 'anyOf').filter(
    (value) => !isSchema(value) || value.type !== 'null',
  )
  const name = String(schema.$ref ?? '').replace('#/components/schemas/', '')
  return values.length === 1 ? isDescribed(values[0]) : isDescribed(schemas[name])
}
