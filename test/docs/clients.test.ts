import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { CLIENTS, clientsAreInstalled } from '../support/clients.ts'
import { long, onlyLong, someOf } from '../support/long.ts'
import { type StartedServer, startServer, TEST_KEY } from '../support/server.ts'
import { AGENT_SERVER } from '../support/server-process.ts'
import { openShell } from '../support/shell.ts'
import { ROOT } from '../support/source-tree.ts'
import { readPage, shellBlocks } from './pages.ts'

const run = promisify(execFile)
const PAGE = readPage('docs/guides/clients.md')
const DIALECTS = readPage('docs/reference/dialects.md')
const LOCAL = 'http://127.0.0.1:3000'
const ENTRY = new URL('packages/client/src/agent-server.ts', ROOT).href

const typescript = blocksOf('ts')
const javascript = blocksOf('js', DIALECTS)
const shell = shellBlocks(PAGE)

let server: StartedServer
let directory = ''

beforeAll(async () => {
  server = await startServer()
  directory = await mkdtemp(join(tmpdir(), 'agent-server-'))
  await symlink(fileURLToPath(new URL('node_modules', ROOT)), join(directory, 'node_modules'))
  await mkdir(join(directory, 'handbook'))
  const text = 'The library opens at nine. On Saturdays it opens at ten.'
  // Each block runs by itself, too.
  await server.ingest({ title: 'Opening hours', text, metadata: { language: 'en' } })
  await writeFile(join(directory, 'handbook.md'), text)
  await writeFile(join(directory, 'handbook', 'hours.md'), text)
  await writeFile(join(directory, 'key.txt'), TEST_KEY)
  await writeFile(
    join(directory, 'agent-server-client'),
    `#!/bin/sh\nexec ${AGENT_SERVER.join(' ')} "$@"\n`,
  )
  await chmod(join(directory, 'agent-server-client'), 0o755)
  return async () => {
    await server.close()
    await rm(directory, { recursive: true })
  }
})

function blocksOf(language: string, page = PAGE): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n(.*?)\\n\`\`\`$`, 'gms')
  return Array.from(page.text.matchAll(pattern), ([, block = '']) => block)
}

/** Runs a block as a program of its own; answers what it printed. */
async function runBlock(block: string, ending: string, folder = directory): Promise<string> {
  const file = join(folder, `block${ending}`)
  const text = block.replaceAll("'agent-server-client'", `'${ENTRY}'`).replaceAll(LOCAL, server.url)
  await writeFile(file, text)
  const keys = {
    AGENT_SERVER_URL: server.url,
    AGENT_SERVER_KEY: TEST_KEY,
    SERVER_API_KEY: TEST_KEY,
  }
  const env = { ...process.env, ...keys }
  return (await run(process.execPath, [file], { cwd: directory, env })).stdout
}

it.each(
  someOf<[number, RegExp]>(
    [
      [0, /^The library opens at nine\.\n.*The library opens at nine\. \[1\] \[\n/s],
      [1, /56 of 56 bytes\n1\n.*herons herons\.txt ready\n.*Herons fish by day\.\n$/s],
      [2, /The library opens at nine\. \[1\]/],
      [3, /documents/],
      [4, /^404 document_not_found \S+\ntopK topK: must be at most 100\n$/],
    ],
    2,
  ),
)('The TypeScript of docs/guides/clients.md works: block %i', long, async (index, printed) => {
  const block = typescript[index] ?? ''
  const head = `import { AgentServer } from '${ENTRY}'\nconst client = new AgentServer()\n`
  const whole = block.includes('new AgentServer(') ? block : head + block
  expect(await runBlock(whole, '.mts')).toMatch(printed)
})

it(
  'The JavaScript of docs/reference/dialects.md works, and no block is left out',
  onlyLong,
  async () => {
    expect(typescript).toHaveLength(5)
    expect(javascript).toHaveLength(6)
    const [openai = '', , , , responses = '', conversations = ''] = javascript
    const asked = await runBlock(
      `${openai}\nconsole.log(choices[0].message.content, agent.hits.length)`,
      '.mjs',
    )
    expect(asked).toMatch(/The library opens at nine\. \[1\].* \d+\n$/s)
    expect(await runBlock(responses, '.mjs')).toMatch(/Saturdays it opens at ten.*file_citation/s)
    const [client = ''] = responses.split('\nconst first')
    expect(await runBlock(`${client}\n${conversations}`, '.mjs')).toMatch(
      /When does the library open\?.*And on Saturdays\?.*Saturdays it opens at ten/s,
    )
  },
)

describe.skipIf(!clientsAreInstalled())(
  'Clients of others (need npm ci in test/e2e/clients)',
  () => {
    let folder = ''
    beforeAll(async () => {
      folder = join(directory, 'clients')
      await mkdir(folder)
      const installed = fileURLToPath(new URL(`${CLIENTS}/node_modules`, ROOT))
      await symlink(installed, join(folder, 'node_modules'))
    })

    it('work as docs/reference/dialects.md has them: the AI SDK', async () => {
      const more = `import { generateText } from 'ai'
    const { text } = await generateText({ model: provider('agent'), prompt: 'When does the library open?' })
    console.log(text)`
      const block = `${javascript[1]}\n${more}`
      expect(await runBlock(block, '.mjs', folder)).toContain('The library opens at nine. [1]')
    })

    it('work as docs/reference/dialects.md has them: Ollama', async () => {
      const block = `${javascript[2]}\nconsole.log(message.content, agent.hits.length)`
      expect(await runBlock(block, '.mjs', folder)).toMatch(
        /The library opens at nine\. \[1\].* \d+\n$/s,
      )
    })

    it('work as docs/reference/dialects.md has them: Anthropic', async () => {
      const block = `${javascript[3]}\nconsole.log(JSON.stringify(content), agent.hits.length)`
      expect(await runBlock(block, '.mjs', folder)).toMatch(
        /The library opens at nine\. \[1\].*char_location.* \d+\n$/s,
      )
    })
  },
)

it('The commands of docs/guides/clients.md work, one after the other', onlyLong, async () => {
  expect(shell).toHaveLength(2)
  const terminal = openShell(directory)
  await terminal.paste(`export PATH="${directory}:$PATH" XDG_CONFIG_HOME="${directory}/config"
    unset AGENT_SERVER_URL AGENT_SERVER_KEY SERVER_API_KEY`)
  const [first = '', second = ''] = shell
  const printed = await terminal.paste(first.replaceAll(LOCAL, server.url))
  expect(printed).toMatch(/^Logged in to http:/)
  expect(printed).toMatch(/^1 ready, 0 unchanged, 0 failed$/m)
  expect(printed).toMatch(/^\[1\] /m)
  expect(printed).toMatch(/^store +ok/m)
  const more = await terminal.paste(second.replace('git log -3 2> /dev/null', 'echo Geese'))
  expect(more).toMatch(/^history ready\n\{"id":"history"/)
  expect(more).toMatch(/^history removed$/m)
})
