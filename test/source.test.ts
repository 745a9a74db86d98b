import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  isNode,
  nodesOf,
  type SourceFile,
  type SyntaxNode,
  sourceFiles,
} from './support/source-tree.ts'

/** What lint cannot measure; the longest file and the longest function are its own to refuse. */
const LIMITS = {
  castsPerThousandLines: 1,
  fileLinesOfNineTenths: 250,
  functionLinesOfNineTenths: 30,
  nesting: 3,
}

/** Names that say nothing about what a file gives. */
const VAGUE_NAMES = ['index', 'utils', 'util', 'types', 'helpers', 'common', 'misc']

const files = sourceFiles('src')
const sourceLines = countLines(files)

describe('The source', () => {
  it('is found where this test looks', () => {
    expect(files.map(({ path }) => path)).toContain('src/errors.ts')
    expect(functionLengths(files).length).toBeGreaterThan(files.length)
  })

  it('names each file for what it gives', () => {
    expect(files.filter(isVague)).toEqual([])
  })

  it('casts next to nothing', () => {
    const casts = files.flatMap((file) => positions(file, isCast))
    const allowed = (sourceLines / 1_000) * LIMITS.castsPerThousandLines
    expect(casts.length, casts.join('\n')).toBeLessThanOrEqual(allowed)
  })

  it('asserts no value to be there', () => {
    expect(files.flatMap((file) => positions(file, isAssertion))).toEqual([])
  })

  it('swallows no error without a word', () => {
    expect(files.flatMap((file) => positions(file, isEmptyCatch))).toEqual([])
  })

  it('reads the environment in the process’s own files only', () => {
    const readers = files.filter((file) => positions(file, isEnvironment).length > 0)
    expect(readers.map(({ path }) => path)).toEqual(['src/main.ts', 'src/start.ts'])
  })

  it('imports no HTTP of Node, which loads all of its fetch: 16 MB in each process', () => {
    const imports = files.filter(({ text }) => /^import (?!type\b).*'node:http'/m.test(text))
    expect(imports.map(({ path }) => path)).toEqual([])
  })

  it('leaves nothing to be done', () => {
    expect(files.filter(({ text }) => hasReminder(text)).map(({ path }) => path)).toEqual([])
  })

  it('has short files', () => {
    const lengths = files.map((file) => countLines([file]))
    expect(ninthTenth(lengths)).toBeLessThanOrEqual(LIMITS.fileLinesOfNineTenths)
  })

  it('has short functions', () => {
    expect(ninthTenth(functionLengths(files))).toBeLessThanOrEqual(LIMITS.functionLinesOfNineTenths)
  })

  it('nests no deeper than three', () => {
    const deep = files.filter(({ text }) => deepestNesting(text) > LIMITS.nesting)
    expect(deep.map(({ path }) => path)).toEqual([])
  })
})

describe('The measures of the source', () => {
  const count = (text: string, is: (node: SyntaxNode) => boolean) =>
    positions({ path: 'src/a.ts', text }, is).length

  it('count casts, but neither `as const` nor a renamed import', () => {
    expect(count('const x = y as unknown as Z', isCast)).toBe(2)
    expect(count(`import { a as b } from 'c'\nconst x = [1] as const`, isCast)).toBe(0)
  })

  it('see both ways to assert that a value is there', () => {
    expect(count('x!.y; let z!: string', isAssertion)).toBe(2)
    expect(count('!x; x !== y', isAssertion)).toBe(0)
  })

  it('see a catch that does nothing, whatever its comment says', () => {
    expect(count('try { x() } catch { /* nothing */ }', isEmptyCatch)).toBe(1)
    expect(count('try { x() } catch { y() }', isEmptyCatch)).toBe(0)
  })

  it('see the environment however it is read', () => {
    expect(count(`process.env.PORT; process['env']; const { env } = process`, isEnvironment)).toBe(
      3,
    )
    expect(count('// process.env\nconst options: NodeJS.ProcessEnv = {}', isEnvironment)).toBe(0)
  })

  it('see a reminder', () => {
    expect(hasReminder('// TO' + 'DO later')).toBe(true)
    expect(hasReminder('const todos = []')).toBe(false)
  })

  it('see a vague name', () => {
    expect(isVague({ path: 'src/lib/utils.ts' })).toBe(true)
    expect(isVague({ path: 'src/lib/chunk-index.ts' })).toBe(false)
  })

  it('measure functions of every kind, nested ones too', () => {
    const text = `function a() {\n  return () => {\n    b()\n  }\n}\nconst c = { d() {\n} }\nconst e = () => 1`
    expect(functionLengths([{ path: 'src/a.ts', text }])).toEqual([5, 3, 2])
  })

  it('tell how long nine tenths are at most', () => {
    expect(ninthTenth([9, 3, 1, 7, 5, 2, 4, 8, 6, 10])).toBe(9)
  })

  it('measure nesting within a function, an else-if chain as one level', () => {
    expect(deepestNesting('if (a) { for (const b of c) { if (d) { while (e) f() } } }')).toBe(4)
    expect(deepestNesting('if (a) { b() } else if (c) { d() } else if (e) { f() }')).toBe(1)
    expect(deepestNesting('if (a) { b(() => { if (c) d() }) }')).toBe(1)
  })
})

function isVague({ path }: { path: string }): boolean {
  return VAGUE_NAMES.includes(basename(path, '.ts'))
}

function isCast(node: SyntaxNode): boolean {
  if (node.type === 'TSTypeAssertion') return true
  if (node.type !== 'TSAsExpression' || !isNode(node.typeAnnotation)) return false
  const { typeName } = node.typeAnnotation
  return !(isNode(typeName) && typeName.name === 'const')
}

function isAssertion(node: SyntaxNode): boolean {
  return node.type === 'TSNonNullExpression' || node.definite === true
}

function isEmptyCatch(node: SyntaxNode): boolean {
  const { type, body } = node
  return (
    type === 'CatchClause' && isNode(body) && Array.isArray(body.body) && body.body.length === 0
  )
}

function isEnvironment(node: SyntaxNode): boolean {
  if (node.type === 'MemberExpression') {
    const { object, property } = node
    const name = isNode(property) && (property.name ?? property.value)
    return isNode(object) && object.name === 'process' && name === 'env'
  }
  const { type, id, init } = node
  return (
    type === 'VariableDeclarator' &&
    isNode(id) &&
    id.type === 'ObjectPattern' &&
    isNode(init) &&
    init.name === 'process'
  )
}

function hasReminder(text: string): boolean {
  return /\b(?:TODO|FIXME|XXX|HACK)\b/.test(text)
}

/** Where in a file nodes of a kind stand, as `path:line`. */
function positions({ path, text }: SourceFile, is: (node: SyntaxNode) => boolean): string[] {
  return nodesOf(text)
    .filter(is)
    .map(({ start }) => `${path}:${text.slice(0, start).split('\n').length}`)
}

function functionLengths(tree: readonly SourceFile[]): number[] {
  return tree.flatMap(({ text }) =>
    nodesOf(text)
      .filter(
        ({ type, body }) => isFunction(type) && isNode(body) && body.type === 'BlockStatement',
      )
      .map(({ start, end }) => text.slice(start, end).split('\n').length),
  )
}

function isFunction(type: string): boolean {
  return /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type)
}

function deepestNesting(text: string): number {
  const [program] = nodesOf(text)
  return nesting(program, 0)
}

function nesting(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return depth
  const inside = isNode(value) ? depthInside(value, depth) : depth
  const branches = Object.entries(value).map(([field, child]) =>
    // `else if` is read as one more case, not as one more level.
    nesting(
      child,
      field === 'alternate' && isNode(child) && child.type === 'IfStatement' ? depth : inside,
    ),
  )
  return Math.max(inside, ...branches)
}

function depthInside({ type }: SyntaxNode, depth: number): number {
  if (isFunction(type)) return 0
  return /^(?:If|For|ForIn|ForOf|While|DoWhile|Switch|Try)Statement$/.test(type) ? depth + 1 : depth
}

function countLines(tree: readonly SourceFile[]): number {
  return tree.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
}

function ninthTenth(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.9) - 1] ?? 0
}
