import { tidySchemas } from '@agent-server/http/openapi.ts'
import { describe, expect, it } from 'vitest'

const to = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const closed = (properties: object) => ({
  type: 'object',
  properties,
  additionalProperties: false,
})
const opened = (properties: object) => ({ type: 'object', properties })

/** What becomes of the schemas when a path's body and answer refer to the given ones. */
function tidied(schemas: object, body: string, answer: string) {
  const { paths, components } = tidySchemas({
    paths: { '/a': { post: { requestBody: to(body), responses: to(answer) } } },
    components: { schemas },
  })
  return { ...paths['/a'].post, schemas: components.schemas }
}

describe('a schema with a twin for input', () => {
  it('is published once where both say the same', () => {
    const hit = { id: { type: 'string' } }
    const result = tidied({ Hit: closed(hit), HitInput: opened(hit) }, 'HitInput', 'Hit')
    expect(result.schemas).toEqual({ Hit: opened(hit) })
    expect(result.requestBody).toEqual(to('Hit'))
    expect(result.responses).toEqual(to('Hit'))
  })

  it('is published once where both say the same but for the twins they refer to', () => {
    const part = { id: { type: 'string' } }
    const result = tidied(
      {
        Whole: closed({ part: to('Part') }),
        WholeInput: opened({ part: to('PartInput') }),
        Part: closed(part),
        PartInput: opened(part),
      },
      'WholeInput',
      'Whole',
    )
    expect(result.schemas).toEqual({ Whole: opened({ part: to('Part') }), Part: opened(part) })
  })

  it('is published twice where they differ and both are used', () => {
    const schemas = {
      Query: opened({ topK: { type: 'integer' } }),
      QueryInput: opened({ topK: { type: 'integer', default: 5 } }),
    }
    const result = tidied(schemas, 'QueryInput', 'Query')
    expect(result.schemas).toEqual(schemas)
    expect(result.requestBody).toEqual(to('QueryInput'))
  })

  it('takes the plain name for its input where only that is used', () => {
    const input = opened({ topK: { type: 'integer', default: 5 } })
    const schemas = {
      Query: opened({ topK: { type: 'integer' } }),
      QueryInput: input,
      Hit: opened({}),
    }
    const result = tidied(schemas, 'QueryInput', 'Hit')
    expect(result.schemas).toEqual({ Query: input, Hit: opened({}) })
    expect(result.requestBody).toEqual(to('Query'))
  })
})

describe('every schema', () => {
  it('is open for fields of tomorrow, however deep the object', () => {
    const result = tidied({ Hit: closed({ inner: closed({ x: closed({}) }) }) }, 'Hit', 'Hit')
    expect(JSON.stringify(result.schemas)).not.toContain('additionalProperties')
  })

  it('keeps what it says of additional properties otherwise', () => {
    const map = { type: 'object', additionalProperties: { type: 'number' } }
    expect(tidied({ Map: map }, 'Map', 'Map').schemas).toEqual({ Map: map })
  })

  it('without a reference is left out', () => {
    expect(tidied({ Hit: opened({}), Old: opened({}) }, 'Hit', 'Hit').schemas).toEqual({
      Hit: opened({}),
    })
  })

  it('that only another schema refers to is kept', () => {
    const schemas = { Hit: opened({ to: to('Source') }), Source: opened({}) }
    expect(tidied(schemas, 'Hit', 'Hit').schemas).toEqual(schemas)
  })

  it('may refer to itself', () => {
    const schemas = { Tree: opened({ children: { type: 'array', items: to('Tree') } }) }
    expect(tidied(schemas, 'Tree', 'Tree').schemas).toEqual(schemas)
  })

  it('may begin with the name of another schema', () => {
    const schemas = { Hit: opened({ a: {} }), HitList: opened({ hits: to('Hit') }) }
    expect(tidied(schemas, 'HitList', 'HitList').schemas).toEqual(schemas)
  })
})

describe('a union', () => {
  const member = (type: object, more = {}) => opened({ type, ...more })
  const unions = (...oneOf: object[]) =>
    tidied({ Event: { oneOf }, Hit: opened({}) }, 'Event', 'Event').schemas

  it('has members with names of their own, by their tags', () => {
    const [stop, hit] = [member({ const: 'message_stop' }), member({ enum: ['hit', 'passage'] })]
    expect(unions(stop, to('Hit'), hit)).toEqual({
      Event: { oneOf: [to('EventMessageStop'), to('Hit'), to('EventHit')] },
      EventMessageStop: stop,
      EventHit: hit,
      Hit: opened({}),
    })
  })

  it('keeps a member within it that has no tag', () => {
    const plain = opened({ a: { type: 'string' } })
    expect(unions(plain)).toEqual({ Event: { oneOf: [plain] } })
  })
})

it('has no default that is an empty object', () => {
  const schemas = { Hit: opened({ a: { type: 'object', default: {} }, b: { default: 1 } }) }
  const expected = { Hit: opened({ a: { type: 'object' }, b: { default: 1 } }) }
  expect(tidied(schemas, 'Hit', 'Hit').schemas).toEqual(expected)
})

it('leaves the document that it was given as it was', () => {
  const document = { paths: {}, components: { schemas: { Hit: closed({}) } } }
  const before = structuredClone(document)
  tidySchemas(document)
  expect(document).toEqual(before)
})
