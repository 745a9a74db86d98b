import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runAgentServer } from '../support/agent-server.ts'
import { clientOf } from '../support/client.ts'
import { long, onlyLong, someOf } from '../support/long.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const { documents } = clientOf(server)
await documents.replace('owls', { title: 'Owls', text: 'Owls hunt at night.' }, { wait: 20 })

/** Runs the command line against the server; standard input is empty unless `input` is given. */
async function run(parameters: string[], options: Parameters<typeof runAgentServer>[1] = {}) {
  const environment = { AGENT_SERVER_URL: server.url, AGENT_SERVER_KEY: TEST_KEY }
  return runAgentServer(parameters, { environment, ...options })
}

const json = async (...parameters: string[]) =>
  JSON.parse((await run([...parameters, '--json'])).stdout)

describe('agent-server-client query', () => {
  it('shows the passages with their numbers, for people and for programs', async () => {
    const { code, stdout, stderr } = await run(['query', 'When', 'do', 'owls', 'hunt'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^\[1\] Owls {2}\d+\.\d{3}\n {4}Owls hunt at night\.\n/)
    expect(await json('query', 'owls hunt', '--top-k', '1')).toMatchObject({
      query: 'owls hunt',
      hits: [{ documentId: 'owls' }],
    })
    expect((await json('query', 'owls', '--filter', 'kind=fish')).hits).toEqual([])
  })

  it('shows no control characters of documents', async () => {
    const { documents } = clientOf(server)
    await documents.replace(
      'evil',
      { text: 'Zebras \u001b]0;owned\u0007 \u202erun\u2069.' },
      { wait: 20 },
    )
    const { stdout } = await run(['query', 'zebras'])
    expect(stdout).toContain('Zebras ]0;owned run.')
  })
})

describe('agent-server-client chat', () => {
  it('shows the answer, steps of tools beside it, and below it what is cited', async () => {
    upstream.script(toolCallReply([{ name: 'semantic_search', arguments: { query: 'owls' } }]))
    upstream.script(textReply('Owls hunt at night [1].'))
    const { code, stdout, stderr } = await run(['chat', 'When do owls hunt?'])
    expect(code).toBe(0)
    expect(stdout).toBe('Owls hunt at night [1].\n\n[1] Owls\n')
    expect(stderr).toMatch(/^ {2}semantic_search \{"query":"owls"\}\n {2}= /)
  })

  it('reads the question from standard input, and answers as JSON', async () => {
    upstream.script(textReply('At night [1].'))
    const { code, stdout, stderr } = await run(['chat', '--json'], {
      input: 'When do owls hunt?\n',
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ text: 'At night [1].', hits: [{ title: 'Owls' }] })
  })

  it('ends with 1 where the model fails', async () => {
    upstream.always({ status: 401, headers: {}, steps: [{ send: '{}' }] })
    const { code, stderr } = await run(['chat', 'When?'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/key.*\(request \S+\)\n$/s)
  })
})

describe('agent-server-client documents', () => {
  it('lists, reads, removes and retries', async () => {
    const { documents } = clientOf(server)
    await documents.upload(new Blob(['%PDF-1.7 no']), { id: 'broken', name: 'b.pdf', wait: 20 })
    await documents.replace('herons', { title: 'Herons', text: 'Herons fish.' }, { wait: 20 })
    const { stdout } = await run(['documents', 'list'])
    expect(stdout).toMatch(/^herons {2,}ready {2,}1 chunk {2,}Herons$/m)
    expect(stdout).toMatch(/^broken {2,}failed {2,}0 chunks {2}\(damaged_file\) b\.pdf$/m)
    const failed = (await run(['documents', 'list', '--status', 'failed', '--json'])).stdout
    expect(
      failed
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(['broken'])
    expect(await json('documents', 'get', 'herons')).toMatchObject({ id: 'herons', revision: 1 })
    expect(await run(['documents', 'retry', '--failed'])).toMatchObject({
      code: 0,
      stdout: 'broken is retried\n',
    })
    expect(await run(['documents', 'rm', 'none', 'herons'])).toMatchObject({
      code: 1,
      stdout: 'herons removed\n',
      stderr: 'none: There is no document "none"\n',
    })
  })
})

describe('agent-server-client download', () => {
  it('writes lines that the server takes again, with the same text', onlyLong, async () => {
    const source = await startServer()
    const { documents } = clientOf(source)
    const text = `# Owls\n\n${'Owls hunt at night, and rest by day. '.repeat(200)}\n\n## Herons\n\nThey wait.`
    await documents.replace(
      'birds',
      { text, title: 'Birds', metadata: { year: 2026 }, access: ['group:hr'] },
      { wait: 20 },
    )
    await documents.create({ text: 'Ducks swim.' }, { wait: 20 })
    const file = join(await temporaryDirectory(), 'all.ndjson')
    const environment = { AGENT_SERVER_URL: source.url, AGENT_SERVER_KEY: TEST_KEY }
    expect(await runAgentServer(['download', file], { environment })).toMatchObject({
      code: 0,
      stderr: `${file} holds 2 documents\n`,
    })
    const lines = await readFile(file, 'utf8')
    expect((await runAgentServer(['download'], { environment })).stdout).toBe(lines)
    const birds = lines
      .split('\n')
      .map((line) => JSON.parse(line || '{}'))
      .find(({ id }) => id === 'birds')
    expect(birds).toMatchObject({
      title: 'Birds',
      metadata: { year: 2026 },
      access: ['group:hr'],
    })
    const words = (of: string) => of.split(/\s+/).filter(Boolean)
    expect(words(birds.text)).toEqual(words(text))

    const target = await startServer()
    const headers = { 'content-type': 'application/x-ndjson' }
    const answer = await target.request('/documents/batch', { body: lines, headers })
    expect((await answer.text()).trim().split('\n')).toHaveLength(2)
    expect((await clientOf(target).documents.get('birds')).access).toEqual(['group:hr'])
  })
})

describe('agent-server-client status, agent, mcp and sandbox', () => {
  it('say what works', async () => {
    const { code, stdout } = await run(['status'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^server {2,}ready {2,}http:/)
    expect(stdout).toMatch(/^store {2,}ok/m)
    expect(await json('status')).toMatchObject({ readiness: { status: 'ready' }, url: server.url })
    expect((await run(['agent'])).stdout).toMatch(/^agent {2}scripted, lexical\n/)
    expect((await json('agent')).tools.map(({ name }: { name: string }) => name)).toContain(
      'semantic_search',
    )
  })

  it('end with 1 where something does not', onlyLong, async () => {
    expect(await run(['mcp', 'test', 'none'])).toMatchObject({ code: 1, stdout: '' })
    const none = await startServer({ AGENT_CONFIG: await writeAgentFile({ sandbox: 'none' }) })
    const environment = { AGENT_SERVER_URL: none.url, AGENT_SERVER_KEY: TEST_KEY }
    expect(await runAgentServer(['sandbox', 'verify'], { environment })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/sandbox/i),
    })
  })
})

describe('agent-server-client login', () => {
  it(
    'keeps address and key where only their owner can read them, and sends the key nowhere else',
    onlyLong,
    async () => {
      const directory = await temporaryDirectory()
      const environment = { XDG_CONFIG_HOME: directory }
      const own = (parameters: string[], input = '') =>
        runAgentServer(parameters, { environment, input })
      expect(await own(['status'])).toMatchObject({
        code: 4,
        stderr: expect.stringMatching(/agent-server-client login/),
      })
      expect(await own(['login', server.url], 'wrong-key-of-somebody')).toMatchObject({ code: 4 })
      expect(await own(['login', `${server.url}/`], `${TEST_KEY}\n`)).toMatchObject({ code: 0 })
      const file = join(directory, 'agent-server', 'login.json')
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      expect((await own(['query', 'owls'])).stdout).toMatch(/^\[1\] Owls/)
      expect((await own(['query', 'owls', '--url', server.url])).code).toBe(0)
      expect(await own(['query', 'owls', '--url', 'http://127.0.0.1:9'])).toMatchObject({ code: 4 })
      await chmod(file, 0o644)
      expect(await own(['query', 'owls'])).toMatchObject({
        code: 4,
        stderr: expect.stringMatching(/can be read by others/),
      })
      expect(await own(['logout'])).toMatchObject({ code: 0 })
      await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
    },
  )

  it('is not needed beside a server, whose own variables do', async () => {
    const { port } = new URL(server.url)
    const environment = { SERVER_API_KEY: TEST_KEY, PORT: port, HOST: '0.0.0.0' }
    expect(await runAgentServer(['query', 'owls'], { environment })).toMatchObject({ code: 0 })
  })
})

describe('agent-server', () => {
  it.each(
    someOf<[string, string[], RegExp]>(
      [
        ['a command’s --help', ['chat', '--help'], /^Usage: agent-server-client chat.*Examples:/s],
        ['no command', [], /^Usage: agent-server-client <command>/],
        ['--help', ['--help'], /^ {2}documents +List, read/m],
        ['--version', ['--version'], /^\d+\.\d+\.\d+\n$/],
      ],
      1,
    ),
  )('says what it can do: %s', long, async (_what, parameters, said) => {
    expect((await run(parameters)).stdout).toMatch(said)
  })

  it.each(
    someOf<[string, string[], number, RegExp]>(
      [
        [
          'a server that is not there',
          ['query', 'x', '--url', 'http://127.0.0.1:9'],
          3,
          /cannot be reached.*\n.*--url/,
        ],
        ['an unknown mode', ['query', 'x', '--mode', 'words'], 2, /--mode must be one of/],
        ['an unknown command', ['fly'], 2, /no command fly; .*--help/],
        ['a misspelt command', ['qurey'], 2, /no command qurey: did you mean query\?/],
        ['a misspelt option', ['chat', 'x', '--colection', 'y'], 2, /did you mean --collection\?/],
        ['a misspelt action', ['documents', 'lst'], 2, /retry: did you mean list\?/],
        ['an unknown effort', ['query', 'x', '--effort', 'hgih'], 2, /--effort must be one of low/],
        [
          'an unknown scope',
          ['keys', 'create', 'x', '--scope', 'all'],
          2,
          /--scope must be one of/,
        ],
        ['no rating', ['feedback', 'give', 'x'], 2, /takes --rating/],
        ['an unknown option', ['query', 'x', '--all'], 2, /Unknown option '--all'/],
        ['no question', ['query'], 2, /takes a question/],
        ['a number out of bounds', ['query', 'x', '--top-k', '101'], 2, /--top-k must be/],
        [
          'an unknown status',
          ['documents', 'list', '--status', 'lost'],
          2,
          /--status must be one of/,
        ],
        ['no id', ['documents', 'rm'], 2, /client documents --help shows the usage/],
        ['an empty id', ['documents', 'rm', ''], 2, /takes an id/],
        ['arguments that are no JSON', ['mcp', 'test', 'x', '--arguments', '{'], 2, /must be JSON/],
      ],
      3,
    ),
  )('ends with a code for %s, and says so', long, async (_what, parameters, code, expected) => {
    const ended = await run(parameters)
    expect(ended).toMatchObject({ code, stderr: expect.stringMatching(expected) })
    expect(ended.stderr).not.toContain('    at ')
    expect(ended.stderr).not.toContain(TEST_KEY)
  })

  it('tells failures as JSON to programs', async () => {
    const { code, stdout, stderr } = await run(['documents', 'get', 'none', '--json'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(JSON.parse(stderr)).toMatchObject({
      error: { name: 'NotFoundError', code: 'document_not_found' },
    })
  })

  it.each(someOf(['bash', 'zsh', 'fish'], 1))('completes its words in %s', long, async (shell) => {
    const { stdout } = await run(['completion', shell])
    expect(stdout).toMatch(/documents/)
    expect(stdout).toMatch(/--status|-l status/)
  })

  it('adds what stands on standard input', onlyLong, async () => {
    const parameters = ['add', '-', '--id', 'log', '--title', 'History']
    expect(await run(parameters, { input: 'Geese fly south.' })).toMatchObject({
      code: 0,
      stdout: 'log ready\n',
    })
    expect(await json('documents', 'get', 'log')).toMatchObject({ title: 'History' })
  })

  it('removes what is gone from a folder where it is told to, and nothing else', async () => {
    const folder = join(await temporaryDirectory(), 'swifts')
    await mkdir(folder)
    for (const name of ['kept.md', 'gone.md', 'left.txt']) {
      await writeFile(join(folder, name), `Swifts scream in ${name}.`)
    }
    await clientOf(server).documents.create({ text: 'Of somebody else.' })
    const summary = { unchanged: 0, failed: [] }
    expect(await json('add', folder)).toMatchObject({ ...summary, ready: 3 })
    const before = await clientOf(server).documents.list({ total: true }).page()
    await rm(join(folder, 'gone.md'))
    const again = await json('add', folder, '--delete', '--include', '**/*.md')
    expect(again).toMatchObject({ ...summary, unchanged: 1, removed: 1 })
    const { total } = await clientOf(server).documents.list({ total: true }).page()
    expect(total).toBe((before.total ?? 0) - 1)
    expect(await paths()).toEqual(['swifts/kept.md', 'swifts/left.txt'])
    for (const name of ['kept.md', 'left.txt']) await rm(join(folder, name))
    const { code, stderr } = await run(['add', folder, '--delete'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('is empty')])
    expect(await paths()).toHaveLength(2)
  })

  it('keeps what is in another folder of the same name', async () => {
    const parent = await temporaryDirectory()
    const folders = ['a', 'b'].map((name) => join(parent, name, 'terns'))
    for (const [place, folder] of folders.entries()) {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, `${place}.md`), `Terns dive in ${place}.`)
    }
    const summary = await json('add', ...folders, '--delete')
    expect(summary).toMatchObject({ ready: 2, failed: [], removed: 0 })
  })

  const paths = async () => {
    const found = clientOf(server).documents.list({
      filter: { field: 'source_path', gte: 'swifts/', lt: 'swifts0' },
      sort: 'title',
    })
    return Array.fromAsync(found, ({ metadata }) => metadata?.source_path)
  }

  it('refuses files that would be one document', async () => {
    const folder = await temporaryDirectory()
    for (const name of ['a', 'b']) {
      await mkdir(join(folder, name))
      await writeFile(join(folder, name, 'x.md'), name)
    }
    const files = [join(folder, 'a', 'x.md'), join(folder, 'b', 'x.md')]
    expect(await run(['add', ...files])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/would become one document/),
    })
  })
})
