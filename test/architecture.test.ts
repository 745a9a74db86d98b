import { describe, expect, it } from 'vitest'
import {
  importsOf,
  isOwnImport,
  loadsOf,
  resolveImport,
  type SourceFile,
  sourceFiles,
} from './support/source-tree.ts'

const LEAVES = ['errors', 'lib', 'schemas']
/** What the server does, each room on top of the next. */
const ROOMS = ['operator', 'dialects', 'conversations', 'agent', 'documents', 'retrieval']
const SEAMS = ['models', 'sandboxes', 'stores']
/** Packages of which each file may be imported, and the client, which is released by itself. */
const WITHOUT_DOOR = ['client', 'http', 'lib', 'schemas']

/** A layer is a file or a folder of src/; each may import itself and what stands beside it here. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  main: [
    'commands',
    'compose',
    'app',
    'config',
    'first-start',
    'telemetry',
    'process-log',
    'secrets-in-log',
    'stop-signal',
    ...LEAVES,
  ],
  telemetry: ['lib'],
  'process-log': ['config', 'telemetry', 'lib'],
  'secrets-in-log': ['config', 'lib'],
  'stop-signal': [],
  commands: [
    'deploy',
    'wire',
    'compose',
    ...ROOMS,
    'stores',
    'features',
    'config',
    'client',
    ...LEAVES,
  ],
  // The package in packages/client/, which imports nothing but its own.
  client: [],
  compose: [
    'deploy',
    'oidc',
    'wire',
    'app',
    'api',
    'http',
    ...ROOMS,
    ...SEAMS,
    'readers',
    'search',
    'tables',
    'features',
    'config',
    'variables',
    'variable-labels',
    ...LEAVES,
  ],
  app: [
    'features',
    'evaluation',
    'wire',
    'api',
    'http',
    ...ROOMS,
    'stores',
    'sandboxes',
    ...LEAVES,
  ],
  // The one list of the packages that add routes, settings or a kind of index.
  features: ['compat', 'evaluation', 'index-qdrant', 'mcp-server', 'sandboxes', 'search', 'lib'],
  api: ['wire', ...ROOMS, 'http', 'sandboxes', 'schemas', 'errors'],
  http: LEAVES,
  operator: ['oidc', 'wire', 'agent', 'documents', 'retrieval', ...SEAMS, ...LEAVES],
  // A dialect is whole in its folder, routes included.
  dialects: [
    'wire',
    'http',
    'conversations',
    'agent',
    'documents',
    'retrieval',
    'search',
    ...SEAMS,
    ...LEAVES,
  ],
  conversations: ['wire', 'agent', 'documents', 'retrieval', ...SEAMS, ...LEAVES],
  agent: [
    'wire',
    'documents',
    'retrieval',
    'office-tools',
    'tables',
    'readers',
    'search',
    ...SEAMS,
    ...LEAVES,
  ],
  documents: ['retrieval', 'readers', 'search', ...SEAMS, ...LEAVES],
  retrieval: ['search', ...SEAMS, ...LEAVES],
  // The feature says what its store keeps; the SQL is here.
  stores: ['evaluation', ...LEAVES],
  models: ['errors', 'lib'],
  sandboxes: ['errors', 'lib'],
  // A bad SEARCH_LANGUAGE is refused at the start, so the analyser's list of languages is asked.
  variables: ['features', 'search', ...LEAVES],
  'variable-labels': ['variables', 'features', 'lib'],
  config: ['variables', 'features', ...LEAVES],
  'first-start': ['lib'],
  // What a sandbox is called, and what its verification reports, is in answers.
  schemas: ['sandboxes', 'errors', 'lib'],
  // The folders of packages/ are layers below all of src/.
  'office-tools': ['readers', 'errors', 'lib'],
  tables: ['readers', 'errors', 'lib'],
  readers: ['errors', 'lib'],
  search: ['errors', 'lib'],
  'index-qdrant': ['search', 'errors', 'lib'],
  oidc: LEAVES,
  compat: ['wire', 'http', 'models', ...LEAVES],
  deploy: ['client', ...LEAVES],
  'mcp-server': ['wire', 'http', ...LEAVES],
  evaluation: ['wire', 'http', 'models', ...LEAVES],
  wire: ['http', 'models', ...LEAVES],
  lib: ['errors'],
  errors: [],
}

/** Packages that only these layers may know, so that they can be replaced in one place. */
const KNOWN_ONLY_TO: Record<string, readonly string[]> = {
  fastify: [
    'main',
    'telemetry',
    'commands',
    'compose',
    'app',
    'api',
    'http',
    'wire',
    'compat',
    'mcp-server',
    'dialects',
  ],
  openai: ['models'],
  'node:sqlite': ['stores'],
  pg: ['stores'],
  undici: ['lib'],
  'ipaddr.js': ['lib'],
  jose: ['oidc'],
  'openid-client': ['oidc'],
  '@opentelemetry/api': ['lib'],
  '@opentelemetry/sdk-node': ['telemetry'],
}

const files = [...sourceFiles('src'), ...sourceFiles('packages').filter(isProgram)]
const imports = edges(files)

describe('The layers of src/', () => {
  it('are found where this test looks', () => {
    const layers = new Set(files.map(({ path }) => layerOf(path)))
    expect([...layers]).toEqual(
      expect.arrayContaining(['errors', 'lib', 'schemas', ...ROOMS, 'stores', 'search', 'models']),
    )
    expect(files.flatMap(({ text }) => importsOf(text)).length).toBeGreaterThan(files.length)
  })

  it('all have a place in the table', () => {
    const strangers = files.map(({ path }) => layerOf(path)).filter((layer) => !MAY_IMPORT[layer])
    expect(new Set(strangers)).toEqual(new Set())
  })

  it('let no package import the server', () => {
    const upwards = edges(files).filter(
      ({ from, to }) => from.startsWith('packages/') && !to.startsWith('packages/'),
    )
    expect(upwards).toEqual([])
  })
  it('import downwards only', () => expect(layerViolations(files)).toEqual([]))
  it('enter each package by its door', () => expect(pastDoors(files)).toEqual([]))
  it('keep each library to the layer that wraps it', () => {
    expect(packageViolations(files)).toEqual([])
  })
  it('hold no import cycle', () => expect(importCycles(files)).toEqual([]))
  it.each([...new Set(files.map(({ path }) => layerOf(path)))])(
    'hold no cycle between the folders of %s',
    (room) => {
      expect(folderCycles(imports, room)).toEqual([])
    },
  )
  it('let no thread load Zod, which takes longer than to start it', () => {
    const threads = files.map(({ path }) => path).filter((path) => path.endsWith('-thread.ts'))
    expect(threads).toContain('packages/stores/src/sqlite/writer-thread.ts')
    expect(threads.filter((path) => loadedBy(path, files).has('zod'))).toEqual([])
  })
  it.each(['packages/compat/', 'packages/mcp-server/'])(
    'know %s by the list of features alone',
    (folder) => {
      const known = edges(files).filter(
        ({ from, to }) => to.startsWith(folder) && !from.startsWith(folder),
      )
      expect(known.map(({ from }) => from)).toEqual(['src/features.ts'])
    },
  )
  it('name a vector store only in the list of features', () => {
    const naming = sourceFiles('src').filter(({ text }) => /qdrant/i.test(text))
    expect(naming.map(({ path }) => path)).toEqual(['src/features.ts'])
  })
  it('import only files that exist', () => expect(missingFiles(files)).toEqual([]))
})

describe('The guards of the layers', () => {
  it.each([
    ['a type', `import type { X } from '../api/ops.ts'`],
    ['one type among values', `import { type X, y } from '../api/ops.ts'`],
    ['an export', `export { x } from '../api/ops.ts'`],
    ['everything', `export * from '../api/ops.ts'`],
    ['an effect', `import '../api/ops.ts'`],
    ['a lazy import', `const x = await import('../api/ops.ts')`],
    ['a type of a module', `type X = import('../api/ops.ts').X`],
    ['a thread', `const url = new URL('../api/ops.ts', import.meta.url)`],
  ])('see %s cross a layer', (_case, text) => {
    expect(layerViolations([{ path: 'src/documents/a.ts', text }])).toHaveLength(1)
  })

  it('see no import in a comment or a string', () => {
    const text = `// import '../api/ops.ts'\nconst words = "import x from '../api/ops.ts'"`
    expect(layerViolations([{ path: 'src/documents/a.ts', text }])).toEqual([])
  })

  it('report a service that names a file within a package', () => {
    const text = `import { SQLITE } from '../../packages/stores/src/sqlite/dialect.ts'`
    const door = `import { openStore } from '@agent-server/stores'`
    expect(pastDoors([{ path: 'src/documents/a.ts', text }])).toHaveLength(1)
    expect(pastDoors([{ path: 'src/documents/a.ts', text: door }])).toEqual([])
    expect(pastDoors([{ path: 'packages/stores/src/sql/a.ts', text }])).toEqual([])
  })

  it('report a service that knows Fastify', () => {
    const bare = { path: 'src/documents/a.ts', text: `import type { FastifyReply } from 'fastify'` }
    const deep = {
      path: 'src/documents/a.ts',
      text: `import type { Chat } from 'openai/resources'`,
    }
    expect(packageViolations([bare, deep])).toHaveLength(2)
  })

  it('report a cycle of three, once, also through types and threads', () => {
    const cycle = [
      { path: 'packages/lib/src/a.ts', text: `import type { B } from './b.ts'` },
      { path: 'packages/lib/src/b.ts', text: `const url = new URL('./c.ts', import.meta.url)` },
      { path: 'packages/lib/src/c.ts', text: `import './a.ts'` },
      { path: 'packages/lib/src/d.ts', text: `import './a.ts'` },
    ]
    expect(importCycles(cycle)).toEqual([
      ['packages/lib/src/a.ts', 'packages/lib/src/b.ts', 'packages/lib/src/c.ts'],
    ])
    expect(importCycles(cycle.slice(1))).toEqual([])
  })

  it('report a cycle of folders whose files have none', () => {
    const tree = [
      { path: 'src/documents/a/a.ts', text: `import '../b/b.ts'` },
      { path: 'src/documents/b/b.ts', text: '' },
      { path: 'src/documents/b/c.ts', text: `import '../a/d.ts'` },
      { path: 'src/documents/a/d.ts', text: '' },
    ]
    expect(importCycles(tree)).toEqual([])
    expect(folderCycles(edges(tree), 'documents')).toEqual([['src/documents/a', 'src/documents/b']])
    const inPackage = tree.map(({ path, text }) => {
      return { path: path.replace('src/documents', 'packages/models/src'), text }
    })
    expect(folderCycles(edges(inPackage), 'models')).toHaveLength(1)
  })

  it('report a thread that loads a package through another file, but not for its types', () => {
    const tree = [
      { path: 'src/a-thread.ts', text: `import { b } from './b.ts'` },
      { path: 'src/b.ts', text: `import type { C } from './c.ts'\nexport { d } from './d.ts'` },
      { path: 'src/c.ts', text: `import 'c'` },
      { path: 'src/d.ts', text: `import { type D } from './c.ts'\nimport 'd'` },
    ]
    expect([...loadedBy('src/a-thread.ts', tree)]).toEqual(['src/b.ts', 'src/d.ts', 'd'])
  })

  it('report an import of a file that is not there', () => {
    expect(missingFiles([{ path: 'src/a.ts', text: `import './b.ts'` }])).toHaveLength(1)
  })
})

function isProgram({ path }: SourceFile): boolean {
  return path.split('/')[2] === 'src'
}

function layerOf(path: string): string {
  if (path === 'packages/lib/src/errors.ts') return 'errors'
  if (path.startsWith('packages/')) return path.split('/')[1] ?? ''
  return path.split('/')[1]?.replace(/\.ts$/, '') ?? ''
}

/** Each relative import of the files, as the two paths it joins. */
function edges(tree: readonly SourceFile[]): Edge[] {
  return tree.flatMap(({ path, text }) =>
    importsOf(text)
      .filter(isOwnImport)
      .map((specifier) => ({ from: path, to: resolveImport(path, specifier) })),
  )
}

function layerViolations(tree: readonly SourceFile[]): string[] {
  return edges(tree)
    .filter(({ from, to }) => {
      const [importer, imported] = [layerOf(from), layerOf(to)]
      return importer !== imported && !MAY_IMPORT[importer]?.includes(imported)
    })
    .map(({ from, to }) => `${from} imports ${to}`)
}

/** What a package has besides its door is its own. */
function pastDoors(tree: readonly SourceFile[]): string[] {
  return edges(tree)
    .filter(({ from, to }) => to.startsWith('packages/') && layerOf(from) !== layerOf(to))
    .filter(({ to }) => !WITHOUT_DOOR.some((name) => to.startsWith(`packages/${name}/`)))
    .filter(({ to }) => !to.endsWith(`/src/${layerOf(to)}.ts`))
    .map(({ from, to }) => `${from} imports ${to}`)
}

function packageViolations(tree: readonly SourceFile[]): string[] {
  return tree.flatMap(({ path, text }) =>
    importsOf(text)
      .filter((specifier) => {
        const known = Object.keys(KNOWN_ONLY_TO).find(
          (name) => specifier === name || specifier.startsWith(`${name}/`),
        )
        return known !== undefined && !KNOWN_ONLY_TO[known]?.includes(layerOf(path))
      })
      .map((specifier) => `${path} imports ${specifier}`),
  )
}

function missingFiles(tree: readonly SourceFile[]): string[] {
  const paths = new Set(tree.map(({ path }) => path))
  return edges(tree)
    .filter(({ to }) => !paths.has(to))
    .map(({ from, to }) => `${from} imports ${to}, which does not exist`)
}

/** The files and packages that a file loads, through others as well. */
function loadedBy(file: string, tree: readonly SourceFile[]): Set<string> {
  const found = new Set([file])
  for (const path of found) {
    const text = tree.find((each) => each.path === path)?.text ?? ''
    for (const name of loadsOf(text)) {
      found.add(isOwnImport(name) ? resolveImport(path, name) : name)
    }
  }
  found.delete(file)
  return found
}

interface Edge {
  from: string
  to: string
}

const importCycles = (tree: readonly SourceFile[]) => cycles(edges(tree))

/** Cycles between the folders of a room, each taken as a whole. */
function folderCycles(all: readonly Edge[], room: string): string[][] {
  const depth = (path: string) => (path.startsWith('packages/') ? 4 : 3)
  const isInside = (path: string) => layerOf(path) === room && path.split('/').length > depth(path)
  const folderOf = (path: string) => path.split('/').slice(0, depth(path)).join('/')
  const inside = all
    .filter(({ from, to }) => isInside(from) && isInside(to))
    .map(({ from, to }) => ({ from: folderOf(from), to: folderOf(to) }))
  return cycles(inside.filter(({ from, to }) => from !== to))
}

/** Each cycle once, from its first member onwards. */
function cycles(all: readonly Edge[]): string[][] {
  const next = Map.groupBy(all, ({ from }) => from)
  const finished = new Set<string>()
  const found: string[][] = []
  const visit = (path: string, trail: string[]) => {
    if (trail.includes(path)) found.push(trail.slice(trail.indexOf(path)))
    else if (!finished.has(path)) {
      for (const { to } of next.get(path) ?? []) visit(to, [...trail, path])
      finished.add(path)
    }
  }
  for (const path of next.keys()) visit(path, [])
  return found
}
