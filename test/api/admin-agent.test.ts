import { hash } from 'node:crypto'
import { chmod, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  AgentCheck,
  AgentFile,
  AgentSaved,
  AgentVersions,
} from '@agent-server/schemas/operator/admin.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { startServer } from '../support/server.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'

const AT_START = '{\n  "prompt": "Be brief."\n}\n'

const directory = await temporaryDirectory()
const file = join(directory, 'agent.json')
await writeFile(file, AT_START)
const server = await startServer({ AGENT_CONFIG: file })

beforeEach(() => writeFile(file, AT_START))

const read = async (from = server) =>
  AgentFile.parse(await (await from.request('/admin/agent')).json())
const put = (text: string, basedOn: string, to = server) =>
  to.request('/admin/agent', { method: 'PUT', body: { text, basedOn } })
const save = async (text: string) => {
  const { digest } = await read()
  const response = await put(text, digest)
  expect(response.status).toBe(200)
  return AgentSaved.parse(await response.json())
}
const versions = async () =>
  AgentVersions.parse(await (await server.request('/admin/agent/versions')).json()).versions

describe('GET /admin/agent', verifies('admin.agent.read'), () => {
  it('shows the file, what it means and the prompt', async () => {
    const found = await read()
    expect(found).toMatchObject({
      path: file,
      found: true,
      text: AT_START,
      digest: hash('sha256', AT_START),
      valid: true,
      mistakes: [],
      restartFields: [],
      configuration: { name: 'agent', prompt: 'Be brief.', limits: { rounds: 8 } },
    })
    const { rules, assembled } = found.prompt
    expect(rules).toContain('numbered passages')
    expect(assembled).toBe(`${rules}\n\nBe brief.`)
  })

  it('shows the defaults where there is no file', async () => {
    const without = await startServer()
    expect(await read(without)).toMatchObject({ found: false, text: '', valid: true })
  })

  it.each([
    ['{ "prompt": 1, "limits": { "rounds": 0 } }', ['prompt', 'limits.rounds']],
    ['{ "promt": "" }', ['']],
    ['{ "prompt": ', ['']],
    ['', ['']],
  ])('names every mistake of %s', async (text, fields) => {
    await writeFile(file, text)
    const found = await read()
    expect(found).toMatchObject({ text, valid: false })
    expect(found.configuration).toBeUndefined()
    expect(found.mistakes.map(({ field }) => field)).toEqual(fields)
    expect(found.restartFields.length).toBeGreaterThan(0)
  })

  it('needs the key', async () => {
    expect((await fetch(`${server.url}/admin/agent`)).status).toBe(401)
  })
})

describe('PUT /admin/agent', verifies('admin.agent.save', 'admin.agent.conflict'), () => {
  it('writes the text as it is, and says what has changed; nothing waits for a restart', async () => {
    const text = '{ "limits": {"rounds": 9},\n\n"prompt":"Be brief.", "name": "desk" }'
    const saved = await save(text)
    expect(saved.changed.toSorted()).toEqual(['limits', 'name'])
    expect(saved.file).toMatchObject({ text, valid: true })
    expect(saved.file.restartFields).toEqual([])
    expect(await readFile(file, 'utf8')).toBe(text)
    expect(await readdir(dirname(file))).toEqual(['agent.json'])
  })

  it('says that no restart is needed for blanks', async () => {
    const saved = await save('{"prompt":"Be brief."}')
    expect([saved.changed, saved.file.restartFields]).toEqual([[], []])
  })

  it('refuses a mistake by its field', async () => {
    const { digest } = await read()
    const refused = await put('{ "limits": { "rounds": 0 } }', digest)
    expect(await failureOf(refused)).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'text.limits.rounds',
      message: 'text.limits.rounds: must be at least 1',
    })
    expect(await readFile(file, 'utf8')).toBe(AT_START)
  })

  it('refuses the second of two concurrent saves', async () => {
    const { digest } = await read()
    const texts = ['one', 'two'].map((prompt) => JSON.stringify({ prompt }))
    const answers = await Promise.all(texts.map((text) => put(text, digest)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    const winner = texts[answers.findIndex(({ status }) => status === 200)]
    expect(await readFile(file, 'utf8')).toBe(winner)
    const loser = answers.find(({ status }) => status === 409)
    expect(loser && (await failureOf(loser))).toMatchObject({
      code: 'edit_conflict',
      param: 'basedOn',
    })
  })

  it('refuses a write based on a state before a manual edit', async () => {
    const { digest } = await read()
    await writeFile(file, '{"prompt":"By hand."}')
    expect((await put('{}', digest)).status).toBe(409)
    expect(await readFile(file, 'utf8')).toBe('{"prompt":"By hand."}')
  })

  it('keeps the link that the file is, and its permissions', async () => {
    const directory = await temporaryDirectory()
    const real = await writeAgentFile({})
    await chmod(real, 0o640)
    const link = join(directory, 'agent.json')
    await symlink(real, link)
    const linked = await startServer({ AGENT_CONFIG: link })
    expect((await put('{"name":"desk"}', hash('sha256', '{}'), linked)).status).toBe(200)
    expect(await readFile(real, 'utf8')).toBe('{"name":"desk"}')
    expect((await stat(real)).mode & 0o777).toBe(0o640)
    expect(await readdir(directory)).toEqual(['agent.json'])
  })

  it('creates a missing file without keeping an empty version', async () => {
    const path = join(await temporaryDirectory(), 'agent.json')
    const without = await startServer({ AGENT_CONFIG: path })
    expect((await put('{}', hash('sha256', ''), without)).status).toBe(200)
    expect(await readFile(path, 'utf8')).toBe('{}')
    const kept = await without.request('/admin/agent/versions')
    expect(await kept.json()).toEqual({ versions: [] })
  })

  it('changes nothing where versions cannot be kept', async () => {
    const directory = await temporaryDirectory()
    const path = await writeAgentFile({})
    const crowded = await startServer({ AGENT_CONFIG: path, DATA_DIR: directory })
    await writeFile(join(directory, 'agent-versions'), 'not a folder')
    const response = await put('{"name":"desk"}', hash('sha256', '{}'), crowded)
    expect(await failureOf(response)).toMatchObject({ status: 409, code: 'not_writable' })
    expect(await readFile(path, 'utf8')).toBe('{}')
  })
})

describe('POST /admin/agent/check', () => {
  it('finds the mistakes of a text, and saves nothing', verifies('admin.agent.read'), async () => {
    const check = async (text: string) => {
      const response = await server.request('/admin/agent/check', { body: { text } })
      return AgentCheck.parse(await response.json())
    }
    expect((await check('{"prompt":1}')).mistakes).toEqual([
      { field: 'prompt', message: 'must be a string' },
    ])
    expect((await check('{"prompt":"In verse."}')).prompt.assembled).toMatch(/\n\nIn verse\.$/)
    expect(await readFile(file, 'utf8')).toBe(AT_START)
  })
})

describe('The versions of agent.json', verifies('admin.agent.versions'), () => {
  it('are the last ten that were replaced, also by hand, each once', async () => {
    const texts = Array.from({ length: 12 }, (_, n) => JSON.stringify({ name: `n${n}` }))
    for (const text of texts) await save(text)
    const digests = texts.slice(1, -1).map((text) => hash('sha256', text))
    expect((await versions()).map(({ digest }) => digest)).toEqual(digests.toReversed())

    const [oldest = ''] = texts.slice(2)
    await writeFile(file, oldest)
    await save('{}')
    const [latest, ...others] = (await versions()).map(({ digest }) => digest)
    expect([latest, others.length]).toEqual([hash('sha256', oldest), 9])
    expect(others).not.toContain(latest)
  })

  it('are read and brought back', async () => {
    await save('{"name":"later"}')
    const [{ digest = '' } = {}] = await versions()
    const version = await server.request(`/admin/agent/versions/${digest}`)
    expect(await version.json()).toEqual({ digest, text: AT_START })

    const restore = (basedOn: string) =>
      server.request(`/admin/agent/versions/${digest}/restore`, { body: { basedOn } })
    expect((await restore(digest)).status).toBe(409)
    const restored = await restore(hash('sha256', '{"name":"later"}'))
    expect(AgentSaved.parse(await restored.json())).toMatchObject({
      file: { text: AT_START, restartFields: [] },
    })
    expect(await readFile(file, 'utf8')).toBe(AT_START)
  })
})
