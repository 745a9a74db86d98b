import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { ScriptedUpstream } from '../scripted-upstream.ts'
import { modelAt } from '../server.ts'
import { MAIN, startServerProcess } from '../server-process.ts'

/** Nobody holds others up for longer. */
export const MAX_HELD_MS = 50

const PROBE = fileURLToPath(new URL('./probe.ts', import.meta.url))
const SAID = /probe at (\S+)/
const Probed = z.object({ used: z.number(), longest: z.number() })

/** A server in a process of its own, and what work costs there. */
export async function startProbedServer(upstream: Pick<ScriptedUpstream, 'url'>) {
  const server = await startServerProcess(modelAt(upstream), {
    command: [process.execPath, '--import', PROBE, MAIN],
  })
  const [, probe = ''] = SAID.exec(await server.said(SAID)) ?? []
  const ask = async () => Probed.parse(await (await fetch(probe)).json())

  return {
    server,
    /** The processor time that the server uses meanwhile, and how long at most its main thread gives nothing else a turn. */
    async costOf(work: () => Promise<unknown>) {
      const before = await ask()
      await work()
      const { used, longest } = await ask()
      return { used: used - before.used, longest }
    },
  }
}
