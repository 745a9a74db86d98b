import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { KEPT, lostSince, readSurface, Surface, toText } from '../../scripts/surface.ts'
import { startServer } from '../support/server.ts'
import { ROOT } from '../support/source-tree.ts'

const server = await startServer()
const kept = Surface.parse(JSON.parse(await readFile(new URL(KEPT, ROOT), 'utf8')))
const now = await readSurface(await (await fetch(`${server.url}/openapi.json`)).json())

/** Some of each kind. */
const GONE = [
  'agent-server backup',
  'agent-server-client keys --scope',
  'client ChatStream',
  'client documents.list limit',
  'event DoneFrame',
  'python Answer',
]

it('Everything that the kept version has is still there: paths, fields, events, settings, exports and commands', () => {
  const why = `docs/reference/stability.md says how something is removed; until ${kept.version} is released, npm run api:compare -- --keep keeps the surface anew`
  expect(lostSince(kept, now), why).toEqual([])
})

it('A surface is kept as it is', () => {
  expect(Surface.parse(JSON.parse(toText(now)))).toEqual(now)
})

it.each<[string, (surface: Surface) => void, string[]]>([
  [
    'an operation',
    ({ contract }) => delete contract.paths['/feedback/{id}'],
    ['DELETE /feedback/{id}: is gone'],
  ],
  [
    'a field of an answer',
    ({ contract }) => delete contract.components.schemas.Document?.properties?.status,
    ['Document.status: is gone'],
  ],
  [
    'a setting',
    ({ setup }) => {
      const schema = setup.paths['.env']?.read?.requestBody?.content.text?.schema
      delete schema?.properties?.CHAT_MODEL
    },
    ['CHAT_MODEL: is gone'],
  ],
  [
    'a field of agent.json',
    ({ setup }) => {
      for (const { properties } of Object.values(setup.components.schemas))
        delete properties?.prompt
    },
    ['prompt: is gone'],
  ],
  [
    'an event, an export, a method, an option or a command',
    (surface) => {
      surface.names = surface.names.filter((name) => !GONE.includes(name))
    },
    GONE.map((name) => `${name}: is gone`),
  ],
])('Whoever takes away %s is told', (_what, change, lost) => {
  const changed = structuredClone(now)
  change(changed)
  const told = lostSince(now, changed)
  for (const line of lost) expect(told.join('\n')).toContain(line)
})

it('What is only renamed is not lost, as its former name keeps working', () => {
  const before = structuredClone(now)
  const schema = before.setup.paths['.env']?.read?.requestBody?.content.text?.schema
  Object.assign(schema?.properties ?? {}, { HITS: {}, GONE: {} })
  expect(lostSince(before, now, ['HITS'])).toEqual([expect.stringMatching(/\bGONE: is gone$/)])
})
