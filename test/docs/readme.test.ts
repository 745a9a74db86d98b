import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { loadConfig, VARIABLE_NAMES } from '../../src/config.ts'
import { Completion } from '../../src/dialects/completions/answer-schema.ts'
import { readChat } from '../support/chat-reader.ts'
import { launch } from '../support/server-process.ts'
import { hasProgram, openShell } from '../support/shell.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { allPages, readPage, shellBlocks, tableRows } from './pages.ts'

const README = readPage('README.md')
/** Of a page that is read at 245 words a minute. */
const TEN_MINUTES_OF_WORDS = 2_450

/** `clients.test.ts` runs all of it. */
const RUN_ELSEWHERE = 'docs/guides/clients.md'

/** The blocks of documents that no test runs, by their first line. */
const NOT_RUN = new Map([
  [
    'npm run release -- --version 0.2.0           # shows what would change',
    'commits and tags; test/scripts/release.test.ts runs it elsewhere',
  ],
  ['npm run pack', 'installs packages; test/system/packages.test.ts does the same'],
  ['npm ci && npm start', 'installs packages; test/e2e/first-start.test.ts runs npm start'],
  ['npm test', 'this is it'],
  [
    'npm test -- test/api/rights-matrix.test.ts test/api/rights-fuzz.test.ts',
    'are suites as this is',
  ],
  [
    `curl -s "$URL/query" -H "Authorization: Bearer $KEY" \\`,
    'needs a key with act-as; test/api/acting-person.test.ts runs it',
  ],
  [
    `curl -s "$URL/query" -H "Authorization: Bearer $TOKEN" \\`,
    'needs an issuer; test/api/people.test.ts runs it',
  ],
  [
    `curl -s -X PATCH "$URL/documents/$ID" -H "Authorization: Bearer $TOKEN" \\`,
    'needs an issuer; test/api/rights.test.ts sends the same',
  ],
  [`curl -s "$URL/collections" -H "Authorization: Bearer $TOKEN" \\`, 'as above'],
  [
    `curl -s -X DELETE "$URL/admin/people/user:7c1e?dryRun=true" -H "Authorization: Bearer $KEY"`,
    'needs a person; test/api/people.test.ts runs it',
  ],
  [
    `curl -s -X PATCH "$URL/admin/people/user:7c1e" -H "Authorization: Bearer $KEY" \\`,
    'needs a person; test/api/people.test.ts runs it',
  ],
  [
    `curl -s "$URL/admin/usage/export?by=day,person,model&since=2026-11-01" -H "Authorization: Bearer $KEY"`,
    'test/api/usage.test.ts runs it',
  ],
  [
    `curl -s "$URL/admin/audit/export?since=2026-11-01T00:00:00Z" -H "Authorization: Bearer $KEY"`,
    'needs something to have happened; test/api/people.test.ts runs it',
  ],
  ['OLLAMA_CONTEXT_LENGTH=8192 ollama serve', 'needs Ollama'],
  ['ollama pull qwen3.5:4b', 'needs Ollama'],
  ['npm ci', 'installs packages, and asks a model; test/model/ asks real ones'],
  [
    'export URL=http://127.0.0.1:3000',
    'asks a model; test/model/cited-answers.test.ts asks a real one',
  ],
  [
    'npm run test:model -- --fetch    # llama-server and the weights, into ~/.cache/agent-server-models',
    'builds the server of a model',
  ],
  ['node scripts/eval/pdf/icdar.ts <folder>', 'needs the PDFs of the competition'],
  ['sh scripts/eval/files/gather.sh <folder>', 'fetches files; test/scripts/eval reads some'],
  ['npm run eval -- <folder in BEIR layout>', 'a pattern; test/scripts/eval.test.ts fills it in'],
  [
    'npm run eval -- <folder> --answers --save before.json',
    'a pattern; test/evaluation/answers.test.ts measures answers',
  ],
  [
    `curl "$URL/evaluation/questions" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\`,
    'needs documents; test/system/web-ui-search.test.ts exports and evaluates such questions',
  ],
  [
    `curl "$URL/evaluation/runs" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\`,
    'needs judged questions; test/api/evaluation-runs.test.ts asks the same',
  ],
  [
    'curl -s "$URL/documents?wait=60" -H "Authorization: Bearer $KEY" \\',
    'its file is the reader’s own; test/api/files.test.ts sends such forms',
  ],
  ['pip install oikb==0.6.0', 'a program of others; test/e2e/clients/python/test_oikb.py runs it'],
  [
    'docker compose up --build',
    'needs images; test/system/image.test.ts builds and runs the image',
  ],
  ['docker build --tag agent-server-sandbox packages/sandbox-image', 'needs a registry of images'],
  [
    `curl -G "$URL/documents" -H "Authorization: Bearer $KEY" -d title=report -d sort=title -d total=true --data-urlencode 'filter={"field":"year","lt":2020}'`,
    'needs a corpus; test/api/tidying.test.ts asks the same',
  ],
  [
    'curl -X DELETE "$URL/documents?status=failed&dryRun=true" -H "Authorization: Bearer $KEY"',
    'needs documents that failed; test/api/tidying.test.ts deletes others so',
  ],
  [
    `curl -s "$URL/admin/events?follow=false" -H "Authorization: Bearer $KEY" | grep '"type":"run"'`,
    'needs a run; test/api/activity.test.ts asks the same',
  ],
  [
    'curl -s "$URL/admin/keys" -H "Authorization: Bearer $KEY" \\',
    'test/api/api-keys.test.ts makes such keys',
  ],
  [
    `curl -s "$URL/documents?wait=20" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\`,
    'asks a site elsewhere; test/api/web-pages.test.ts fetches from one of its own',
  ],
  [
    'curl -s "$URL/documents?status=processing" -H "Authorization: Bearer $KEY"',
    'needs a document on its way; test/api/documents.test.ts lists by status',
  ],
  ['npm run re-embed', 'needs an embedding model; test/e2e/embeddings.test.ts has one'],
  [
    'curl -sT documents.ndjson -X POST $URL/documents/batch \\',
    'needs a file; test/api/lines.test.ts sends the same',
  ],
  [
    'curl -s "$URL/documents/batch" -H "Authorization: Bearer $KEY" \\',
    'needs files; test/api/several-files.test.ts sends such forms',
  ],
  [
    'agent-server-client add <folder> --metadata language=en',
    'a pattern; test/e2e/ingest.test.ts fills it in',
  ],
  ['npm run backup -- backup.zst', 'needs data; test/e2e/transfer.test.ts has some'],
  ['npm run restore -- backup.zst', 'as above'],
  ['npm run bench -- --chunks 10000 --rounds 3', 'takes minutes; .ci/run has a short form of it'],
  [
    'npm ci --prefix test/e2e/clients',
    'needs a registry; test/e2e/clients/mcp-conformance.test.ts runs what follows',
  ],
  [
    'npx mcp-proxy@6.7.19 --host 127.0.0.1 --port 8090 --server stream --apiKey "$PROXY_KEY" -- npx -y @modelcontextprotocol/server-everything',
    'needs a registry; test/e2e/clients/mcp-proxy.test.ts runs it',
  ],
  ['CHAT_MODEL=extractive', 'lines of .env, no commands'],
  [
    'QDRANT_URL=http://127.0.0.1:6333 npm start',
    'needs Qdrant; test/api/qdrant.test.ts has a fake',
  ],
  ['npm run rebuild-index', 'as above'],
  [
    'OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 npm start',
    'needs a collector; test/e2e/traces.test.ts has a receiver in its place',
  ],
  [
    'npm run migrate -- --to postgres://agent:password@127.0.0.1:5432/agent --index http://127.0.0.1:6333',
    'needs both; test/system/postgres/migrate.test.ts',
  ],
  ['npm run test:qdrant -- <url or path>', 'needs a real Qdrant'],
  ['pip install qdrant-edge-py==0.9.0', 'installs a package of another language'],
  [
    'docker compose --env-file .env --env-file deploy/engines.env up',
    'needs a container engine and its images; test/deploy/deploy.test.ts reads the files',
  ],
  ['docker compose --file docker-compose.cluster.yml up', 'as above'],
  ['kubectl create namespace agent-server', 'needs a cluster'],
  [
    'digest=$(curl -s $URL/admin/settings -H "Authorization: Bearer $KEY" | jq -r .digest)',
    'needs jq; test/api/admin-settings.test.ts sends such changes',
  ],
  [
    'digest=$(curl -s $URL/admin/agent -H "Authorization: Bearer $KEY" | jq -r .digest)',
    'needs jq; test/api/admin-agent.test.ts does the same',
  ],
  [
    `curl -N $URL/admin/agent/chat -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\`,
    'needs a server of its own; test/api/admin-draft.test.ts asks the same',
  ],
  [
    'git worktree add ../before v0.1.0 && npm ci --prefix ../before',
    'needs a tag; test/scripts/compare-contracts.test.ts compares contracts',
  ],
  [
    'curl -s "$URL/v1/conversations/$CONVERSATION" -H "Authorization: Bearer $TOKEN" \\',
    'needs an issuer of tokens; test/api/shared-conversations.test.ts asks the same',
  ],
  ['npm run doctor', 'test/commands/doctor.test.ts runs it elsewhere'],
  [
    'npm run deploy -- compose --domain agent.example.org',
    'writes into the project; test/commands/deploy.test.ts runs it elsewhere',
  ],
  [
    'AGENT_SERVER_KEY=… npm run deploy -- verify https://agent.example.org',
    'needs a deployment; test/commands/verify-deployment.test.ts has one',
  ],
])

const blocks = shellBlocks(README).filter((block) => !NOT_RUN.has(firstLine(block)))

describe('Every command of the documents', () => {
  it('is run by a test, or has a stated reason why not', () => {
    const elsewhere = allPages()
      .filter(({ path }) => ![README.path, RUN_ELSEWHERE].includes(path))
      .flatMap(shellBlocks)
    expect(elsewhere.filter((block) => !NOT_RUN.has(firstLine(block)))).toEqual([])
    expect(blocks.length).toBeGreaterThan(4)
  })

  it('is in a block if it is a curl, so that it can be found', () => {
    const outside = allPages().flatMap(({ path, text }) =>
      text
        .replaceAll(/^```.*?^```$/gms, '')
        .split('\n')
        .filter((line) => /`curl |^\s*curl /.test(line))
        .map((line) => `${path}: ${line}`),
    )
    expect(outside).toEqual([])
  })

  it('that is excused is still there', () => {
    const found = new Set(allPages().flatMap(shellBlocks).map(firstLine))
    expect([...NOT_RUN.keys()].filter((line) => !found.has(line))).toEqual([])
  })
})

describe.skipIf(!hasProgram('curl'))('The commands of the README (needs curl)', () => {
  it('work as they are, one after the other', async () => {
    const directory = await temporaryDirectory()
    const server = launch({ directory, environment: { PORT: '0' } })
    await server.said(/Everything else:/)
    const endpoint = /runs at (http:\S+)/.exec(server.stdout)?.[1] ?? ''
    const shell = openShell(directory)
    const paste = async (block: string | undefined) =>
      shell.paste((block ?? '').replaceAll('http://127.0.0.1:3000', endpoint))

    const [variables, add, query, chat, completion, ...rest] = blocks
    await paste(variables)
    const { id, status } = DocumentCreated.parse(JSON.parse(await paste(add)))
    expect(status).toBe('ready')
    const { hits } = QueryResponse.parse(JSON.parse(await paste(query)))
    expect(hits.map(({ documentId }) => documentId)).toEqual([id])
    const { answer, done } = await readChat(new Response(await paste(chat)))
    expect(answer).toMatch(/On Saturdays it opens at ten\. \[1\]/)
    // Scores differ where the vector of the document arrives between the two.
    const found = hits.map((hit) => ({ ...hit, score: expect.any(Number) }))
    expect(done?.hits).toEqual(found)
    const { choices, agent } = Completion.parse(JSON.parse(await paste(completion)))
    expect(choices[0]?.message.content).toContain('The library opens at nine on weekdays.')
    expect(agent.hits).toHaveLength(1)
    expect(rest).toEqual([])
  })
})

/** Lists of what is somewhere else, and pages of a screen. */
const LISTS = /^README|^docs\/(?:README|internals\/(?:decisions|dependencies))/

describe('Every page', () => {
  const read = allPages().filter(({ path }) => !LISTS.test(path))

  it.each(read)(
    'is read in ten minutes, has an example and says what to read next: $path',
    ({ text }) => {
      expect(text.split(/\s+/).length).toBeLessThan(TEN_MINUTES_OF_WORDS)
      expect(text).toMatch(/^(?:```|!\[)/m)
      expect(text).toMatch(/^Next: .+\.$/m)
    },
  )

  it('is of at most a screen if it is about a decision, tables aside', () => {
    const decisions = allPages().filter(({ path }) => path.includes('/decisions/'))
    expect(decisions.length).toBeGreaterThan(12)
    const written = (text: string) => text.split('\n').filter((line) => !line.startsWith('|'))
    expect(decisions.filter(({ text }) => written(text).length > 30)).toEqual([])
  })
})

describe('The configuration table of the README', () => {
  const rows = tableRows(README, 'Configuration')
  const documented = rows.map(([name = '', value = '']) => [
    name,
    value === 'none' || value.startsWith('required') ? '' : value,
  ])

  it('names the variables that people need first, and none that there is not', () => {
    expect(rows).toHaveLength(10)
    expect(rows.map(([name = '']) => VARIABLE_NAMES.find((each) => each === name))).not.toContain(
      undefined,
    )
  })

  it('shows the defaults that a start has', () => {
    const required = { SERVER_API_KEY: 'a-key-of-16-characters', CHAT_API_KEY: 'any' }
    const config = Object.entries({ ...loadConfig(required), SERVER_API_KEY: '', CHAT_API_KEY: '' })
    const defaults = new Map(config.map(([name, value]) => [name, String(value ?? '')]))
    expect(documented).toEqual(documented.map(([name = '']) => [name, defaults.get(name) ?? '']))
  })
})

function firstLine(block: string): string {
  return block.split('\n')[0] ?? ''
}
