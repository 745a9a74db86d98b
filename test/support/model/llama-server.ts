import { availableParallelism, tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { WeightsName } from '../../../scripts/model/packages.ts'
import { closeAfterUse } from '../close-after-use.ts'
import { freePort, type Launched, launch } from '../server-process.ts'

/** What `npm run test:model -- --short` sets. */
export const isShort = process.env.TEST_MODEL_SHORT === '1'

/** Tokens. */
const MAX_ANSWER = 400
/** On a machine with other work one is much faster than two, which wait for each other. */
const THREADS = process.env.TEST_MODEL_THREADS ?? String(availableParallelism())

const START_MS = 120_000
const POLL_MS = 20

export interface LlamaOptions {
  weights?: WeightsName
  /** Tokens of the window of each slot. */
  context?: number
  slots?: number
  /** Path of a template in the place of the model's own. */
  template?: string
  port?: string
  /** What to wait for: that it listens, which it does before the weights are read, or that it answers. */
  until?: 'listening' | 'ready'
  more?: readonly string[]
}

export interface LlamaServer extends Launched {
  /** As `CHAT_BASE_URL`. */
  url: string
  /** Whether any slot has work. */
  isBusy(): Promise<boolean>
  /** The status of `/health`, or 0 while nothing listens. */
  health(): Promise<number>
  kill(): Promise<void>
}

/** The path that `npm run test:model` gives. */
export function given(name: 'LLAMA_SERVER' | `WEIGHTS_${string}`): string {
  const path = process.env[`TEST_${name}`]
  if (path === undefined) throw new Error(`TEST_${name} is not set: run npm run test:model`)
  return path
}

/** A real `llama-server` on a free port of the loopback; ends with the test or, outside of one, by `kill`. */
export async function startLlamaServer({
  weights = 'smollm2',
  context = 8_192,
  slots = 1,
  template,
  port,
  until = 'ready',
  more = [],
}: LlamaOptions = {}): Promise<LlamaServer> {
  const chosen = port ?? (await freePort())
  const launched = launch({
    directory: tmpdir(),
    command: [
      given('LLAMA_SERVER'),
      ...['--host', '127.0.0.1', '--port', chosen],
      ...['--model', given(`WEIGHTS_${weights.toUpperCase()}`)],
      ...['--ctx-size', String(context * slots), '--parallel', String(slots)],
      ...['--threads', THREADS, '--poll', '0', '--jinja', '--slots', '--seed', '1'],
      // A small model may go on until its window is full.
      ...['--predict', String(MAX_ANSWER)],
      ...(template === undefined ? [] : ['--chat-template-file', template]),
      ...more,
    ],
  })
  const url = `http://127.0.0.1:${chosen}`
  const server: LlamaServer = Object.assign(launched, {
    url: `${url}/v1`,
    async isBusy() {
      return Slots.parse(await (await fetch(`${url}/slots`)).json()).some(
        (slot) => slot.is_processing,
      )
    },
    health: () =>
      fetch(`${url}/health`).then(
        ({ status }) => status,
        () => 0,
      ),
    async kill() {
      launched.send('SIGKILL')
      await launched.exited
    },
  })
  closeAfterUse(server.kill)
  const expected = until === 'ready' ? [200] : [200, 503]
  const deadline = AbortSignal.timeout(START_MS)
  let ended = false
  void launched.exited.then(() => {
    ended = true
  })
  while (!expected.includes(await server.health())) {
    if (ended || deadline.aborted) throw new Error(`No model's server:\n${launched.stderr}`)
    await pause(POLL_MS)
  }
  return server
}

const Slots = z.array(z.looseObject({ is_processing: z.boolean() }))
