import { ToolList } from '@agent-server/schemas/agent.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { type Answered, askBy, WAYS } from '../support/every-way.ts'
import { sendFile } from '../support/forms.ts'
import { long, someOf } from '../support/long.ts'
import { lastToolResult, modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const SALES = 'region,amount,day\nnorth,1.50,2026-01-02\nsouth,2.25,2026-02-03\n'
const FORM = 'Region: {{region}}, contact: {{contact}}'
/** Nothing is found for it, so that what is cited is what the tool found. */
const QUESTION = { messages: [{ role: 'user', content: 'xyzzy?' }] }

interface Case {
  input: object
  /** What the model is told. */
  expected: RegExp
  /** Titles of what can be cited then. */
  hits: string[]
  /** Names of the files that are made. */
  artifacts?: string[]
  /** What would show the documents that a filter excludes. */
  excluded: object[]
}

/** Each built-in tool, called once; first those that need no process of their own, or have no other test over HTTP. */
const CASES: Record<string, Case> = {
  semantic_search: {
    input: { query: 'owls' },
    expected: /^<passages>\n\[1\] Owls hoot at night\.\n\(Owls\)/,
    hits: ['Owls'],
    excluded: [{ query: 'blueprint' }],
  },
  read_document: {
    input: { document: 'owls', start: 5 },
    expected:
      /\[1\] hoot at night\.\n\(Owls\)\n<\/passages>\nCharacters 5 to 19 of 19\. This is its end\.$/,
    hits: ['Owls'],
    excluded: [{ document: 'secret-form' }],
  },
  find_text: {
    input: { text: 'hoot at' },
    expected:
      /^1 place in 1 of \d+ documents\.\n<passages>\nOwls: 1 place\n\[1\] line 1, character 5: Owls hoot/,
    hits: ['Owls'],
    excluded: [{ text: 'blueprint' }, { text: 'blueprint', document: 'secret-form' }],
  },
  list_tables: {
    input: {},
    expected: /^1 tables\.\n- sales \(sales\.csv\): 2 rows; region VARCHAR/,
    hits: [],
    excluded: [{}, { search: 'blue' }],
  },
  query_table: {
    input: { sql: 'SELECT sum(amount) AS total FROM sales' },
    expected: /\[1\] sales: sales\.csv[\s\S]*Rows: 1\ntotal\n3\.75$/,
    hits: ['sales.csv'],
    excluded: [{ sql: 'SELECT * FROM blueprint' }],
  },
  analyse_corpus: {
    input: { task: 'list', filter: { field: 'kind', eq: 'bird' } },
    expected: /^Listed 1 of 1 documents\.\n\[1\] Owls \{"kind":"bird"\}$/,
    hits: ['Owls'],
    excluded: [
      ...['count', 'list', 'terms', 'duplicates'].map((task) => ({ task })),
      { task: 'values', field: 'codename' },
      { task: 'timeline', field: 'day', per: 'year' },
      { task: 'question', question: 'What is there?' },
      { task: 'list', filter: { or: [{ field: 'team', eq: 'blue' }] } },
    ],
  },
  fill_form: {
    input: { markdown: FORM, values: { region: { value: 'north', source: 'user' } } },
    expected: /Filled: region \(user\)\nNot filled: contact/,
    hits: [],
    artifacts: ['form.md'],
    excluded: [{ documentId: 'secret-form' }],
  },
  describe_table: {
    input: { table: 'sales' },
    expected: /^2 rows\.[\s\S]*amount,"?DECIMAL/,
    hits: [],
    excluded: [{ table: 'blueprint' }],
  },
  lookup_data: {
    input: { table: 'sales', conditions: [{ field: 'day', prefix: '2026-02' }] },
    expected: /^1 rows of sales fit, 1 follow\.\n\[1\] row 2: region="south"/,
    hits: ['sales.csv'],
    excluded: [
      {},
      { conditions: [{ field: 'codename', prefix: 'q' }] },
      { table: 'blueprint' },
      { table: 'blueprint', conditions: [{ field: 'cost', equals: 1 }] },
    ],
  },
  make_chart: {
    input: {
      title: 'Sales',
      mark: 'bar',
      x: { field: 'region' },
      y: { field: 'amount' },
      sql: 'SELECT region, amount FROM sales',
      width: 200,
      height: 120,
    },
    expected: /^The chart of 2 rows is made/,
    hits: ['sales.csv'],
    artifacts: ['Sales.png', 'Sales.svg', 'Sales.vl.json'],
    excluded: [{ mark: 'bar', x: { field: 'cost' }, sql: 'SELECT * FROM blueprint' }],
  },
  run_python: {
    input: { code: 'open("a.txt", "w").write("42")\nprint(6 * 7)' },
    expected: /^Exit code 0 [\s\S]*Output:\n42\n[\s\S]*Files made:\na\.txt/,
    hits: [],
    artifacts: ['a.txt'],
    excluded: [{ code: '1', files: ['secret-form'] }],
  },
}

/** A question whose filter excludes what only the excluded documents say. */
const FILTERED = {
  messages: [{ role: 'user', content: 'What does the blueprint say?' }],
  filter: { field: 'team', eq: 'red' },
}
const SECRET = /quagga|7781/i

const ways = someOf(WAYS.toReversed(), 2)

const upstream = await startScriptedUpstream()
// The one sandbox that needs nothing of the machine.
const AGENT_CONFIG = await writeAgentFile({ sandbox: 'embedded' })
const server = await startServer(modelAt(upstream, { AGENT_CONFIG }))
await server.request('/documents/owls?wait=20', {
  method: 'PUT',
  body: { title: 'Owls', text: 'Owls hoot at night.', metadata: { kind: 'bird' } },
})
await sendFile(server, { name: 'sales.csv', bytes: SALES })

/** What the same run is to tell in every way: all but what is new each time. */
function comparable({ answer, extras }: Answered): object {
  const { hits, artifacts = [], ...rest } = extras
  const files = artifacts.map(({ name, mediaType, size }) => ({ name, mediaType, size }))
  return { answer, hits, files, ...rest }
}

describe('Every built-in tool', () => {
  it('has a case here', verifies('loop.every-tool', 'tools.filter'), async () => {
    const { tools } = ToolList.parse(await (await server.request('/agent/tools')).json())
    const builtIn = tools.filter(({ source }) => source === 'builtin').map(({ name }) => name)
    expect(builtIn.toSorted()).toEqual(Object.keys(CASES).toSorted())
  })

  it.each(someOf(Object.entries(CASES), 5))(
    'does the same on every path, streamed and plain: %s',
    { ...long, ...verifies('loop.every-tool', 'completions.same-agent', 'artifacts.told') },
    async (name, { input, expected, hits, artifacts = [] }) => {
      const answers: object[] = []
      for (const way of ways) {
        const scripts = [toolCallReply({ name, arguments: input }), textReply('So it is [1][9].')]
        const run = await askBy(way, { server, upstream }, scripts, QUESTION)
        expect(lastToolResult(upstream)).toMatch(expected)
        expect(run.extras.hits.map(({ title }) => title)).toEqual(hits)
        expect(run.extras.artifacts?.map((artifact) => artifact.name) ?? []).toEqual(artifacts)
        expect(run.answer).toBe(hits.length > 0 ? 'So it is [1][?].' : 'So it is [?][?].')
        answers.push(comparable(run))
      }
      expect(answers).toEqual(ways.map(() => answers[0]))
    },
  )
})

describe('A document that the filter of a request excludes', () => {
  beforeAll(async () => {
    const blue = { team: 'blue', codename: 'quagga', day: '7781-01-01' }
    await server.ingest({ title: 'Red', text: 'Owls hoot.', metadata: { team: 'red' } })
    await server.request('/documents/secret-form?wait=20', {
      method: 'PUT',
      body: { title: 'Form', text: '{{quagga}} of the blueprint', metadata: blue },
    })
    for (const title of ['Quagga', 'Quagga too']) {
      await server.ingest({ title, text: 'The blueprint says quagga.', metadata: blue })
    }
    const table = { name: 'blueprint.csv', bytes: 'quagga,cost\n7781,1\n' }
    await sendFile(server, { ...table, before: { metadata: JSON.stringify(blue) } })
  })

  it.each(
    Object.entries(CASES).flatMap(([name, { excluded }]) =>
      excluded.map((input) => [name, JSON.stringify(input)] as const),
    ),
  )('is not shown by %s with %s', verifies('tools.filter'), async (name, input) => {
    upstream.always(textReply('NOTHING'))
    const before = upstream.requests.length
    const scripts = [toolCallReply({ name, arguments: JSON.parse(input) })]
    const { extras } = await askBy('/chat', { server, upstream }, scripts, FILTERED)
    const sent = upstream.requests.slice(before).map((request) => modelRequest(request).messages)
    expect(sent.flat().some(({ role }) => role === 'tool')).toBe(true)
    expect(JSON.stringify(sent)).not.toMatch(SECRET)
    expect(JSON.stringify(extras.hits)).not.toMatch(SECRET)
    expect(extras).not.toHaveProperty('artifacts')
  })
})
