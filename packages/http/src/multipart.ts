import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { codeOf } from '@agent-server/lib/system-error.ts'
import type { FormPart } from '@agent-server/schemas/new-document.ts'
import multipart, { type MultipartFile, type MultipartValue } from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { contentTypeOf, declaredBytes, MULTIPART_FORM, watchArrival } from './request-body.ts'
import { CallerLeft } from './shutdown.ts'

const MAX_PARTS = 20
const MAX_FIELD_BYTES = 65_536
const MAX_HEADERS = 20
/** Allowance for the boundaries, part headers and fields around a file. */
const MAX_AROUND_BYTES = 2_000_000

/** Lets the routes of this plugin take forms, which their handlers read as a stream. */
export async function acceptForms(app: FastifyInstance): Promise<void> {
  const limits = { parts: MAX_PARTS, fieldSize: MAX_FIELD_BYTES, headerPairs: MAX_HEADERS }
  await app.register(multipart, { limits })
}

/**
 * The parts of a form in the order in which they were sent, read from the request on demand. Throws
 * `invalid_request`, `body_too_large` for a file of more than `maxBytes`, `request_timeout` and `CallerLeft`; so
 * does a file that is being read.
 */
export async function* formParts(
  request: FastifyRequest,
  maxBytes: number,
  maxParts = MAX_PARTS,
): AsyncGenerator<FormPart> {
  const { raw } = request
  refuseLarge(declaredBytes(raw.headers), maxBytes, maxParts > MAX_PARTS)

  const failed = Promise.withResolvers<never>()
  void ignore(failed.promise, 'only counts while a part is awaited')
  let open: Readable | undefined
  const fail = (error: Error) => {
    failed.reject(error)
    open?.destroy(error)
  }
  const endWatch = watchArrival(raw, fail)
  const parts = request.parts({ limits: { fileSize: maxBytes, parts: maxParts } })
  try {
    for (;;) {
      const { value: part, done } = await Promise.race([parts.next(), failed.promise])
      if (done) return
      if (part.type === 'file') open = part.file
      yield part.type === 'file' ? fileOf(part, maxBytes) : fieldOf(part)
    }
  } catch (error) {
    throw explain(error, maxBytes, maxParts)
  } finally {
    endWatch()
    raw.unpipe()
    fail(new CallerLeft())
    // The rest is discarded, but must be read for the answer to be read.
    raw.resume()
  }
}

function refuseLarge(declared: number, maxBytes: number, isMany: boolean): void {
  if (!Number.isFinite(declared) || declared <= maxBytes + MAX_AROUND_BYTES) return
  throw tooLarge(maxBytes, isMany ? 'The files together are' : undefined)
}

function fieldOf({ fieldname: name, value, ...field }: MultipartValue): FormPart {
  if (field.fieldnameTruncated || field.valueTruncated) {
    throw invalid(`The field ${name.slice(0, 100)} is too long`)
  }
  // The plugin has already parsed fields whose type is JSON.
  return { kind: 'field', name, value: typeof value === 'string' ? value : JSON.stringify(value) }
}

function fileOf(part: MultipartFile, maxBytes: number): FormPart {
  const { fieldname: name, filename: fileName, mimetype: mediaType } = part
  return { kind: 'file', name, fileName, mediaType, bytes: bytesOf(part, maxBytes) }
}

async function* bytesOf({ file }: MultipartFile, maxBytes: number): AsyncGenerator<Uint8Array> {
  try {
    yield* file
  } catch (error) {
    throw explain(error, maxBytes)
  }
  if (file.truncated) throw tooLarge(maxBytes)
}

/** Translates errors of the plugin and its parser to those of this server. */
function explain(error: unknown, maxBytes: number, maxParts = MAX_PARTS): unknown {
  if (error instanceof AppError || error instanceof CallerLeft) return error
  const code = codeOf(error)
  if (code === 'FST_MP_PREMATURE_CLOSE' || code === 'ECONNRESET') return new CallerLeft()
  if (code === 'FST_REQ_FILE_TOO_LARGE') return tooLarge(maxBytes)
  if (code === 'FST_PARTS_LIMIT') return invalid(`The form has more than ${maxParts} parts`)
  if (code === 'FST_INVALID_JSON_FIELD_ERROR') return invalid('A form field is not valid JSON')
  if (error instanceof Error && /boundary/i.test(error.message))
    return invalid('The form has no boundary', error)
  return invalid('The form is invalid or incomplete', error)
}

function invalid(message: string, cause?: unknown): AppError {
  return new AppError('invalid_request', message, { cause })
}

function tooLarge(maxBytes: number, what = 'The file is'): AppError {
  return new AppError('body_too_large', `${what} larger than ${maxBytes} bytes`, {
    param: 'file',
  })
}

const OTHER = 'other'

/** As a route's `constraints`: the route takes forms; another at the same path takes everything else. */
export const MULTIPART = { form: 'multipart' }

/** Separates form requests from all others. If no route takes forms, the route for everything else does. */
export const formRouting = {
  form: {
    name: 'form',
    mustMatchWhenDerived: false,
    storage<Route>() {
      const routes = new Map<string, Route>()
      return {
        get: (key: string) => routes.get(key) ?? null,
        set: (key: string, route: Route) => void routes.set(key, route),
      }
    },
    deriveConstraint: ({ headers }: IncomingMessage) =>
      contentTypeOf(headers) === MULTIPART_FORM ? MULTIPART.form : OTHER,
  },
}
