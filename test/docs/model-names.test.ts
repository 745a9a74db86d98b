import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ANNOUNCEMENTS, ANNOUNCEMENTS_READ_ON } from '@agent-server/models'
import { expect, it } from 'vitest'
import { ROOT } from '../support/source-tree.ts'
import { readPage } from './pages.ts'

const DAY_MS = 86_400_000
/** How long a model that a release names has to go on, in days. */
const USABLE_DAYS = 180
/** How old the table of announcements may be at a release, in days. */
const MAX_TABLE_DAYS = 60

const TABLE = 'packages/models/src/model-closings.ts'
/** What people read and run; not the tests, whose recorded answers name models that are gone. */
const NAMING = ['*.md', 'docs', 'src', 'ui', 'deploy', 'packages']
const NOT_NAMING = ['CHANGELOG.md', TABLE, '**/test/**']

/** The date of the release of this tree, also before it is released: never today's, by which this would fail one day. */
const released = Date.parse(
  String(Object(JSON.parse(readPage('package.json').text)).releaseDate ?? ''),
)

const filesNaming = () =>
  execFileSync(
    'git',
    ['ls-files', '-z', '--', ...NAMING, '.env.example', ...NOT_NAMING.map((path) => `:!${path}`)],
    { cwd: fileURLToPath(ROOT), encoding: 'utf8' },
  )
    .split('\0')
    .filter((path) => /\.(?:md|tsx?|json|ya?ml|py|example)$/.test(path))

/** The name as a word of its own, which `gpt-5` is not in `gpt-5.6-sol`. */
const wordOf = (name: string) =>
  new RegExp(
    String.raw`(?<![\w./-])(?:openai/|anthropic/|google/)?${name.replaceAll('.', '[.]')}(?![\w-]|\.\w)`,
  )

it('names no model that closes within half a year of the release', () => {
  const closing = ANNOUNCEMENTS.flatMap(({ closings }) => Object.entries(closings))
    .filter(([day]) => Date.parse(day) < released + USABLE_DAYS * DAY_MS)
    .flatMap(([, models]) => models)
  expect(closing).toContain('gpt-5-mini')
  const named = filesNaming().flatMap((path) => {
    const text = readFileSync(new URL(path, ROOT), 'utf8')
    return closing.filter((name) => wordOf(name).test(text)).map((name) => `${path}: ${name}`)
  })
  expect(named).toEqual([])
})

it('has read the announcements shortly before the release', () => {
  const days = (released - Date.parse(ANNOUNCEMENTS_READ_ON)) / DAY_MS
  expect(days, 'read the pages in the table again, then set its date').toBeLessThan(MAX_TABLE_DAYS)
})

it('dates the release in package.json as in the changelog', () => {
  const { version, releaseDate } = Object(JSON.parse(readPage('package.json').text))
  const dated = new RegExp(String.raw`^## ${version} \((\S+)\)$`, 'm')
  expect(dated.exec(readPage('CHANGELOG.md').text)?.[1] ?? releaseDate).toBe(releaseDate)
})
