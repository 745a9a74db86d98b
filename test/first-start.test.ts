import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../src/config.ts'
import { prepareFirstStart, welcome } from '../src/first-start.ts'

const REPOSITORY = join(import.meta.dirname, '..')

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-first-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

describe('the first start', () => {
  it('writes an .env with a new key, which is a working environment', async () => {
    const directory = await newDirectory()
    const key = await prepareFirstStart(directory, REPOSITORY, {})
    const config = loadConfig(parseEnv(await readFile(join(directory, '.env'), 'utf8')))
    expect(config).toMatchObject({ SERVER_API_KEY: key, CHAT_MODEL: 'extractive' })
  })

  it('takes the next free port where the usual one is taken, and says so', async () => {
    const other = createServer()
    // Where somebody else has it, it is taken all the same.
    other.on('error', () => undefined).listen(3_000, '127.0.0.1')
    await Promise.race([once(other, 'listening'), once(other, 'error').catch(() => undefined)])
    onTestFinished(() => void other.close())
    const directory = await newDirectory()
    const said: string[] = []
    await prepareFirstStart(directory, REPOSITORY, {}, (line) => said.push(line))
    const { PORT } = parseEnv(await readFile(join(directory, '.env'), 'utf8'))
    expect(Number(PORT)).toBeGreaterThan(3_000)
    expect(said).toEqual([`Port 3000 is taken, so the server uses ${PORT}: see PORT in .env.`])
  })

  it('changes nothing in .env.example but the key', async () => {
    const directory = await newDirectory()
    const key = await prepareFirstStart(directory, REPOSITORY, { PORT: '3000' })
    const written = await readFile(join(directory, '.env'), 'utf8')
    const example = await readFile(join(REPOSITORY, '.env.example'), 'utf8')
    expect(written.replace(key ?? '', '')).toBe(example)
  })

  it('writes a file that only its owner can read', async () => {
    const directory = await newDirectory()
    await prepareFirstStart(directory, REPOSITORY, {})
    expect((await stat(join(directory, '.env'))).mode & 0o777).toBe(0o600)
  })

  it('makes a key of 32 letters, digits, hyphens and underscores, another one each time', async () => {
    const keys = await Promise.all(
      Array.from({ length: 5 }, async () =>
        prepareFirstStart(await newDirectory(), REPOSITORY, {}),
      ),
    )
    for (const key of keys) expect(key).toMatch(/^[\w-]{32}$/)
    expect(new Set(keys).size).toBe(5)
  })

  it.each([
    ['in production', { NODE_ENV: 'production' }],
    ['where the environment holds a key', { SERVER_API_KEY: 'a-key-for-tests-only' }],
  ])('writes nothing %s', async (_case, environment) => {
    const directory = await newDirectory()
    expect(await prepareFirstStart(directory, REPOSITORY, environment)).toBeUndefined()
    await expect(stat(join(directory, '.env'))).rejects.toThrow('ENOENT')
  })

  it('writes a key where the environment holds an empty one', async () => {
    const directory = await newDirectory()
    expect(await prepareFirstStart(directory, REPOSITORY, { SERVER_API_KEY: '' })).toBeDefined()
  })

  it('leaves an .env that is there as it is', async () => {
    const directory = await newDirectory()
    await writeFile(join(directory, '.env'), 'MINE=1')
    expect(await prepareFirstStart(directory, REPOSITORY, {})).toBeUndefined()
    expect(await readFile(join(directory, '.env'), 'utf8')).toBe('MINE=1')
  })

  it('needs no .env.example where an .env is there', async () => {
    const directory = await newDirectory()
    await writeFile(join(directory, '.env'), 'MINE=1')
    await expect(prepareFirstStart(directory, directory, {})).resolves.toBeUndefined()
  })

  it('leaves a link to nowhere as it is', async () => {
    const directory = await newDirectory()
    await symlink(join(directory, 'nowhere'), join(directory, '.env'))
    expect(await prepareFirstStart(directory, REPOSITORY, {})).toBeUndefined()
  })

  it('gives one key when two servers start at once', async () => {
    const directory = await newDirectory()
    const start = () => prepareFirstStart(directory, REPOSITORY, {})
    const keys = (await Promise.all([start(), start(), start()])).filter(Boolean)
    expect(keys).toHaveLength(1)
    expect(await readFile(join(directory, '.env'), 'utf8')).toContain(keys[0])
  })

  it('finds the place of the key in a checkout with Windows line ends, too', async () => {
    const [directory, repository] = [await newDirectory(), await newDirectory()]
    await writeFile(join(repository, '.env.example'), 'A=1\r\nSERVER_API_KEY=\r\nB=2\r\n')
    const key = await prepareFirstStart(directory, repository, {})
    expect(await readFile(join(directory, '.env'), 'utf8')).toBe(
      `A=1\r\nSERVER_API_KEY=${key}\r\nB=2\r\n`,
    )
  })
})

describe('the welcome', () => {
  const text = welcome('http://127.0.0.1:3000', { key: 'the-key' })
  // A command begins at the start of a line and goes on after a backslash.
  const commands = text.match(/^curl(?:.*\\\n)*.*$/gm) ?? []

  it('of a start whose output is kept in a file holds no key, and commands that read it', async () => {
    const kept = welcome('http://127.0.0.1:3000')
    expect(kept).toMatch(/Your key is the SERVER_API_KEY of \.env/)
    const directory = await newDirectory()
    const key = await prepareFirstStart(directory, REPOSITORY, {})
    const header = /-H ("Authorization: .+?")/.exec(kept)?.[1]
    const said = execFileSync('sh', ['-c', `echo ${header}`], { cwd: directory })
    expect(String(said)).toBe(`Authorization: Bearer ${key}\n`)
  })

  it('promises quotes, and a place for a model, only where none is configured', () => {
    const quotes = /answers with quotes from[^(]*\(kept in \.env, where a real model is set, too\)/
    expect(text).toMatch(quotes)
    const own = welcome('http://127.0.0.1:3000', { key: 'the-key', hasModel: true })
    expect(own).toMatch(/answers questions about your documents[^(]*\(kept in \.env\)/)
  })

  it('names the endpoint, the key and the reference', () => {
    expect(text).toContain('runs at http://127.0.0.1:3000 ')
    expect(text).toContain('Your key is the-key ')
    expect(text).toContain('http://127.0.0.1:3000/reference')
  })

  it.each([
    ['/documents', ['text', 'title']],
    ['/query', ['query']],
    ['/chat', ['messages']],
  ])('has a command for %s with the key and a JSON body', (path, fields) => {
    const [command = '', ...more] = commands.filter(
      (each) => /:3000([^ '?]+)/.exec(each)?.[1] === path,
    )
    expect(more).toEqual([])
    expect(command).toContain(`-H 'Authorization: Bearer the-key'`)
    expect(command).toContain(`-H 'Content-Type: application/json'`)
    const body = JSON.parse(/-d '([^']*)'$/.exec(command)?.[1] ?? '')
    expect(Object.keys(body).toSorted()).toEqual(fields)
  })

  it('has no other command', () => {
    expect(commands).toHaveLength(3)
  })

  it('lets the streamed answer through as it comes', () => {
    expect(commands.find((command) => command.includes('/chat'))).toMatch(/^curl -N /)
  })
})
