import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const ROOT = resolve(import.meta.dirname, '..')
const VERSION = /^\d+\.\d+\.\d+$/
const JSON_VERSION = /(?<="version": ")[^"]+/
/** By which the models that the documents name must not be about to close: see `test/docs/model-names.test.ts`. */
const RELEASE_DATE = /(?<="releaseDate": ")[^"]+/

/** Where the version stands, and how often. The server's OpenAPI document takes it from package.json. */
const PLACES: readonly { path: string; pattern: RegExp }[] = [
  { path: 'package.json', pattern: JSON_VERSION },
  { path: 'packages/client/package.json', pattern: JSON_VERSION },
  // Of the whole, of the root package, and of the client.
  {
    path: 'package-lock.json',
    pattern: /(?<=^\{\n {2}"name": "agent-server",\n {2}"version": ")[^"]+/,
  },
  {
    path: 'package-lock.json',
    pattern: /(?<="": \{\n {6}"name": "agent-server",\n {6}"version": ")[^"]+/,
  },
  {
    path: 'package-lock.json',
    pattern: /(?<="name": "agent-server-client",\n {6}"version": ")[^"]+/,
  },
  {
    path: 'packages/client-python/src/agent_server_client/version.py',
    pattern: /(?<=^__version__ = ")[^"]+/m,
  },
  { path: 'deploy/kubernetes/kustomization.yaml', pattern: /(?<=^ {4}newTag: ).+/m },
]
const CHANGELOG = 'CHANGELOG.md'
const UNRELEASED = /^## Unreleased\n\n(?=(?!## ).)/m

/** The files of the release that differ, by path. Throws if a version is not where it should be, or nothing has changed. */
export function releaseFiles(
  version: string,
  date: string,
  read: (path: string) => string,
): Map<string, string> {
  if (!VERSION.test(version)) throw new Error(`"${version}" is no version such as 1.2.3`)
  const files = new Map<string, string>()
  const edit = (path: string, pattern: RegExp, text: string) => {
    const before = files.get(path) ?? read(path)
    if (!pattern.test(before)) throw new Error(`${path} lacks ${pattern}`)
    files.set(path, before.replace(pattern, text))
  }
  for (const { path, pattern } of PLACES) edit(path, pattern, version)
  edit('package.json', RELEASE_DATE, date)
  edit(CHANGELOG, UNRELEASED, `## Unreleased\n\n## ${version} (${date})\n\n`)
  return new Map([...files].filter(([path, text]) => text !== read(path)))
}

const git = (...parameters: string[]) =>
  execFileSync('git', parameters, { cwd: ROOT, encoding: 'utf8' }).trim()

function release(version: string, write: boolean): void {
  const tag = `v${version}`
  if (git('status', '--porcelain')) throw new Error('There are changes that are not committed')
  if (git('tag', '--list', tag)) throw new Error(`There is a tag ${tag} already`)
  const date = new Date().toISOString().slice(0, 10)
  const files = releaseFiles(version, date, (path) => readFileSync(join(ROOT, path), 'utf8'))
  console.log(`${tag} changes ${[...files.keys()].join(', ')}`)
  if (!write) {
    console.log('Nothing is written. To change, commit and tag, add --write')
    return
  }
  for (const [path, text] of files) writeFileSync(join(ROOT, path), text)
  git('commit', '--all', '--message', `Release ${version}`)
  git('tag', '--annotate', tag, '--message', tag)
  console.log(`Committed and tagged. To publish: git push --atomic origin HEAD ${tag}`)
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { version: { type: 'string' }, write: { type: 'boolean', default: false } },
  })
  if (!values.version) throw new Error('Which one? npm run release -- --version 1.2.3')
  release(values.version, values.write)
}
