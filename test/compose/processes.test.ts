import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createProcessChecks, processesOf } from '../../src/compose/processes.ts'

type Checked = Parameters<typeof createProcessChecks>[0]

async function checked(sandbox: Checked['sandbox'], kinds = processesOf(true)) {
  const lines: unknown[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) })
  const checks = createProcessChecks({ kinds, sandbox, log })
  await checks.warn()
  return { lines, check: checks.check }
}

it('A start where every process can be started warns of none', async () => {
  const { lines, check } = await checked({ record: async () => ({ kind: 'none', state: 'off' }) })
  expect(lines).toEqual([])
  await check()
})

it('A start says why code cannot be run, and what to do', async () => {
  const reason = 'No container engine responds: start it, or set DOCKER_HOST'
  const record = async () => ({ kind: 'docker', state: 'unavailable', reason }) as const
  expect((await checked({ record })).lines).toEqual([
    expect.objectContaining({ kind: 'docker', remedy: reason, msg: 'code cannot be run' }),
  ])
})

it('A start where files cannot be read says so, and so does readiness', async () => {
  const entry = new URL('nowhere.ts', import.meta.url)
  const kind = { name: 'file reader', entry, consequence: 'files cannot be read' }
  const { lines, check } = await checked(undefined, [kind])
  const remedy = expect.stringContaining('npm ci')
  expect(lines).toEqual([expect.objectContaining({ remedy, msg: 'files cannot be read' })])
  await expect(check()).rejects.toThrow(/^Files cannot be read\. Run npm ci/)
})
