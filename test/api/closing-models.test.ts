import { Readiness } from '@agent-server/schemas/operator/ops.ts'
import { expect, it } from 'vitest'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'

const DAY_MS = 86_400_000
const WAIT = { timeout: 10_000 }
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

const upstream = await startScriptedUpstream()
const listed = (...models: object[]) => upstream.tell({ '/v1/models': { data: models } })

async function readinessOf(server: TestServer) {
  const response = await server.request('/readiness')
  return { code: response.status, ...Readiness.parse(await response.json()) }
}

it('warns in the readiness of models that close within 60 days, and stays ready', async () => {
  const soon = inDays(20)
  listed({ id: 'other', shutdown_date: inDays(9) }, { id: 'scripted', shutdown_date: soon })
  const server = await startServer(modelAt(upstream))
  await expect.poll(async () => (await readinessOf(server)).warnings, WAIT).toHaveLength(1)
  const { code, warnings, degraded } = await readinessOf(server)
  expect({ code, degraded }).toEqual({ code: 200, degraded: undefined })
  expect(warnings).toEqual([
    {
      code: 'model_closes',
      model: 'scripted',
      closesOn: soon,
      message: expect.stringMatching(
        /^The model scripted closes on .+ \(in 20 days\): set CHAT_MODEL to another$/,
      ),
    },
  ])
})

it('asks no server about the extractive model', async () => {
  const { connections } = upstream
  const server = await startServer({ CHAT_BASE_URL: upstream.url, CHAT_API_KEY: 'none' })
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect((await readinessOf(server)).warnings).toBeUndefined()
  expect(upstream.connections).toBe(connections)
})
