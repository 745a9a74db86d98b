import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

/**
 * Sends a POST and resolves with the head of the answer. Node's own client instead of `fetch`: it takes half
 * a millisecond less to the first byte, and bounds no silence, which is the watchdog's to do. Follows no
 * redirect: that would turn the POST into a GET, and the failure into a riddle.
 */
export function post(
  url: URL,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const all = { ...headers, 'content-length': Buffer.byteLength(body) }
    request(url, { method: 'POST', headers: all, ...(signal && { signal }) }, resolve)
      .on('error', reject)
      .end(body)
  })
}
