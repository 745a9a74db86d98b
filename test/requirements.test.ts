import { describe, expect, it } from 'vitest'
import { REQUIREMENTS } from './requirements.ts'
import { isNode, nodesOf, type SyntaxNode, sourceFiles } from './support/source-tree.ts'

interface Citation {
  path: string
  /** Nothing where the argument is not a plain string. */
  id: string | undefined
}

const required = REQUIREMENTS.map(({ id }) => id)
const citations = sourceFiles('test').flatMap(({ path, text }) => citationsOf(path, text))
const cited = new Set(citations.map(({ id }) => id))

describe('The manifest of requirements', () => {
  it('holds each requirement once', () => {
    expect(required).toEqual([...new Set(required)])
  })

  it('says each in one sentence', () => {
    const badly = REQUIREMENTS.filter(({ says }) => !/^\S.*[.]$/.test(says))
    expect(badly).toEqual([])
  })

  it('has a test for every requirement', () => {
    expect(required.filter((id) => !cited.has(id))).toEqual([])
  })

  it('knows every requirement that a test cites', () => {
    const known = new Set<string | undefined>(required)
    expect(citations.filter(({ id }) => !known.has(id))).toEqual([])
  })

  it('is read from tests of more than one folder, and from the specification and the design', () => {
    const places = new Set(citations.map(({ path }) => path))
    const sources = new Set(REQUIREMENTS.map(({ source }) => source.split(':')[0]))
    expect(places.size).toBeGreaterThan(5)
    expect([...sources].toSorted()).toEqual(['design', 'spec'])
  })
})

describe('The search for citations', () => {
  it('finds every id of a call, wherever the call stands', () => {
    const text = `it.each([1])('a', verifies('a', "b"), () => {}); describe('c', verifies('d'), f)`
    expect(citationsOf('x', text).map(({ id }) => id)).toEqual(['a', 'b', 'd'])
  })

  it('does not take a comment or a string for a citation', () => {
    expect(citationsOf('x', `// verifies('a')\nconst text = "verifies('b')"`)).toEqual([])
  })

  it('reports an id that it cannot read', () => {
    expect(citationsOf('x', 'verifies(name)')).toEqual([{ path: 'x', id: undefined }])
  })
})

function citationsOf(path: string, text: string): Citation[] {
  return nodesOf(text)
    .filter(isCitation)
    .flatMap(({ arguments: ids }) => ids.map((id) => ({ path, id: stringOf(id) })))
}

function isCitation(node: SyntaxNode): node is SyntaxNode & { arguments: unknown[] } {
  return (
    node.type === 'CallExpression' &&
    isNode(node.callee) &&
    node.callee.name === 'verifies' &&
    Array.isArray(node.arguments)
  )
}

function stringOf(argument: unknown): string | undefined {
  return isNode(argument) && typeof argument.value === 'string' ? argument.value : undefined
}
