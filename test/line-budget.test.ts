import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ownPackages } from './support/own-packages.ts'
import { ROOT } from './support/source-tree.ts'

const PAGE = 'docs/internals/decisions/line-budgets.md'

const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')

function linesIn(...patterns: string[]): number {
  const paths = globSync(patterns, { cwd: ROOT, exclude: ['**/{dist,node_modules}/**'] })
  return paths.reduce((sum, path) => sum + read(path).split('\n').length - 1, 0)
}

/** The lines of TypeScript of each folder of src/, of each package, and of the web UI. */
function roomSizes(): Map<string, number> {
  const folders = globSync('src/*/', { cwd: ROOT, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}`)
  const packages = ownPackages.map(
    ({ folder }) => [folder, linesIn(`${folder}/src/**/*.ts`)] as const,
  )
  return new Map([
    ['src', linesIn('src/*.ts')],
    ...folders.map((folder) => [folder, linesIn(`${folder}/**/*.ts`)] as const),
    ...packages,
    ['ui', linesIn('ui/**/*.{ts,tsx}')],
  ])
}

function budgets(page: string): Map<string, number> {
  const cells = page.matchAll(/\| `([\w/-]+)` \| ([\d,]+) (?=\|)/g)
  return new Map(
    Array.from(cells, ([, room = '', lines = '']) => [room, Number(lines.replaceAll(',', ''))]),
  )
}

const sizes = [...roomSizes()]
  .filter(([, lines]) => lines > 0)
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
const allowed = budgets(read(PAGE))

it('Every folder of src/, every package and the web UI has a budget of lines', () => {
  expect([...allowed.keys()].toSorted()).toEqual(sizes.map(([room]) => room))
})

it.each(sizes)('%s keeps within its budget: it has %i lines', (room, lines) => {
  const budget = allowed.get(room) ?? 0
  const why = `${room} has ${lines} lines. To raise its budget, say why in ${PAGE}. The table as it would be:\n${table()}`
  expect(lines, why).toBeLessThanOrEqual(budget)
})

/** The page's first two columns, with each budget at the next fifty above the present size. */
function table(): string {
  const rows = sizes.map(([room, lines]) => {
    return `| \`${room}\` | ${(Math.ceil(lines / 50) * 50).toLocaleString('en')} |`
  })
  return rows.join('\n')
}
