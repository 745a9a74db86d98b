import { describe, expect, it } from 'vitest'
import { loadComponents } from './render.ts'

interface Part {
  name: string
  tone: string
  state: string
  detail?: string
  remedy?: string
  page?: string
}

interface Exports {
  partsOf(readiness: object, capabilities: object, folders: object[], last?: object): Part[]
  inShort(parts: Part[]): Part[]
  isNearlyFull(use: object): boolean
}

const { partsOf, inShort, isNearlyFull } = await loadComponents<Exports>(
  'overview/working-parts.ts',
)

const READINESS = { checks: { store: { state: 'ok' } } }
const CAPABILITIES = {
  chat: { model: 'm', tools: true, window: 32_768 },
  retrieval: 'hybrid',
  reranker: { state: 'off' },
  sandbox: { state: 'off', reason: 'It is switched off.' },
  mcp: [],
  skills: [],
  plugins: [],
}

/** The part with this name. */
function part(
  name: string,
  {
    readiness = {},
    capabilities = {},
    folders = [],
    last,
  }: { readiness?: object; capabilities?: object; folders?: object[]; last?: object } = {},
): Part {
  const parts = partsOf(
    { ...READINESS, ...readiness },
    { ...CAPABILITIES, ...capabilities },
    folders,
    last,
  )
  return parts.find((one) => one.name === name) ?? expect.unreachable(`There is no ${name}`)
}

describe('The overview', () => {
  it('says what works, and what the model can do', () => {
    expect(part('Document store')).toEqual({
      name: 'Document store',
      tone: 'good',
      state: 'Works',
    })
    expect(part('Chat model')).toMatchObject({
      state: 'm',
      detail: 'Calls tools. Its window has 32,768 tokens.',
    })
    const chat = { model: 'm', tools: false, window: 4_096, leftOut: ['skills', 'tables'] }
    expect(part('Chat model', { capabilities: { chat } }).detail).toBe(
      'Does not call tools and answers only from the passages. Its window has 4,096 tokens, with no room for skills, tables.',
    )
  })

  it('says why a part fails, what to do and where', () => {
    const checks = { embedder: { state: 'failed', message: 'It does not answer' } }
    expect(part('Embedding model', { readiness: { checks } })).toMatchObject({
      tone: 'bad',
      state: 'Fails',
      detail: 'It does not answer',
      remedy: expect.stringContaining('EMBEDDING_BASE_URL'),
      page: 'models',
    })
  })

  it('names a part of a later server as it is', () => {
    const checks = { telepathy: { state: 'failed' } }
    expect(part('telepathy', { readiness: { checks } })).toMatchObject({
      remedy: 'The log shows the cause.',
    })
  })

  it('counts documents that failed, if any did', () => {
    expect(part('Documents', { readiness: { documents: { failed: 1_200 } } }).state).toBe(
      '1,200 failed',
    )
    expect(partsOf(READINESS, CAPABILITIES, []).map(({ name }) => name)).not.toContain('Documents')
  })

  it('tells of the last answer where the model made it fail', () => {
    const last = { outcome: 'upstream_failed', startedAt: '2026-11-29T10:00:00Z' }
    expect(part('Chat model', { last })).toMatchObject({ tone: 'bad', state: 'Last answer failed' })
    expect(part('Chat model', { last: { ...last, outcome: 'stop' } }).tone).toBe('good')
  })

  it('tells who may read the documents of a folder, if that is set', () => {
    const folder = { path: '/staff', state: 'starting', files: 0, open: 0, refused: [] }
    const detailOf = (access?: string[]) =>
      part('Folder: /staff', { folders: [{ ...folder, refusedCount: 0, access }] }).detail
    expect(detailOf(['group:hr', 'user:ada'])).toBe('Read by Group hr, ada, and administrators.')
    expect(detailOf([])).toBe('Read by administrators.')
    expect(detailOf()).toBe('')
  })

  it('tells how far a folder is, and the first file that it refuses', () => {
    const folder = {
      path: '/birds',
      state: 'following',
      files: 3,
      open: 1,
      lookedAt: '2026-11-29T10:00:00Z',
      refused: [{ path: 'a.exe', reason: 'a program' }],
      refusedCount: 4,
    }
    const { tone, state, detail } = part('Folder: /birds', { folders: [folder] })
    expect([tone, state]).toEqual(['good', 'Watched'])
    expect(detail).toMatch(
      /^3 files \(1 pending\), last checked .+\. Not added: a\.exe \(a program\) and 3 more\.$/,
    )
  })

  it.each<[object, Partial<Part>]>([
    [
      { state: 'off', reason: 'No.' },
      { tone: 'off', state: 'Off', detail: 'No.' },
    ],
    [
      { state: 'on', kind: 'docker' },
      { tone: 'good', detail: 'Runs code in the docker sandbox.' },
    ],
    [
      { state: 'unavailable', reason: 'No engine' },
      { tone: 'bad', detail: 'No engine' },
    ],
    [
      {
        state: 'on',
        verified: { probes: [{ ok: false, message: 'It reads /etc', remedy: 'Fix' }] },
      },
      { tone: 'bad', detail: 'It reads /etc', remedy: 'Fix' },
    ],
  ])('tells of the sandbox %j', (sandbox, expected) => {
    expect(part('Sandbox', { capabilities: { sandbox } })).toMatchObject(expected)
  })

  it('asks to accept tools that have changed', () => {
    const mcp = [{ name: 'crm', state: 'on', tools: 2, waiting: ['send'] }]
    expect(part('MCP: crm', { capabilities: { mcp } })).toMatchObject({
      state: 'Works',
      detail: '2 tools',
      remedy: expect.stringMatching(/^1 tool to accept/),
      page: 'agent',
    })
  })
})

it('Parts of which there is nothing to say but that they work stand in one line', () => {
  const works = (name: string) => ({ name, tone: 'good', state: 'Works' })
  const model = { name: 'Chat model', tone: 'good', state: 'm', detail: 'Calls tools.' }
  const sandbox = { ...works('Sandbox'), detail: 'Runs code.' }
  expect(inShort([model, works('Store'), sandbox, works('Index')])).toEqual([
    model,
    sandbox,
    { name: 'All other parts', tone: 'good', state: 'Work', detail: 'Store, Index.' },
  ])
  expect(inShort([works('Store'), works('Index')])).toMatchObject([{ name: 'All parts' }])
  expect(inShort([model, works('Store')])).toEqual([model, works('Store')])
})

it.each([
  ['what refuses more', 181, 'refused', true],
  ['what has room', 180, 'refused', false],
  ['what makes room by itself', 200, 'oldest-removed', false],
])('warns, or does not, of %s', (_case, count, whenFull, warns) => {
  expect(isNearlyFull({ count, most: 200, whenFull })).toBe(warns)
})
