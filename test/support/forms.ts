import { readFileSync } from 'node:fs'
import { TEST_KEY, type TestServer } from './server.ts'

export interface FileToSend {
  name: string
  bytes: Uint8Array<ArrayBuffer> | string
  type?: string
  /** The fields before the file, and after it. */
  before?: Record<string, string>
  after?: Record<string, string>
}

export interface SendOptions {
  method?: 'POST' | 'PUT'
  path?: string
  headers?: Record<string, string>
}

/** Sends a file as browsers and curl do; waits for its ingestion unless the path says otherwise. */
export function sendFile(
  server: Pick<TestServer, 'url'>,
  { name, bytes, type = '', before = {}, after = {} }: FileToSend,
  { method = 'POST', path = '/documents?wait=30', headers = {} }: SendOptions = {},
): Promise<Response> {
  const form = new FormData()
  for (const [field, value] of Object.entries(before)) form.append(field, value)
  form.append('file', new File([bytes], name, { type }))
  for (const [field, value] of Object.entries(after)) form.append(field, value)
  return sendForm(server, form, { method, path, headers })
}

export function sendForm(
  server: Pick<TestServer, 'url'>,
  body: FormData,
  { method = 'POST', path = '/documents?wait=30', headers = {} }: SendOptions = {},
): Promise<Response> {
  const authorization = `Bearer ${TEST_KEY}`
  return fetch(`${server.url}${path}`, { method, body, headers: { authorization, ...headers } })
}

/** A file of test/fixtures/files. */
export function fixture(name: string): Buffer<ArrayBuffer> {
  const bytes = readFileSync(new URL(`../fixtures/files/${name}`, import.meta.url))
  return Buffer.from(Uint8Array.from(bytes).buffer)
}

/** An upload that has begun and never ends by itself. */
export function openUpload(server: Pick<TestServer, 'url'>) {
  const leaving = new AbortController()
  const beginning = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nText'
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(beginning)),
  })
  const options = { method: 'POST', body, duplex: 'half', signal: leaving.signal } as const
  const answer = fetch(`${server.url}/documents`, {
    ...options,
    headers: {
      authorization: `Bearer ${TEST_KEY}`,
      'content-type': 'multipart/form-data; boundary=b',
    },
  })
  answer.catch(() => undefined)
  return { answer, leave: () => leaving.abort() }
}
