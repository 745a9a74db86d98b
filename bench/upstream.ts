import { createServer, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { DELTA_MARK } from './support/http-client.ts'

/** How the answers go: sent by the parent process before each measurement. */
export interface Pace {
  /** Until the first delta. */
  delayMs: number
  deltas: number
  /** Between two deltas; 0 sends them as fast as the reader takes them. */
  intervalMs: number
  /** Has it call semantic_search with one of these, in turn, until a request holds the result of a tool. */
  searches?: readonly string[]
}

/** A chat-completions server in a process of its own that answers everything with the same deltas, after a call of a tool where it is told so. */
const HEAD = { 'content-type': 'text/event-stream; charset=utf-8' }
const ROLE = chunk({ role: 'assistant', content: '' })
const DELTA = chunk({ content: `word${DELTA_MARK} ` })
const END = `${chunk({}, 'stop')}data: [DONE]\n\n`
/** Within a text its quotation marks would be escaped. */
const RESULT = '"role":"tool"'

let calls = 0
let pace: Pace = { delayMs: 10, deltas: 20, intervalMs: 0 }
process.on('message', (next: Pace) => {
  pace = next
  process.send?.({ paced: true })
})
process.on('disconnect', () => process.exit(0))

// Rounds lie further apart than connections are kept by themselves: one would end just when it is used again.
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  if (pace.searches) {
    void buffer(request).then((body) => {
      const next = body.includes(RESULT) ? begin : callTool
      setTimeout(next, pace.delayMs, response, pace)
    })
    return
  }
  request.resume().on('end', () => setTimeout(begin, pace.delayMs, response, pace))
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))

function begin(response: ServerResponse, { deltas, intervalMs }: Pace): void {
  response.writeHead(200, HEAD)
  response.write(ROLE)
  let left = deltas
  const sendOne = () => {
    left -= 1
    return response.write(DELTA)
  }
  const sendAll = () => {
    while (left > 0) if (!sendOne()) return response.once('drain', sendAll)
    return response.end(END)
  }
  if (intervalMs === 0) {
    sendAll()
    return
  }
  sendOne()
  const timer = setInterval(() => {
    if (left > 0) sendOne()
    else response.end(END)
  }, intervalMs)
  response.on('close', () => clearInterval(timer))
}

function callTool(response: ServerResponse, { searches = [] }: Pace): void {
  const query = searches[calls % searches.length]
  calls += 1
  const call = { name: 'semantic_search', arguments: JSON.stringify({ query }) }
  const tool_calls = [{ index: 0, id: `call_${calls}`, type: 'function', function: call }]
  response.writeHead(200, HEAD)
  response.end(`${ROLE}${chunk({ tool_calls })}${chunk({}, 'tool_calls')}data: [DONE]\n\n`)
}

function chunk(delta: object, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }]
  const head = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench' }
  return `data: ${JSON.stringify({ ...head, choices })}\n\n`
}
