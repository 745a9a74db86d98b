import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import { AgentServer } from '../../packages/client/src/agent-server.ts'
import { itServesTheWholeClient } from '../contracts/whole-client.contract.ts'
import { trust } from '../support/certificates.ts'
import { ROOT } from '../support/source-tree.ts'
import { COMPOSE, docker, hasEngine, runCommand } from './docker.ts'

const CADDY = 'caddy:2-alpine'
const hasCaddy = () => spawnSync('docker', ['image', 'inspect', CADDY]).status === 0

/** What the image and the deployment are made of. */
const PROJECT = [
  'package.json',
  'package-lock.json',
  'LICENSE',
  '.env.example',
  'Dockerfile',
  '.dockerignore',
  'docker-compose.yml',
  'deploy',
  'scripts/prune-packages.mjs',
  'skills',
  'src',
  'packages',
  'ui',
]
/** An agent with a skill, a plugin that imports what lies beside it, and a form. */
const AGENT: Readonly<Record<string, string>> = {
  'agent.json': JSON.stringify({
    name: 'librarian',
    plugins: ['./plugins/clock.mjs'],
    skills: { sources: ['./desk/skills'] },
  }),
  'plugins/clock.mjs': `import { zone } from './zone.mjs'
    export default ({ defineTool, z }) => [defineTool({ name: 'zone', title: 'Zone',
      description: 'Names the time zone', input: z.object({}), run: async () => zone })]`,
  'plugins/zone.mjs': `export const zone = 'Europe/Berlin'`,
  'desk/skills/hours/SKILL.md':
    '---\nname: hours\ndescription: Tells when the library is open.\n---\nRead `assets/week.md`.\n',
  'desk/skills/hours/assets/week.md': 'From nine to five.\n',
  'desk/skills/.env': 'NEVER=inside\n',
  'forms/letter.md': 'Dear reader,\n',
}
const FOLDER = 'deployment/compose'
const PROJECT_NAME = `agent-server-test-${randomUUID().slice(0, 8)}`

let project: string
let url: string
let key: string
const certificate = () => join(project, 'root.crt')

/** Writes a deployment with the project's own command, in a copy of the project, and starts what it wrote. */
async function startDeployment(): Promise<void> {
  project = await mkdtemp(join(tmpdir(), 'agent-server-deployed-'))
  const from = fileURLToPath(ROOT)
  const filter = (path: string) => !/\/(?:node_modules|dist)$/.test(path)
  for (const name of PROJECT) {
    await cp(join(from, name), join(project, name), { recursive: true, filter })
  }
  await symlink(join(from, 'node_modules'), join(project, 'node_modules'))
  for (const [name, text] of Object.entries(AGENT)) await write(name, text)
  await inProject([process.execPath, 'src/main.ts', 'deploy', 'compose'])
  await adapt()
  const guide = await readFile(join(project, FOLDER, 'DEPLOY.md'), 'utf8')
  const [setKey = 'false'] = /^echo "SERVER_API_KEY=.*$/m.exec(guide) ?? []
  await inProject(['sh', '-c', setKey])
  const [, value = ''] = (await readFile(join(project, FOLDER, '.env'), 'utf8')).trim().split('=')
  key = value.replaceAll("'", '')
  await build()
  await compose('up', '--detach')
  await locate()
}

/** Compose 1, which Debian has, knows no `name`; ports 80 and 443 of this machine may be taken; and health is asked for more often. */
async function adapt(): Promise<void> {
  const path = join(project, FOLDER, 'compose.yaml')
  const { name: _name, ...file } = parse(await readFile(path, 'utf8'))
  file.services['agent-server'].healthcheck = { interval: '1s' }
  file.services.caddy.ports = ['127.0.0.1::443']
  await writeFile(path, stringify(file))
}

/** Not every engine has BuildKit, which alone reads the ignore file that lies beside the Dockerfile. */
async function build(): Promise<void> {
  await cp(join(project, FOLDER, 'Dockerfile.dockerignore'), join(project, '.dockerignore'))
  await inProject(['docker', 'build', '--network', 'host', '--tag', 'agent-server', '.'])
}

/** The same image with another agent: what else an update builds has been built already. */
async function buildUpdate(): Promise<void> {
  await docker('tag', 'agent-server', 'agent-server:before')
  await write('agent.json', JSON.stringify({ name: 'librarian-of-today' }))
  await write('Dockerfile.update', 'FROM agent-server:before\nCOPY agent.json ./\n')
  const from = ['--file', 'Dockerfile.update', '--tag', 'agent-server', '.']
  await inProject(['docker', 'build', ...from])
}

async function write(name: string, text: string): Promise<void> {
  await mkdir(dirname(join(project, name)), { recursive: true })
  await writeFile(join(project, name), text)
}

/** Answers standard output and standard error. */
async function inProject(command: readonly string[], more: readonly string[] = []) {
  const settings = ['SERVER_API_KEY=a-key-of-this-machine', 'CHAT_MODEL=extractive', ...more]
  const parameters = ['--chdir', project, ...settings, ...command]
  const { code, stdout, stderr } = await runCommand('env', parameters)
  expect(code, `${stdout}${stderr}`).toBe(0)
  return { stdout: stdout.trim(), stderr }
}

function compose(...parameters: string[]) {
  const files = ['--file', `${FOLDER}/compose.yaml`, '--env-file', `${FOLDER}/.env`]
  const command = [...(COMPOSE ?? []), '--project-name', PROJECT_NAME, ...files, ...parameters]
  // Or what this machine has would be taken before the file.
  return inProject(['env', '--unset', 'SERVER_API_KEY', ...command])
}

async function containerOf(service: string): Promise<string> {
  return (await compose('ps', '--quiet', service)).stdout
}

/** Where Caddy is, and the certificate of the authority that it has made for itself. */
async function locate(): Promise<void> {
  const { stdout } = await compose('port', 'caddy', '443')
  url = `https://localhost:${stdout.split(':')[1]}`
  const made = `${await containerOf('caddy')}:/data/caddy/pki/authorities/local/root.crt`
  await vi.waitFor(
    async () => expect((await docker('cp', made, certificate())).code).toBe(0),
    20_000,
  )
}

async function clientOf(more: { apiKey?: string; maxRetries?: number } = {}) {
  trust(certificate())
  return new AgentServer({ baseURL: url, apiKey: key, ...more })
}

describe.skipIf(!hasEngine() || !hasCaddy() || !COMPOSE)(
  `What is deployed with Compose, behind Caddy (needs a Docker engine, its Compose and ${CADDY})`,
  () => {
    beforeAll(async () => {
      await startDeployment()
      return async () => {
        await compose('down', '--volumes', '--timeout', '20')
        await rm(project, { recursive: true, force: true })
      }
    })

    itServesTheWholeClient(clientOf)

    it('passes npm run deploy -- verify, a stream that is silent for 15 s and 20 MB among it', async () => {
      const command = [process.execPath, 'src/main.ts', 'deploy', 'verify', url, '--seconds', '16']
      const environment = [`AGENT_SERVER_KEY=${key}`, `NODE_EXTRA_CA_CERTS=${certificate()}`]
      const { stderr } = await inProject(command, environment)
      expect(stderr).toContain('10 of 10 passed')
    })

    it('has the agent with its skills, plugins and forms, and nothing that is secret', async () => {
      const { agent } = await clientOf()
      expect(await agent.get()).toMatchObject({ name: 'librarian' })
      expect(await agent.capabilities()).toMatchObject({
        plugins: [{ name: 'clock', state: 'on' }],
        skills: expect.arrayContaining([expect.objectContaining({ name: 'hours' })]),
      })
      const paths = ['forms/letter.md', 'desk/skills/hours/assets/week.md', 'desk/skills/.env']
      const list = `console.log(${JSON.stringify(paths)}.map((path) => fs.existsSync(path)).join())`
      const { stdout } = await docker('exec', await containerOf('agent-server'), 'node', '-e', list)
      expect(stdout).toBe('true,true,false\n')
    })

    it('knows the caller’s address, whatever headers claim, and that the request came over HTTPS', async () => {
      trust(certificate())
      const response = await fetch(`${url}/ui/session`, {
        method: 'POST',
        headers: {
          'x-forwarded-for': '203.0.113.9',
          'x-forwarded-proto': 'http',
          'sec-fetch-site': 'same-origin',
          'x-agent-server-web-ui': '1',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ key }),
      })
      expect(response.headers.get('set-cookie')).toMatch(/; Secure$/)
      const addressOf = `{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}`
      const proxy = await docker('inspect', '--format', addressOf, await containerOf('caddy'))
      const { stdout } = await docker('logs', await containerOf('agent-server'))
      const line = stdout.split('\n').find((one) => one.includes('"/ui/session"')) ?? '{}'
      const { address } = JSON.parse(line)
      expect(address).toMatch(/^\d+\.\d+\.\d+\.\d+$/)
      expect([proxy.stdout.trim(), '203.0.113.9']).not.toContain(address)
    })

    it('loses no document over a restart, an update and the way back, also none that waits', {
      timeout: 240_000,
    }, async () => {
      const { agent, documents } = await clientOf({ maxRetries: 30 })
      const send = (name: string) =>
        Array.from({ length: 40 }, (_, index) => ({ id: `${name}-${index}`, text: `${name} owl` }))
      const sent: string[] = []
      const add = async (name: string) => {
        const lines = send(name)
        await documents.batch(lines)
        sent.push(...lines.map(({ id }) => id))
      }
      await add('restart')
      await compose('restart', '--timeout', '30', 'agent-server')
      await add('update')
      await buildUpdate()
      await compose('up', '--detach', '--no-build')
      await locate()
      expect(await agent.get()).toMatchObject({ name: 'librarian-of-today' })
      await add('back')
      await docker('tag', 'agent-server:before', 'agent-server')
      await compose('up', '--detach', '--no-build')
      await locate()
      expect(await agent.get()).toMatchObject({ name: 'librarian' })
      for (const id of sent) await documents.waitUntilReady(id, { maxWait: 30_000 })
      expect(sent).toHaveLength(120)
    })
  },
)
