import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ToolList } from '../../src/schemas/agent.ts'
import { verifies } from '../requirements.ts'
import { type Answered, askBy, WAYS } from '../support/every-way.ts'
import { sendFile } from '../support/forms.ts'
import { long, someOf } from '../support/long.ts'
import { modelRequest } from '../support/model-request.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
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
}

/** Each built-in tool, called once; first those that need no process of their own, or have no other test over HTTP. */
const CASES: Record<string, Case> = {
  semantic_search: {
    input: { query: 'owls' },
    expected: /^<passages>\nKey: (\S+)\n\n\1 \[1\] Owls\nOwls hoot/,
    hits: ['Owls'],
  },
  read_document: {
    input: { document: 'owls', start: 5 },
    expected:
      /\[1\] Owls\nhoot at night\.\n<\/passages>\nCharacters 5 to 19 of 19\. This is its end\.$/,
    hits: ['Owls'],
  },
  list_tables: {
    input: {},
    expected: /^1 tables\.\n- sales \(sales\.csv\): 2 rows; region VARCHAR/,
    hits: [],
  },
  query_table: {
    input: { sql: 'SELECT sum(amount) AS total FROM sales' },
    expected: /\[1\] sales: sales\.csv[\s\S]*Rows: 1\ntotal\n3\.75$/,
    hits: ['sales.csv'],
  },
  analyse_corpus: {
    input: { task: 'list', filter: { field: 'kind', eq: 'bird' } },
    expected: /^Listed 1 of 1 documents\.\nsource-\w+ \[1\] Owls \{"kind":"bird"\}$/,
    hits: ['Owls'],
  },
  fill_form: {
    input: { markdown: FORM, values: { region: { value: 'north', source: 'user' } } },
    expected: /Filled: region \(user\)\nNot filled: contact/,
    hits: [],
    artifacts: ['form.md'],
  },
  describe_table: {
    input: { table: 'sales' },
    expected: /^2 rows\.[\s\S]*amount,"?DECIMAL/,
    hits: [],
  },
  lookup_data: {
    input: { table: 'sales', conditions: [{ field: 'day', prefix: '2026-02' }] },
    expected: /^1 rows of sales fit, 1 follow\.\nsource-\w+ \[1\] row 2: region="south"/,
    hits: ['sales.csv'],
  },
  make_chart: {
    input: {
      ...{ title: 'Sales', mark: 'bar', x: { field: 'region' }, y: { field: 'amount' } },
      ...{ sql: 'SELECT region, amount FROM sales', width: 200, height: 120 },
    },
    expected: /^The chart of 2 rows is made/,
    hits: ['sales.csv'],
    artifacts: ['Sales.png', 'Sales.svg', 'Sales.vl.json'],
  },
  run_python: {
    input: { code: 'open("a.txt", "w").write("42")\nprint(6 * 7)' },
    expected: /^Exit code 0 [\s\S]*Output:\n42\n[\s\S]*Files made:\na\.txt/,
    hits: [],
    artifacts: ['a.txt'],
  },
}

const ways = someOf(WAYS.toReversed(), 2)

let upstream: ScriptedUpstream
let server: TestServer

beforeAll(async () => {
  upstream = await startScriptedUpstream()
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-'))
  // The one sandbox that needs nothing of the machine.
  await writeFile(join(directory, 'agent.json'), '{ "sandbox": "embedded" }')
  server = await startServer(modelAt(upstream, { DATA_DIR: directory }))
  await server.request('/documents/owls?wait=20', {
    method: 'PUT',
    body: { title: 'Owls', text: 'Owls hoot at night.', metadata: { kind: 'bird' } },
  })
  await sendFile(server, { name: 'sales.csv', bytes: SALES })
  return async () => {
    await server.close()
    await upstream.close()
    await rm(directory, { recursive: true })
  }
})

const lastResult = () =>
  modelRequest(upstream.requests.at(-1)).messages.findLast(({ role }) => role === 'tool')
    ?.content ?? ''

/** What the same run is to tell in every way: all but what is new each time. */
function comparable({ answer, extras }: Answered): object {
  const { hits, artifacts = [], ...rest } = extras
  const files = artifacts.map(({ name, mediaType, size }) => ({ name, mediaType, size }))
  return { answer, hits, files, ...rest }
}

describe('Every built-in tool', () => {
  it('has a case here', verifies('loop.every-tool'), async () => {
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
        expect(lastResult()).toMatch(expected)
        expect(run.extras.hits.map(({ title }) => title)).toEqual(hits)
        expect(run.extras.artifacts?.map((artifact) => artifact.name) ?? []).toEqual(artifacts)
        expect(run.answer).toBe(hits.length > 0 ? 'So it is [1][?].' : 'So it is [?][?].')
        answers.push(comparable(run))
      }
      expect(answers).toEqual(ways.map(() => answers[0]))
    },
  )
})
