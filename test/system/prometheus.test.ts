import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { type StartedServer, startServer, TEST_KEY } from '../support/server.ts'
import { freePort, type Launched, launch } from '../support/server-process.ts'
import { ROOT } from '../support/source-tree.ts'

const FOLDER = fileURLToPath(new URL('deploy/prometheus/', ROOT))
const hasPrometheus = ['promtool', 'prometheus'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
)
const SCRAPE_MS = 30_000
const METRIC = /\b(?:agent_server|process|nodejs)_\w+|\bup\b/g

const Rules = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
})
const Dashboard = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })),
})
const Answer = z.object({
  status: z.literal('success'),
  data: z.object({ result: z.array(z.unknown()) }),
})

/** Every expression of the rules and the dashboard, with what Grafana puts in for its variables. */
async function expressions() {
  const read = (name: string) => readFile(join(FOLDER, name), 'utf8')
  const [group] = Rules.parse(parse(await read('alerts.yml'))).groups
  const { panels } = Dashboard.parse(JSON.parse(await read('grafana-dashboard.json')))
  const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const fill = (expr: string) =>
    expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*')
  return { alerts: group?.rules.map(({ expr }) => expr) ?? [], shown: shown.map(fill) }
}

describe.skipIf(!hasPrometheus)('The rules and the dashboard (need Prometheus)', () => {
  let ask: (expr: string) => Promise<unknown[]>
  let server: StartedServer | undefined
  let directory: string | undefined
  let prometheus: Launched | undefined

  /** A real Prometheus that has scraped a server which has found, answered and failed. */
  beforeAll(async () => {
    server = await startServer({ EMBEDDING_MODEL: 'builtin' })
    const { url, request, ingest } = server
    await ingest({ text: 'Owls hunt at night.' })
    await request('/query', { body: { query: 'owls' } })
    const chat = { messages: [{ role: 'user', content: 'When do owls hunt?' }] }
    await (await request('/chat', { body: chat })).text()
    await request('/documents/unknown')

    directory = await mkdtemp(join(tmpdir(), 'agent-server-'))
    await cp(FOLDER, directory, { recursive: true })
    await writeFile(join(directory, 'key'), TEST_KEY)
    const file = join(directory, 'prometheus.yml')
    const text = await readFile(file, 'utf8')
    const target = text.replace('127.0.0.1:3000', new URL(url).host).replace('15s', '1s')
    await writeFile(file, target)
    const address = `127.0.0.1:${await freePort()}`
    const flags = ['--config.file=prometheus.yml', '--storage.tsdb.path=data']
    prometheus = launch({
      directory,
      command: ['prometheus', ...flags, `--web.listen-address=${address}`],
    })
    ask = async (expr) => {
      const query = new URLSearchParams({ query: expr })
      const response = await fetch(`http://${address}/api/v1/query?${query}`)
      return Answer.parse(await response.json()).data.result
    }
    const scraped = () =>
      ask('count_over_time(up{job="agent-server"}[1m]) > 2').catch(() => 'not yet')
    await vi.waitFor(async () => expect(await scraped()).toHaveLength(1), SCRAPE_MS)
  }, 2 * SCRAPE_MS)

  afterAll(async () => {
    prometheus?.send('SIGKILL')
    await prometheus?.exited
    await server?.close()
    if (directory) await rm(directory, { recursive: true })
  })

  it('are valid, and each alert fires when it should and only then', () => {
    for (const parameters of [
      ['check', 'rules', 'deploy/prometheus/alerts.yml'],
      ['test', 'rules', 'test/deploy/alerts.yml'],
    ]) {
      const run = spawnSync('promtool', parameters, { cwd: ROOT, encoding: 'utf8' })
      expect([run.status, run.stdout + run.stderr]).toEqual([0, expect.any(String)])
    }
  })

  it('name metrics that the server has', async () => {
    const { alerts, shown } = await expressions()
    expect(alerts).toHaveLength(10)
    const names = new Set([...alerts, ...shown].flatMap((expr) => expr.match(METRIC) ?? []))
    expect(names.size).toBeGreaterThan(15)
    const missing: string[] = []
    for (const name of names) if ((await ask(name)).length === 0) missing.push(name)
    expect(missing).toEqual([])
  })

  it('show something of a server that works, and raise no alert', async () => {
    const { alerts, shown } = await expressions()
    const empty: string[] = []
    for (const expr of shown) if ((await ask(expr)).length === 0) empty.push(expr)
    expect(empty).toEqual([])
    for (const expr of alerts) expect([expr, await ask(expr)]).toEqual([expr, []])
  })
})
