import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { VARIABLE_NAMES } from '../src/config.ts'
import { readCompose } from './deploy/deployment-files.ts'
import { CLIENTS } from './support/clients.ts'
import { ownPackages } from './support/own-packages.ts'
import { isNode, nodesOf, ROOT, type SyntaxNode, sourceFiles } from './support/source-tree.ts'

const Versions = z.record(z.string(), z.string()).default({})
const Package = z.object({
  scripts: Versions,
  allowScripts: z.record(z.string(), z.boolean()),
  dependencies: Versions,
  devDependencies: Versions,
  peerDependencies: Versions,
})
const LockedPackage = z.object({
  version: z.string().optional(),
  resolved: z.string().optional(),
  /** True for a package of the repository. */
  link: z.boolean().optional(),
  integrity: z.string().optional(),
  license: z.string().optional(),
  hasInstallScript: z.boolean().optional(),
  optionalDependencies: Versions,
})
type LockedPackage = z.output<typeof LockedPackage>
const Lock = z.object({ packages: z.record(z.string(), LockedPackage) })

const { scripts, allowScripts, ...manifest } = Package.parse(JSON.parse(read('package.json')))
const client = Package.parse({ allowScripts, ...JSON.parse(read('packages/client/package.json')) })
const others = Package.parse({
  allowScripts,
  ...JSON.parse(read(`${CLIENTS}/package.json`)),
})
const ownDependencies = [manifest, ...ownPackages].flatMap((each) => [
  ...Object.entries(each.dependencies),
  ...Object.entries(each.devDependencies),
])
const dependencies = {
  ...others.dependencies,
  ...client.dependencies,
  ...client.devDependencies,
  ...Object.fromEntries(ownDependencies),
  ...manifest.peerDependencies,
}
const readLock = (path: string) =>
  Object.entries(Lock.parse(JSON.parse(read(path))).packages).filter(([name]) => name !== '')
const locked = new Map([
  ...readLock('package-lock.json'),
  ...readLock(`${CLIENTS}/package-lock.json`).map(
    ([path, its]) => [`${CLIENTS}/${path}`, its] as const,
  ),
])
// What the lock tells of the repository's own packages is in their manifests.
const own = Map.groupBy(locked.keys(), (path) => !path.includes('node_modules/')).get(true) ?? []
for (const path of own) locked.delete(path)
for (const [path] of readLock('package-lock.json').filter(([, { link }]) => link))
  locked.delete(path)

const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '' && existsSync(new URL(path, ROOT)))
const THIS = 'test/repository.test.ts'
const pages = tracked.filter((path) => path.endsWith('.md') && !/^(?:test|skills)\//.test(path))

describe('The repository', () => {
  it('contains no path of the machine it was written on', () => {
    expect(tracked.filter((path) => hasMachinePath(read(path)))).toEqual([])
  })

  it('names no registry, so that it installs from whichever one npm is set to', () => {
    expect(tracked.filter((path) => hasRegistry(read(path)))).toEqual([])
    expect(
      locked
        .values()
        .filter(({ resolved }) => resolved?.includes(':'))
        .toArray(),
    ).toEqual([])
  })

  it('names only files, headings and scripts that exist in its documents', () => {
    expect(pages).toContain('docs/internals/dependencies.md')
    expect(pages).toContain('docs/internals/decisions/README.md')
    expect(pages.flatMap((page) => deadReferences(page, read(page)))).toEqual([])
  })

  it('names only pages and headings that exist in its code, its files and its messages', () => {
    const others = tracked.filter((path) => path !== THIS)
    expect(others.flatMap((path) => deadPages(path, read(path)))).toEqual([])
    expect(pagesIn(read('src/variables.ts')).length).toBeGreaterThan(10)
  })

  it('says what a suite needs, where one can be skipped', () => {
    expect(
      ['test', 'packages'].flatMap(sourceFiles).flatMap(({ text }) => unexplainedSkips(text)),
    ).toEqual([])
  })
})

describe('The packages', () => {
  it('have exact versions', () => {
    expect(
      Object.values(dependencies).filter(
        (version) => !/^(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+(?:-(?:r|alpha)\.\d+)?$/.test(version),
      ),
    ).toEqual([])
  })

  it('have one version each, whichever manifests name them', () => {
    const versions = Map.groupBy(ownDependencies, ([name]) => name)
    const different = [...versions].filter(([, all]) => new Set(all.map(([, its]) => its)).size > 1)
    expect(different).toEqual([])
  })

  it('are each justified, with their licence, and nothing else is', () => {
    const justified = read('docs/internals/dependencies.md').matchAll(
      /^- `(.+?)`(?: \((.+?)\))?: .{10,}$/gm,
    )
    const licenceOf = (name: string) =>
      ['', 'packages/client/', `${CLIENTS}/`]
        .map((folder) => locked.get(`${folder}node_modules/${name}`)?.license)
        .find(Boolean)
    // Optional packages are not locked.
    const optional = Object.keys(manifest.peerDependencies)
    const licences = Object.keys(dependencies).map((name) => [
      name,
      optional.includes(name) ? 'OFL-1.1' : licenceOf(name)?.replaceAll(/^\(|\)$/g, ''),
    ])
    expect(
      Object.fromEntries(justified.map(([, name, licence = 'MIT']) => [name, licence])),
    ).toEqual(Object.fromEntries(licences.filter(([name]) => !name?.startsWith('@types/'))))
  })

  it('are locked for every platform, as npm ci demands', () => {
    expect(unlocked(locked)).toEqual([])
  })

  it('run a script at installation only where that is decided', () => {
    const names = locked
      .entries()
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ''))
    expect(Object.keys(allowScripts)).toEqual(expect.arrayContaining([...new Set(names)]))
  })
})

describe('The table of docs/internals/clients-tried.md', () => {
  const [head = '', , ...rows] = read('docs/internals/clients-tried.md').match(/^\|.+\|$/gm) ?? []
  const cells = rows.map((row) => row.slice(2, -2).split(' | '))
  const [, ...abilities] = head.slice(2, -2).split(' | ')
  const [, ...proofs] = read('test/docs/clients-tried.tsv')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))

  it('claims what a test proves, and nothing else', () => {
    const claimed = cells.flatMap(([client = '', ...row]) =>
      abilities
        .filter((_ability, index) => row[index] !== '–')
        .map((ability) => `${client.replaceAll('`', '')}: ${ability}`),
    )
    expect(claimed.length).toBeGreaterThan(50)
    const proven = proofs.map(([client, ability]) => `${client}: ${ability}`)
    expect(claimed.toSorted()).toEqual([...new Set(proven)].toSorted())
  })

  it('cites only existing tests', () => {
    const missing = proofs.filter(
      ([, , path = '', title = '']) =>
        !read(path).includes(path.endsWith('.py') ? `def ${title}(` : `('${title}'`),
    )
    expect(missing).toEqual([])
  })

  it('names the versions that the tests run with', () => {
    const folder = 'test/e2e/clients/python'
    const python = ['', '/aider', '/claude_agent', '/older_openai']
      .flatMap((environment) => read(`${folder}${environment}/requirements.txt`).split('\n'))
      .map((line) => `${line.replace(/(?:\[.+\])?==/, '@')}.`)
    const npm = Object.entries(dependencies).map(([name, version]) =>
      version.startsWith('npm:') ? `${version.slice(4)}.` : `${name}@${version}.`,
    )
    const other = cells.filter(([client = '']) => {
      const [, name = '', version] = /`(.+)` ([\d.]+)/.exec(client) ?? []
      const pinned = client.includes('(Python)') ? python : npm
      return !pinned.some((each) => each.startsWith(`${name}@${version}.`))
    })
    expect(other).toEqual([])
  })
})

describe('The scripts', () => {
  it('start no shell pipelines', () => {
    expect(Object.values(scripts).filter((script) => /[|&;<>]/.test(script))).toEqual([])
  })
})

describe('The image', () => {
  it('runs on the version of Node.js that the tests run on', () => {
    expect(/^ARG NODE_VERSION=(.+)$/m.exec(read('Dockerfile'))?.[1]).toBe(dependencies.node)
  })

  it('is given every variable by docker-compose.yml, but those that a container fixes', () => {
    const fixed = ['AGENT_CONFIG', 'DATA_DIR', 'HOST', 'PORT']
    const { environment } = readCompose('docker-compose.yml').services['agent-server'] ?? {}
    // The password of the database is read by its driver.
    const { PGPASSWORD: _password, ...others } = environment ?? {}
    const names = Object.keys(others)
    expect([...names, ...fixed].toSorted()).toEqual(VARIABLE_NAMES.toSorted())
  })
})

describe('The guards of the repository', () => {
  it('detect machine paths, but not lookalikes', () => {
    expect(hasMachinePath(`open('/${'work'}/main/data')`)).toBe(true)
    expect(hasMachinePath(`open('/${'tmp'}/x')`)).toBe(true)
    expect(hasMachinePath('see src/work/order and https://example.org/tmp/x')).toBe(false)
  })

  it('detect a registry', () => {
    expect(hasRegistry(`https://${'registry'}.npmjs.org/zod`)).toBe(true)
    expect(hasRegistry('the registry of tools, registry.example.org')).toBe(false)
  })

  it.each([
    ['a link to a file', 'see [this](docs/nothing.md)'],
    ['a link to an anchor of a file', 'see [this](docs/nothing.md#part)'],
    ['a link to a heading of a file', 'see [this](docs/README.md#nothing)'],
    ['a link to a heading of its own', 'see [this](#nothing)'],
    ['a path in code', 'see `src/nothing.ts`'],
    ['the fixed part of a pattern', 'see `src/nothing/<area>/`'],
    ['a script', 'run `npm run nothing`'],
  ])('see a document that names %s which does not exist', (_case, text) => {
    expect(deadReferences('README.md', text)).toHaveLength(1)
  })

  it.each([
    ['a page', 'docs/guides/nothing.md'],
    ['a page that has moved', 'docs/reference/ingestion.md'],
    ['a heading', 'docs/guides/files.md#nothing'],
  ])('see a comment that names %s which does not exist', (_case, page) => {
    expect(deadPages('src/a.ts', `// Measured, see ${page}.`)).toEqual([`src/a.ts names ${page}`])
  })

  it('pass a comment that names a page, a heading of it, or a page elsewhere', () => {
    const text = 'docs/guides/files.md docs/guides/files.md#limits github.com/ollama/docs/api.md'
    expect(deadPages('src/a.ts', text)).toEqual([])
  })

  it('accept existing files, and external ones', () => {
    const text =
      '[a](LICENSE) [b](#part) [c](https://example.org) `packages/lib/src/errors.ts` `npm run check`'
    expect(deadReferences('README.md', `## Part\n\n${text}`)).toEqual([])
    expect(deadReferences('docs/a.md', '[the licence](../LICENSE)')).toEqual([])
  })

  it('detect a suite skipped without a reason', () => {
    expect(unexplainedSkips(`describe.skipIf(!data)('Relevance', () => {})`)).toHaveLength(1)
    expect(unexplainedSkips(`it.runIf(data)('Relevance (needs data)', () => {})`)).toEqual([])
  })

  it('detect a lock that lacks a platform, a version or a checksum', () => {
    const bare = { optionalDependencies: {} }
    const parent = {
      version: '1.0.0',
      integrity: 'x',
      optionalDependencies: { 'a-darwin': '1.0.0' },
    }
    expect(unlocked(new Map([['node_modules/a', parent]]))).toHaveLength(1)
    expect(unlocked(new Map([['node_modules/a', bare]]))).toHaveLength(1)
  })
})

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

function hasMachinePath(text: string): boolean {
  return /(?<![\w.$}-])\/(?:work|root|tmp)\//.test(text)
}

function hasRegistry(text: string): boolean {
  return /\bregistry\.(?:npmjs|yarnpkg|npmmirror)\.|\bdeb\.debian\.org|\bpypi\.org/.test(text)
}

/** The relative links, paths in code and npm scripts of a page that do not exist. */
function deadReferences(page: string, text: string): string[] {
  const relative = text
    .matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)/g)
    .map(([, link = '', anchor]) => ({
      link: link === '' ? page : join(dirname(page), link),
      anchor,
    }))
    .filter(({ link }) => !link.includes(':'))
    .toArray()
  const links = relative.map(({ link }) => link)
  const headings = relative
    .filter(({ link, anchor }) => anchor && link.endsWith('.md') && existsSync(new URL(link, ROOT)))
    .filter(({ link, anchor = '' }) => !anchorsOf(link === page ? text : read(link)).has(anchor))
    .map(({ link, anchor }) => `${link}#${anchor}`)
  const paths = text
    .matchAll(/`((?:src|packages|test|docs|bench|scripts|skills|\.ci)\/[^`\s]*)`/g)
    .map(([, path = '']) => path.replace(/[<*{:].*$/, ''))
  const named = text.matchAll(/npm run ([\w:-]+\w)/g).map(([, name = '']) => name)
  return [
    ...headings,
    ...[...links, ...paths].filter((path) => !existsSync(new URL(path, ROOT))),
    ...named.filter((name) => !(name in scripts)).map((name) => `npm run ${name}`),
  ].map((reference) => `${page} names ${reference}`)
}

/** The pages of documents that a text names, with their headings. */
function pagesIn(text: string): string[] {
  return text.match(/\bdocs\/(?:start|guides|reference|internals)\/[\w/-]+\.md(?:#[\w-]+)?/g) ?? []
}

function deadPages(path: string, text: string): string[] {
  const isDead = (page: string) => {
    const [file = '', anchor] = page.split('#')
    return !existsSync(new URL(file, ROOT)) || (anchor && !anchorsOf(read(file)).has(anchor))
  }
  return pagesIn(text)
    .filter(isDead)
    .map((page) => `${path} names ${page}`)
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const headings = text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm)
  return new Set(
    headings.map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** The titles of what may be skipped and does not say, in parentheses at its end, what it needs. */
function unexplainedSkips(text: string): string[] {
  // The tree of a file without one of them is not needed.
  if (!/\b(?:skip|run)If\b/.test(text)) return []
  return nodesOf(text)
    .filter((node) => isNode(node.callee) && isConditional(node.callee))
    .map((node) => {
      const [title] = Array.isArray(node.arguments) ? node.arguments : []
      return isNode(title) ? text.slice(title.start, title.end) : ''
    })
    .filter((title) => !/\(.+\).$/.test(title))
}

/** Is it `describe.skipIf(condition)`, of which the call names the suite? */
function isConditional({ type, callee }: SyntaxNode): boolean {
  if (type !== 'CallExpression' || !isNode(callee) || !isNode(callee.property)) return false
  return callee.property.name === 'skipIf' || callee.property.name === 'runIf'
}

/** Packages without a version or a checksum, and optional ones, of other platforms, that are missing. */
function unlocked(packages: ReadonlyMap<string, LockedPackage>): string[] {
  const incomplete = packages
    .entries()
    .filter(([, { version, integrity }]) => !version || !integrity)
    .map(([path]) => path)
  const missing = packages
    .entries()
    .flatMap(([path, { optionalDependencies }]) =>
      Object.keys(optionalDependencies).filter(
        (name) =>
          !packages.has(`${path.startsWith(CLIENTS) ? `${CLIENTS}/` : ''}node_modules/${name}`) &&
          !packages.has(`${path}/node_modules/${name}`),
      ),
    )
  return [...incomplete, ...missing]
}
