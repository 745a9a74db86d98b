import { ERRORS } from '@agent-server/lib/errors.ts'
import { ErrorBody } from '@agent-server/schemas/error.ts'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import {
  type Contract,
  type ContractOperation,
  operationsOf,
  readContract,
} from '../support/contract.ts'
import { createContractValidator } from '../support/contract-validator.ts'
import { startServer } from '../support/server.ts'
import { isNode, nodesOf, sourceFiles } from '../support/source-tree.ts'

const server = await startServer()
const contract = await readContract(server)
const operations = operationsOf(contract)
const validator = createContractValidator(contract)
await server.close()

const TOO_MANY = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`field_${at}`, at]))
const SEARCH_OF_NOTHING = { type: 'file_search', vector_store_ids: ['birds'] }

const guarded = () => operations.filter(({ isPublic }) => !isPublic)
/** What speaks a protocol with errors of another shape, and the name of that shape. */
function errorSchemaOf({ path }: ContractOperation): string {
  if (path.startsWith('/v1/messages')) return 'AnthropicError'
  if (path.startsWith('/api/v1/')) return 'SyncError'
  return path.startsWith('/api/') ? 'OllamaError' : 'Error'
}

/** Areas of OpenAI's and Anthropic's protocols. */
const VERSIONED = [
  'chat',
  'completions',
  'conversations',
  'embeddings',
  'files',
  'messages',
  'models',
  'responses',
  'vector_stores',
]

const nameOf = ({ method, path }: ContractOperation) => `${method} ${path}`

describe('GET /openapi.json', () => {
  it(
    'is a valid OpenAPI 3.1 document, to an independent validator',
    verifies('contract.served', 'endpoint.openapi', 'openapi.valid'),
    async () => {
      const checker = new Validator()
      const { valid, errors } = await checker.validate(structuredClone(contract))
      expect(errors ?? []).toEqual([])
      expect([valid, checker.version, contract.openapi]).toEqual([true, '3.1', '3.1.1'])
    },
  )

  it(
    'has the endpoints of the specification; a version is carried by those of other protocols alone',
    verifies('versioning.paths', 'contract.served'),
    () => {
      expect(operations.map(nameOf)).toEqual(
        expect.arrayContaining([
          'GET /agent',
          'GET /agent/tools',
          'GET /agent/capabilities',
          'POST /chat',
          'POST /agent/chat',
          'POST /v1/chat/completions',
          'POST /query',
          'POST /documents',
          'GET /health',
          'GET /readiness',
        ]),
      )
      const versioned = operations.filter(({ path }) => /\/v\d/.test(path))
      const areas = new Set(versioned.map(({ path }) => path.split('/').slice(0, 3).join('/')))
      expect([...areas].toSorted()).toEqual(['/api/v1', ...VERSIONED.map((area) => `/v1/${area}`)])
    },
  )

  it(
    'gives every operation a unique operationId, a summary, a description and tags that it explains',
    verifies('openapi.operations'),
    () => {
      const ids = operations.map(({ operationId }) => operationId)
      expect(ids).not.toContain(undefined)
      expect(new Set(ids).size).toBe(operations.length)
      expect(operations.filter(({ summary }) => !summary)).toEqual([])
      expect(operations.filter(({ description }) => !description).map(nameOf)).toEqual([])
      const explained = [contract.tags].flat().map((tag) => tagName(tag))
      for (const { tags } of operations) {
        expect(tags).toHaveLength(1)
        expect(explained).toContain(tags[0])
      }
    },
  )

  it('gives every request body an example, and it fits', verifies('openapi.examples'), () => {
    const bodies = operations.filter(({ requestBody }) => requestBody)
    expect(bodies.length).toBeGreaterThanOrEqual(5)
    for (const { requestBody } of bodies) {
      for (const { schema } of Object.values(requestBody?.content ?? {})) {
        const name = referenced(schema)
        const examples = listOf(contract.components.schemas[name], 'examples')
        expect([name, examples.length]).not.toEqual([name, 0])
        for (const example of examples) {
          expect(validator.mistakes(['components', 'schemas', name], example)).toBeUndefined()
        }
      }
    }
  })

  it(
    'gives only examples that fit their schemas',
    verifies('openapi.examples', 'openapi.true'),
    () => {
      const all = Object.entries(contract.components.schemas).flatMap(([name, schema]) =>
        listOf(schema, 'examples').map((example) => ({ name, example })),
      )
      expect(all.length).toBeGreaterThan(5)
      for (const { name, example } of all) {
        expect(validator.mistakes(['components', 'schemas', name], example)).toBeUndefined()
      }
    },
  )

  it('shows each failure with an example of its own status', verifies('openapi.examples'), () => {
    const common = guarded().filter((operation) => errorSchemaOf(operation) === 'Error')
    const failures = common.flatMap(({ path, responses }) =>
      Object.entries(responses).filter(([status]) => {
        const isMcpOwn = path === '/mcp' && ['401', '406'].includes(status)
        return Number(status) >= 400 && !isMcpOwn
      }),
    )
    expect(failures.length).toBeGreaterThan(50)
    for (const [status, { content }] of failures) {
      const { error } = ErrorBody.parse(content?.['application/json']?.example)
      expect(Object.entries(ERRORS).find(([code]) => code === error.code)?.[1]).toEqual({
        status: Number(status),
        type: error.type,
      })
    }
  })

  it('shows each failure of another protocol in its shape', verifies('openapi.examples'), () => {
    const others = guarded().filter((operation) => errorSchemaOf(operation) !== 'Error')
    expect(others.length).toBeGreaterThan(10)
    for (const operation of others) {
      const place = ['components', 'schemas', errorSchemaOf(operation)]
      for (const [status, { content }] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue
        const { example } = content?.['application/json'] ?? {}
        expect([operation.path, validator.mistakes(place, example)]).toEqual([
          operation.path,
          undefined,
        ])
      }
    }
  })

  it('bounds every string and list of a request', verifies('openapi.bounds'), () => {
    const requests = operations.flatMap((operation) => [
      ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema),
      ...operation.parameters.map(({ schema }) => schema),
    ])
    const schemas = requests.flatMap((schema) => [...schemasWithin(schema, contract)])
    expect(schemas.filter(isString).length).toBeGreaterThan(20)
    expect(schemas.filter((schema) => isString(schema) && !isBoundedString(schema))).toEqual([])
    expect(schemas.filter((schema) => isList(schema) && !('maxItems' in schema))).toEqual([])
  })

  it.each<[string, string, unknown]>([
    ['a question of white space', 'QueryRequest', { query: ' \n' }],
    ['a text of white space', 'CreateDocument', { text: ' ' }],
    ['a prompt of white space', 'TextCompletionRequest', { prompt: '\t' }],
    ['more metadata than are taken', 'CreateDocument', { text: 'a', metadata: TOO_MANY }],
    ['a file of no store', 'ResponseRequest', { input: 'a', tools: [SEARCH_OF_NOTHING] }],
  ])(
    'says what the server refuses besides: %s',
    verifies('openapi.bounds'),
    (_case, name, body) => {
      expect(validator.mistakes(['components', 'schemas', name], body)).toBeDefined()
    },
  )

  it('documents the errors of every operation behind the key', verifies('openapi.errors'), () => {
    for (const operation of guarded()) {
      const { responses } = operation
      const errors = Object.keys(responses).filter((status) => Number(status) >= 400)
      expect([nameOf(operation), errors]).toEqual([
        nameOf(operation),
        expect.arrayContaining(['400', '401', '413', '415', '500', '503']),
      ])
      const isOfMcp = (status: string) => operation.path === '/mcp' && /400|401|406/.test(status)
      for (const status of errors) {
        if (isOfMcp(status)) continue
        expect(responses[status]?.content).toMatchObject({
          'application/json': {
            schema: { $ref: `#/components/schemas/${errorSchemaOf(operation)}` },
          },
        })
      }
    }
  })

  it('documents every status that an error travels with', verifies('openapi.errors'), () => {
    const documented = new Set(operations.flatMap(({ responses }) => Object.keys(responses)))
    const statuses = Object.values(ERRORS).map(({ status }) => String(status))
    expect(statuses.filter((status) => !documented.has(status))).toEqual([])
  })

  it('names every error code and type', verifies('openapi.codes'), () => {
    const { ErrorCode, ErrorDetail } = contract.components.schemas
    expect(ErrorCode).toMatchObject({ enum: Object.keys(ERRORS) })
    expect(ErrorDetail).toMatchObject({
      properties: {
        code: { $ref: '#/components/schemas/ErrorCode' },
        type: { enum: [...new Set(Object.values(ERRORS).map(({ type }) => type))] },
      },
    })
  })

  it('asks for the bearer key, but where a path is public', verifies('openapi.security'), () => {
    expect(contract.components.securitySchemes).toEqual({
      key: { type: 'http', scheme: 'bearer', description: expect.any(String) },
    })
    expect(contract.security).toEqual([{ key: [] }])
    expect(operations.filter(({ isPublic }) => isPublic).map(nameOf)).toEqual([
      'GET /health',
      'GET /readiness',
    ])
  })

  it('documents both media types of completions', verifies('openapi.completions'), () => {
    const answer = operations.find(({ path }) => path === '/v1/chat/completions')?.responses['200']
    expect(Object.keys(answer?.content ?? {}).toSorted()).toEqual([
      'application/json',
      'text/event-stream',
    ])
  })

  it(
    'has events on the chat paths alone, but for those of another protocol',
    verifies('events.only-chat'),
    () => {
      const streams = operations.filter(({ responses }) =>
        Object.values(responses).some(({ content }) => content?.['text/event-stream']),
      )
      expect(streams.map(nameOf).toSorted()).toEqual([
        'GET /admin/events',
        'GET /v1/conversations/{id}/items/{item}/events',
        'POST /admin/agent/chat',
        'POST /agent/chat',
        'POST /chat',
        'POST /mcp',
        'POST /v1/chat/completions',
        'POST /v1/completions',
        'POST /v1/messages',
        'POST /v1/responses',
      ])
    },
  )

  it('names no schema as generated clients name constructors, or responses of operations', () => {
    const names = Object.keys(contract.components.schemas)
    const responses = operations.map(({ operationId = '' }) =>
      `${operationId}Response`.toLowerCase(),
    )
    expect(names.filter((name) => /^New[A-Z]/.test(name))).toEqual([])
    expect(names.filter((name) => responses.includes(name.toLowerCase()))).toEqual([])
  })

  it('says what a score means', verifies('hits.score.documented'), () => {
    expect(contract.components.schemas.Hit).toMatchObject({
      properties: {
        score: {
          description: expect.stringMatching(
            /^Relevance .* From 0 to 1, comparable between questions/,
          ),
        },
      },
    })
  })

  it('leaves room for fields of tomorrow in every answer', verifies('openapi.true'), () => {
    const answers = operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content }) =>
        Object.values(content ?? {}).flatMap(({ schema }) => [...schemasWithin(schema, contract)]),
      ),
    )
    expect(answers.length).toBeGreaterThan(50)
    expect(answers.filter((schema) => schema.additionalProperties === false)).toEqual([])
  })
})

describe('The named schemas in packages/schemas', () => {
  it('have a name each: of two with one name, one would silently be lost', () => {
    const names = sourceFiles('packages/schemas/src').flatMap(({ text }) => schemaNames(text))
    expect(names.length).toBeGreaterThan(20)
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
  })

  it('end not in Input, the name of the twin that is made for requests', () => {
    const names = Object.keys(contract.components.schemas)
    expect(names.filter((name) => name.endsWith('Input'))).toEqual([])
  })
})

type Schema = Record<string, unknown>

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function tagName(tag: unknown): unknown {
  return isSchema(tag) && tag.description ? tag.name : undefined
}

function listOf(schema: unknown, key: string): unknown[] {
  return isSchema(schema) && Array.isArray(schema[key]) ? schema[key] : []
}

function referenced(schema: unknown): string {
  const to = isSchema(schema) && typeof schema.$ref === 'string' ? schema.$ref : ''
  return to.replace('#/components/schemas/', '')
}

/** A schema and all that it is made of, each once, whether written in it or referenced. */
function* schemasWithin(
  root: unknown,
  { components }: Contract,
  seen = new Set<unknown>(),
): Generator<Schema> {
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    if (isSchema(value)) {
      yield value
      // Names of free fields are bounded by the body alone.
      const { examples: _shown, propertyNames: _free, ...parts } = value
      waiting.push(components.schemas[referenced(value)], ...Object.values(parts))
    } else waiting.push(...Object.values(value))
  }
}

const typesOf = ({ type }: Schema) => [type].flat()
const isString = (schema: Schema) => typesOf(schema).includes('string')
const isList = (schema: Schema) => typesOf(schema).includes('array')

/** A file is bounded by FILE_LIMIT, in bytes: of a length, clients for Go would make code that does not compile. */
function isBoundedString({ maxLength, enum: values, const: value, pattern, format }: Schema) {
  const bound = maxLength ?? values ?? value ?? (format === 'binary' || undefined)
  return bound !== undefined || (typeof pattern === 'string' && /^\^.*\{\d+,\d+\}\$$/.test(pattern))
}

/** The `id` of every `.meta({ id })`. */
function schemaNames(text: string): unknown[] {
  return nodesOf(text)
    .filter(({ type, callee }) => type === 'CallExpression' && isMeta(callee))
    .flatMap(({ arguments: given }) => [given].flat().filter(isNode))
    .flatMap(({ properties }) => [properties].flat().filter(isNode))
    .filter(({ key }) => isNode(key) && key.name === 'id')
    .map(({ value }) => (isNode(value) ? value.value : undefined))
}

function isMeta(callee: unknown): boolean {
  return isNode(callee) && isNode(callee.property) && callee.property.name === 'meta'
}
