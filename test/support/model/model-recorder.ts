import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { closeAfterUse } from '../close-after-use.ts'

/** One request for an answer, in any protocol, with what the model's server told about it. */
export interface RecordedCall {
  body: z.output<typeof Body>
  /** What the model is told before the conversation, whatever the protocol calls it. */
  instructions: string
  status: number
  answer: string
  /** Tokens of the prompt: those read from the cache, and those that were evaluated. */
  cached: number
  evaluated: number
  predicted: number
}

export interface ModelRecorder {
  /** As `CHAT_BASE_URL`. */
  url: string
  calls: RecordedCall[]
  /** Requests that have come and are neither answered nor given up. */
  readonly open: number
  close(): void
}

const Body = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).default([]),
  tools: z.array(z.unknown()).optional(),
  /** Of Responses. */
  instructions: z.unknown().optional(),
  /** Of Messages. */
  system: z.unknown().optional(),
})

/** Where the protocols are asked for answers. */
const ANSWERS = ['/chat/completions', '/responses', '/messages']

const Timings = z.object({
  timings: z.object({
    cache_n: z.number(),
    prompt_n: z.number(),
    predicted_n: z.number(),
  }),
})

/** Stands between the server and a real model's server, passes everything on and keeps what was said. */
export async function startModelRecorder(target: { url: string }): Promise<ModelRecorder> {
  const origin = new URL(target.url).origin
  const calls: RecordedCall[] = []
  let open = 0
  const server = createServer((incoming, response) => {
    open += 1
    response.on('close', () => {
      open -= 1
    })
    passOn(origin, incoming, response, calls).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  closeAfterUse(close)
  const { port } = z
    .object({ port: z.number() })
    .parse(server.address()) satisfies Partial<AddressInfo>
  return {
    url: `http://127.0.0.1:${port}/v1`,
    calls,
    close,
    get open() {
      return open
    },
  }
}

async function passOn(
  origin: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  calls: RecordedCall[],
): Promise<void> {
  const sent = await text(incoming)
  const { method = 'GET', url = '/' } = incoming
  const { host: _host, 'transfer-encoding': _coding, ...headers } = incoming.headers
  const outgoing = send(new URL(url, origin), { method, headers })
  response.on('close', () => outgoing.destroy())
  outgoing.end(sent)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  response.writeHead(answer.statusCode ?? 502, answer.headers)
  response.flushHeaders()
  let [said, held] = ['', '']
  answer.setEncoding('utf8')
  try {
    for await (const part of answer) {
      said += part
      response.write(held)
      held = part
    }
  } finally {
    // Also where the server has heard enough and leaves.
    if (ANSWERS.some((path) => url.endsWith(path))) {
      calls.push(toCall(sent, answer.statusCode ?? 0, said))
    }
  }
  // So that whoever has the whole answer finds it among the calls.
  response.end(held)
}

function toCall(sent: string, status: number, answer: string): RecordedCall {
  const body = Body.parse(JSON.parse(sent))
  const system = body.messages.filter(({ role }) => role === 'system')
  const instructions = JSON.stringify([body.instructions, body.system, system])
  return { body, instructions, status, answer, ...timingsIn(answer) }
}

/** What llama-server tells in its last chunk, or in the whole answer. */
function timingsIn(answer: string): Pick<RecordedCall, 'cached' | 'evaluated' | 'predicted'> {
  const bodies = answer.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line.replace(/^data: /, ''))]
    } catch {
      return []
    }
  })
  const found = bodies.findLast((body) => Timings.safeParse(body).success)
  if (!found) return { cached: 0, evaluated: 0, predicted: 0 }
  const { timings } = Timings.parse(found)
  return { cached: timings.cache_n, evaluated: timings.prompt_n, predicted: timings.predicted_n }
}
