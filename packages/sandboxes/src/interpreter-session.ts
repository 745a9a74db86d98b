import { startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { createOrder } from '@agent-server/lib/in-order.ts'
import { createNextAnswer } from '@agent-server/lib/next-answer.ts'
import { z } from 'zod'
import type { SandboxChannel } from './channel.ts'
import { createFrameReader, encodeFrame, type Frame } from './frames.ts'
import type { SandboxLimits } from './limits.ts'
import {
  BYTES_PER_KILOBYTE,
  BYTES_PER_MEGABYTE,
  isFileName,
  MAX_CODE,
  MAX_FILES,
  MAX_STDIN,
  type RunRequest,
  type RunResult,
  type SandboxSession,
} from './sandbox.ts'

/** From the start of the interpreter until it can run code: usually two seconds, but longer on a busy machine. */
const START_MS = 50_000

const Ready = z.object({ ready: z.literal(true) })
const Result = z.object({
  exitCode: z.int(),
  outputCut: z.boolean(),
  names: z.array(z.string()).max(MAX_FILES),
  filesLeftOut: z.int().min(0),
})

/** The most bytes that go into one run or come out of it: its files, and its code and input, or output. */
export function maximumPayload({ fileMegabytes, outputKilobytes }: SandboxLimits): number {
  const textBytes = outputKilobytes * BYTES_PER_KILOBYTE + (MAX_CODE + MAX_STDIN) * 3
  return fileMegabytes * BYTES_PER_MEGABYTE + textBytes
}

/** The open sessions of one sandbox; closing it kills them all. */
export function createInterpreterSessions(limits: SandboxLimits) {
  const sessions = new Set<SandboxSession>()
  return {
    /** Waits until the interpreter is ready; if it is late, kills it and throws AppError `sandbox_unavailable`. */
    async open(channel: SandboxChannel, signal: AbortSignal): Promise<SandboxSession> {
      const frames = readFrames(channel, limits)
      using deadline = startDeadline(START_MS, signal)
      try {
        const first = await untilAborted(frames.next(), deadline.signal)
        Ready.parse(first.header)
      } catch (cause) {
        await channel.kill()
        signal.throwIfAborted()
        throw new AppError('sandbox_unavailable', 'The sandbox does not start', { cause })
      }
      const session = createSession(channel, frames, limits)
      sessions.add(session)
      void channel.ended.then(() => sessions.delete(session))
      return session
    },
    async close(): Promise<void> {
      await Promise.all([...sessions].map(({ kill }) => kill()))
    },
  }
}

function createSession(
  channel: SandboxChannel,
  frames: ReturnType<typeof readFrames>,
  limits: SandboxLimits,
): SandboxSession {
  let alive = true
  const inOrder = createOrder()
  void channel.ended.then(() => {
    alive = false
  })
  const kill = () => {
    alive = false
    return channel.kill()
  }

  async function run(request: RunRequest, signal: AbortSignal): Promise<RunResult> {
    signal.throwIfAborted()
    const started = performance.now()
    const seconds = Math.min(request.seconds ?? limits.seconds, limits.seconds)
    using deadline = startDeadline(seconds * 1_000, signal)
    const milliseconds = () => Math.round(performance.now() - started)
    if (!alive) return unfinished('crashed', 0)
    try {
      for (const bytes of encodeJob(request)) channel.input.write(bytes)
      const frame = await untilAborted(frames.next(), deadline.signal)
      return { ...readResult(frame), milliseconds: milliseconds() }
    } catch {
      await kill()
      signal.throwIfAborted()
      return unfinished(deadline.isOver ? 'timed-out' : 'crashed', milliseconds())
    }
  }

  return {
    get alive() {
      return alive
    },
    run: (request, signal) => inOrder(() => run(request, signal)),
    kill,
  }
}

function encodeJob({ code, stdin = '', files = [] }: RunRequest): Uint8Array[] {
  const contents = files.map(({ bytes }) => bytes)
  const names = files.map(({ name }) => name)
  return encodeFrame({ names }, [Buffer.from(code), Buffer.from(stdin), ...contents])
}

function readResult({ header, parts }: Frame): Omit<RunResult, 'milliseconds'> {
  const { names, filesLeftOut, ...rest } = Result.parse(header)
  const [stdout, stderr, ...contents] = parts
  const files = names
    .map((name, index) => ({ name, bytes: contents[index] ?? Buffer.alloc(0) }))
    .filter(({ name }) => isFileName(name))
  return {
    outcome: 'finished',
    ...rest,
    stdout: stdout?.toString() ?? '',
    stderr: stderr?.toString() ?? '',
    files,
    filesLeftOut: filesLeftOut + names.length - files.length,
  }
}

const unfinished = (outcome: RunResult['outcome'], milliseconds: number): RunResult => ({
  outcome,
  milliseconds,
  exitCode: undefined,
  stdout: '',
  stderr: '',
  outputCut: false,
  files: [],
  filesLeftOut: 0,
})

/** The incoming frames, one for each `next`; an unexpected frame ends the sandbox. */
function readFrames(channel: SandboxChannel, limits: SandboxLimits) {
  const answers = createNextAnswer<Frame>()
  const accept = createFrameReader(maximumPayload(limits), (frame) => {
    if (!answers.give(frame)) throw new Error('Unexpected frame')
  })
  channel.output.on('data', (chunk: Buffer) => {
    try {
      accept(chunk)
    } catch (error) {
      answers.end(error instanceof Error ? error : new Error(String(error)))
      channel.output.removeAllListeners('data').resume()
      void ignore(channel.kill(), 'the next run fails, too: it kills again and reports why')
    }
  })
  // A broken pipe is reported as the end of the interpreter.
  channel.input.on('error', () => undefined)
  channel.output.on('error', answers.end)
  void channel.ended.then((reason) => answers.end(new Error(`The interpreter ended: ${reason}`)))

  return answers
}
