import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeAfterUse } from './close-after-use.ts'

interface Answer {
  status?: number
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Is waited for before the answer. */
  after?: Promise<unknown>
}

export interface Site {
  url: string
  requests: { path: string; headers: IncomingHttpHeaders }[]
  /** From now on answered for a path; what is not served is 404. With an `etag` requests that name it are answered 304. */
  serve(path: string, answer: Answer): void
  close(): Promise<void>
}

/** A web site on the loopback; closes itself, but in a hook. */
export async function startSite(): Promise<Site> {
  const answers = new Map<string, Answer>()
  const requests: Site['requests'] = []
  const server = createServer(({ url: path = '', headers: asked }, response) => {
    requests.push({ path, headers: asked })
    const { status = 200, headers = {}, body = '', after } = answers.get(path) ?? { status: 404 }
    const isKnown = headers.etag !== undefined && asked['if-none-match'] === headers.etag
    const answer = () => {
      response.writeHead(isKnown ? 304 : status, { 'content-type': 'text/html', ...headers })
      response.end(isKnown ? undefined : body)
    }
    if (after) void after.then(answer)
    else answer()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  closeAfterUse(close)
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close,
    serve: (path, answer) => void answers.set(path, answer),
  }
}
