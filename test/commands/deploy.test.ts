import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readDeployParameters } from '../../packages/deploy/src/command.ts'
import { readSource } from '../../packages/deploy/src/project.ts'
import { loadConfiguration } from '../../src/agent/configuration.ts'
import { runDeploy } from '../../src/commands/deploy.ts'
import { loadConfig, settingsOf } from '../../src/config.ts'
import { ROOT } from '../support/source-tree.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const KEY = 'the-key-of-this-test'

/** Runs the command; its files go into a folder of the project, where alone they may be. */
function deployer(variables: Record<string, string> = {}) {
  const folder = fileURLToPath(new URL(`node_modules/.cache/deploy-${randomUUID()}`, ROOT))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const environment = { SERVER_API_KEY: KEY, CHAT_MODEL: 'extractive', ...variables }
  const deploy = async (...parameters: string[]) => {
    const said: string[] = []
    const code = await runDeploy({
      parameters: [...parameters, '--out', folder],
      environment,
      config: () => loadConfig(environment),
      createLog: () => pino({ level: 'silent' }),
      stderr: { isTTY: false, write: (text: string) => void said.push(text) },
      signal: new AbortController().signal,
    })
    return { code, said: said.join('') }
  }
  return { deploy, folder }
}

describe('npm run deploy', () => {
  it('writes the files, tells what is to be known, and writes nothing that is there already', async () => {
    const { deploy, folder } = deployer()
    const { code, said } = await deploy('compose')
    expect(code).toBe(0)
    expect(said).toContain('Secrets to set: SERVER_API_KEY')
    const names = await readdir(folder)
    expect(names).toContain('compose.yaml')
    for (const name of names) expect(await readFile(join(folder, name), 'utf8')).not.toContain(KEY)
    expect(await deploy('compose')).toMatchObject({ code: 0 })
    expect(await deploy('compose', '--check')).toEqual({ code: 0, said: 'No changes\n' })
  })

  it('checks with the options that the files were written with', async () => {
    const { deploy, folder } = deployer()
    const domain = ['--domain', 'agent.example.org']
    await deploy('compose', ...domain)
    expect(await readFile(join(folder, 'DEPLOY.md'), 'utf8')).toContain(domain.join(' '))
    expect(await deploy('compose', '--check')).toEqual({ code: 0, said: 'No changes\n' })
    const other = await deploy('compose', '--check', '--domain', 'other.example.org')
    expect(other.code).toBe(1)
    expect(other.said).toContain('Caddyfile')
  })

  it('replaces what was edited only when it is forced', async () => {
    const { deploy, folder } = deployer()
    const file = join(folder, 'Caddyfile')
    expect(await deploy('compose', '--check')).toMatchObject({ code: 1 })
    await deploy('compose')
    await writeFile(file, 'edited')
    for (const options of [[], ['--check']]) {
      const { code, said } = await deploy('compose', ...options)
      expect(code).toBe(1)
      expect(said).toContain('Caddyfile')
      expect(said).not.toContain('DEPLOY.md')
    }
    expect(await readFile(file, 'utf8')).toBe('edited')
    expect(await deploy('compose', '--force')).toMatchObject({ code: 0 })
    expect(await readFile(file, 'utf8')).not.toBe('edited')
  })

  it('writes nothing where something stands against it, and says all of it', async () => {
    const { deploy, folder } = deployer({ CHAT_BASE_URL: 'http://localhost:11434/v1' })
    const { code, said } = await deploy('compose', '--instances', '0')
    expect(code).toBe(1)
    expect(said).toContain('CHAT_BASE_URL')
    expect(said).toContain('--instances')
    await expect(readdir(folder)).rejects.toThrow('ENOENT')
  })

  it.each([[], ['a', 'b'], ['compose', '--help']])('says how it is called for %j', (...given) => {
    expect(readDeployParameters(given, ROOT.pathname)).toBeUndefined()
  })

  it.each([
    ['--instances', 'two'],
    ['--domain', 'a b'],
    ['--domain', 'example.-org'],
    ['--nothing', 'a'],
  ])('names %s where it is wrong', (option, value) => {
    expect(() => readDeployParameters(['compose', option, value], ROOT.pathname)).toThrow(option)
  })

  it('is refused where the files of the project are missing, as in the npm package', async () => {
    const environment = { SERVER_API_KEY: KEY, CHAT_MODEL: 'extractive' }
    const source = await readSource({
      root: await temporaryDirectory(),
      readAgent: loadConfiguration,
      settings: async () => settingsOf(environment, loadConfig(environment)),
    })
    const refusal = {
      message: expect.stringContaining('an npm package'),
      remedy: expect.stringContaining('clone the project'),
    }
    expect(source).toMatchObject({ refusals: [refusal] })
  })

  it('takes no option for a domain', () => {
    const given = ['compose', '--domain=-oProxyCommand.com']
    expect(() => readDeployParameters(given, ROOT.pathname)).toThrow('--domain must be a host name')
  })
})
