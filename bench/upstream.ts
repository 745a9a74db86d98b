import { createServer, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { DELTA_MARK } from './support/http-client.ts'

/** How answers are sent; set by the parent process before each measurement. */
export interface Pace {
  /** Milliseconds before the first delta. */
  delayMs: number
  deltas: number
  /** Milliseconds between two deltas; 0 sends them as fast as the client reads. */
  intervalMs: number
  /** Makes the upstream call semantic_search with one of these, in turn, until a request contains a tool result. */
  searches?: readonly string[]
}

/** This module: a chat-completions server in a separate process that always sends the same deltas. */
const HEAD = { 'content-type': 'text/event-stream; charset=utf-8' }
const ROLE = chunk({ role: 'assistant', content: '' })
const DELTA = chunk({ content: `word${DELTA_MARK} ` })
const END = `${chunk({}, 'stop')}data: [DONE]\n\n`
/** Inside a text, the quotation marks would be escaped. */
const RESULT = '"role":"tool"'

let calls = 0
let pace: Pace = { delayMs: 10, deltas: 20, intervalMs: 0 }
process.on('message', (next: Pace) => {
  pace = next
  process.send?.({ paced: true })
})
process.on('disconnect', () => process.exit(0))

// Rounds are further apart than the default keep-alive: a connection would close as it is reused.
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  // Such as the list of models.
  if (request.method === 'GET') {
    response.writeHead(404).end()
    return
  }
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
