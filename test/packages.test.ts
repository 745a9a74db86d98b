import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type OwnPackage, ownPackages } from './support/own-packages.ts'
import {
  importsOf,
  isNode,
  loadsOf,
  nodesOf,
  ROOT,
  type SourceFile,
  type SyntaxNode,
  sourceFiles,
} from './support/source-tree.ts'

/** Have a door for each file: the floor that the server and its features stand on. */
const OPEN = ['@agent-server/http', '@agent-server/lib', '@agent-server/schemas']
/** Loaded by a name that a setting completes. */
const LOADED_BY_SETTING = ['@tesseract.js-data/eng']
/** Where the doors of packages are used. */
const everywhere = ['src', 'packages', 'test', 'scripts', 'bench', 'ui'].flatMap(sourceFiles)

const closed = ownPackages.filter(({ name }) => !OPEN.includes(name))
const table = (packages: readonly OwnPackage[]) =>
  packages.map((each) => [each.name, each] as const)

describe.each(table(ownPackages))('%s', (name, own) => {
  const { folder, scripts, dependencies } = own
  const program = sourceFiles(`${folder}/src`)

  it('is private, explains itself and has tests that run alone', () => {
    expect(own.private).toBe(true)
    expect(existsSync(new URL(`${folder}/README.md`, ROOT))).toBe(true)
    expect(read('packages/README.md')).toContain(`| \`${name.split('/')[1]}/\` |`)
    expect(sourceFiles(`${folder}/test`).some(({ path }) => path.endsWith('.test.ts'))).toBe(true)
    expect(scripts).toEqual({ test: `node ../../scripts/test.ts ${folder}` })
  })

  it('is installed in the image', () => {
    expect(read('Dockerfile')).toContain(`\nCOPY ${folder}/package.json ${folder}/\n`)
  })

  it('declares exactly the dependencies that it loads', () => {
    const declared = Object.keys(dependencies)
    expect(packagesLoaded(program).filter((each) => !declared.includes(each))).toEqual([])
    const texts = program.map(({ text }) => text).join('\n')
    const isNamed = (each: string) => texts.includes(`'${each}`) || LOADED_BY_SETTING.includes(each)
    expect(declared.filter((each) => !isNamed(each))).toEqual([])
  })

  it('is tested without the program of the server', () => {
    const upwards = sourceFiles(`${folder}/test`).flatMap(({ path, text }) =>
      importsOf(text)
        .filter((specifier) => resolved(path, specifier).startsWith('/src/'))
        .map((specifier) => `${path} imports ${specifier}`),
    )
    expect(upwards).toEqual([])
  })
})

describe.each(table(closed))('The door of %s', (name, { folder, exports }) => {
  const door = exports['.'] ?? ''
  const exported = exportedBy(read(`${folder}/${door}`))

  it('is the only one', () => {
    expect(Object.keys(exports)).toEqual(['.'])
    expect(door).toMatch(/^\.\/src\/[\w-]+\.ts$/)
  })

  it('exports exactly what README.md lists', () => {
    expect(exported.length).toBeGreaterThan(0)
    expect(exported.toSorted()).toEqual(listedIn(read(`${folder}/README.md`)).toSorted())
  })

  it('exports nothing that is unused', () => {
    const outside = everywhere.filter(({ path }) => !path.startsWith(`${folder}/src/`))
    const taken = new Set(
      outside.flatMap(({ text }) => (text.includes(name) ? namesTaken(text, name) : [])),
    )
    expect(exported.filter((each) => !taken.has(each))).toEqual([])
  })
})

describe('The server', () => {
  it('declares the dependencies that src/ loads', () => {
    const { dependencies } = JSON.parse(read('package.json'))
    const loaded = packagesLoaded(sourceFiles('src'))
    expect(loaded.filter((each) => !(each in dependencies))).toEqual([])
  })
})

it('No file exports what no other file names', () => {
  expect(unnamedExports(everywhere)).toEqual([])
})

describe('The guards of the packages', () => {
  it('detect an export that only its own file names', () => {
    const a = { path: 'src/a.ts', text: 'export const A = 1\nexport type B = typeof A' }
    const b = { path: 'test/b.test.ts', text: `import type { B } from '../src/a.ts'` }
    expect(unnamedExports([a, b])).toEqual(['src/a.ts: A'])
  })

  it('detect every kind of export', () => {
    const text = `export { a, b as c, type D } from './a.ts'
      export type { E } from './e.ts'
      export const f = 1
      export function g() {}
      export class H {}
      export interface I {}
      export type J = string`
    expect(exportedBy(text)).toEqual(['a', 'c', 'D', 'E', 'f', 'g', 'H', 'I', 'J'])
    expect(() => exportedBy(`export * from './a.ts'`)).toThrow()
  })

  it('parse the list of a README', () => {
    const text =
      '# a\n\n- `no`: not here\n\n## Exports\n\n- `a`, `B`: with `c`\n\n## Next\n\n- `d`: not\n'
    expect(listedIn(text)).toEqual(['a', 'B'])
  })

  it('detect which exports are used', () => {
    const text = `import { type A, b as c } from '@agent-server/x'\nimport { d } from './x.ts'`
    expect(namesTaken(text, '@agent-server/x')).toEqual(['A', 'b'])
    const later = `const x = () => import('@agent-server/x')\nexport const e = (await x()).f`
    expect(namesTaken(later, '@agent-server/x')).toEqual(['f'])
  })
})

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

const resolved = (path: string, specifier: string) =>
  specifier.startsWith('.') ? new URL(specifier, `file:///${path}`).pathname : specifier

/** The names of the packages of others that files load, at their start or later, not only for their types. */
function packagesLoaded(files: readonly { text: string }[]): string[] {
  const specifiers = files.flatMap(({ text }) => [...loadsOf(text), ...laterLoadsOf(text)])
  const others = specifiers.filter((each) => !/^(?:\.|node:|@agent-server\/)/.test(each))
  return [...new Set(others.map((each) => /^(?:@[^/]+\/)?[^/]+/.exec(each)?.[0] ?? each))]
}

const laterLoadsOf = (text: string) =>
  nodesOf(text)
    .filter(({ type }) => type === 'ImportExpression')
    .flatMap(({ source }) =>
      isNode(source) && typeof source.value === 'string' ? [source.value] : [],
    )

const EXPORT =
  /^export (?:(?:abstract|async) )?(?:class|const|enum|function\*?|interface|type) (\w+)/gm

/** What files of the program export for nobody, the client apart, which is for others. A comment that has the name counts as a use. */
function unnamedExports(files: readonly SourceFile[]): string[] {
  const filesWith = new Map<string, number>()
  for (const { text } of files) {
    for (const word of new Set(text.match(/\w+/g))) {
      filesWith.set(word, (filesWith.get(word) ?? 0) + 1)
    }
  }
  return files
    .filter(({ path }) => /^(?:src|packages\/(?!client\/)[\w-]+\/src)\//.test(path))
    .flatMap(({ path, text }) =>
      Array.from(text.matchAll(EXPORT), ([, name = '']) => ({ path, name })),
    )
    .filter(({ name }) => filesWith.get(name) === 1)
    .map(({ path, name }) => `${path}: ${name}`)
}

/** The names that a module exports. Throws where it exports all that another one does. */
function exportedBy(text: string): string[] {
  return nodesOf(text).flatMap((node) => {
    if (node.type === 'ExportAllDeclaration') throw new Error('Everything is exported')
    if (node.type !== 'ExportNamedDeclaration') return []
    return [
      ...declaredIn(node.declaration),
      ...nodesIn(node.specifiers).flatMap(({ exported }) => nameOf(exported)),
    ]
  })
}

function declaredIn(declaration: unknown): string[] {
  if (!isNode(declaration)) return []
  if (declaration.type !== 'VariableDeclaration') return nameOf(declaration.id)
  return nodesIn(declaration.declarations).flatMap(({ id }) => nameOf(id))
}

/** The names that a module imports from a package. Of one that it loads later, every name that it reads of anything. */
function namesTaken(text: string, name: string): string[] {
  const nodes = nodesOf(text)
  const loading = nodes.filter(({ source }) => isNode(source) && source.value === name)
  const isLater = loading.some(({ type }) => type === 'ImportExpression')
  const members = nodes.filter(({ type }) => isLater && type === 'MemberExpression')
  return [
    ...loading
      .filter(({ type }) => type === 'ImportDeclaration')
      .flatMap(({ specifiers }) => nodesIn(specifiers).flatMap(({ imported }) => nameOf(imported))),
    ...members.flatMap(({ property }) => nameOf(property)),
  ]
}

const nodesIn = (value: unknown): SyntaxNode[] => (Array.isArray(value) ? value.filter(isNode) : [])
const nameOf = (node: unknown) => (isNode(node) && typeof node.name === 'string' ? [node.name] : [])

/** The names before the colon of each item below the heading `Exports`. */
function listedIn(readme: string): string[] {
  const [, section = ''] = /^## Exports\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(readme) ?? []
  const items = section.matchAll(/^- ((?:`\w+`(?:, )?)+):/gm)
  return Array.from(items, ([, names = '']) => names.match(/\w+/g) ?? []).flat()
}
