import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { AppError } from '../errors.ts'
import type { FormPart } from '../lib/form-part.ts'
import { mediaTypeOf } from './content-types.ts'
import { MULTIPART_FORM, watchArrival } from './request-body.ts'
import { CallerLeft } from './shutdown.ts'

const MAX_PARTS = 20
const LONGEST_FIELD = 65_536
const MAX_HEADERS = 20
/** Of boundaries, part headers and fields around a file. */
const MAX_AROUND = 2_000_000

/** The end of the form, or a part of it. */
type Arrival = FormPart | 'end'

/**
 * The parts of a form in the order in which they are sent, read from the request as they are asked for.
 * Throws `invalid_request`, `body_too_large` for a file of more than `mostBytes`, `request_timeout`, and
 * `CallerLeft`; a file that is being read throws the same.
 */
export async function* formParts(
  request: IncomingMessage,
  mostBytes: number,
): AsyncGenerator<FormPart> {
  if (Number(request.headers['content-length'] ?? 0) > mostBytes + MAX_AROUND) {
    throw tooLarge(mostBytes)
  }
  const form = openForm(request, mostBytes)
  const endWatch = watchArrival(request, form.fail)
  request.pipe(form.parser)
  try {
    for (;;) {
      const arrival = await form.next()
      if (arrival === 'end') return
      yield arrival
    }
  } finally {
    endWatch()
    request.unpipe(form.parser)
    form.fail(new CallerLeft())
    // What is still to come has nowhere to go, but must be read for the answer to be.
    request.resume()
  }
}

/** Gathers what the parser finds until it is asked for: a few fields and at most one file, which holds the parser up. */
function openForm(request: IncomingMessage, mostBytes: number) {
  const parser = openParser(request, mostBytes)
  const arrived: Arrival[] = []
  let open: Readable | undefined
  let failure: Error | undefined
  let bell = Promise.withResolvers<void>()

  const ring = () => {
    bell.resolve()
    bell = Promise.withResolvers()
  }
  const arrive = (arrival: Arrival) => {
    arrived.push(arrival)
    ring()
  }
  const fail = (error: Error) => {
    failure ??= error
    open?.destroy(failure)
    ring()
  }

  async function* bytesOf(stream: Readable): AsyncGenerator<Uint8Array> {
    try {
      yield* stream
    } catch (cause) {
      throw failure ?? malformed(cause)
    }
  }

  parser.on('field', (name, value, isNameCut, isCut) => {
    if (isNameCut || isCut) fail(invalid(`The field ${name.slice(0, 100)} is too long`))
    else arrive({ kind: 'field', name, value })
  })
  parser.on('file', (name, stream, fileName, _encoding, mediaType) => {
    open = stream
    stream.on('error', () => fail(malformed()))
    stream.on('limit', () => fail(tooLarge(mostBytes)))
    arrive({ kind: 'file', name, fileName, mediaType, bytes: bytesOf(stream) })
  })
  parser.on('partsLimit', () => fail(invalid(`The form has more than ${MAX_PARTS} parts`)))
  parser.on('finish', () => arrive('end'))
  parser.on('error', () => fail(malformed()))

  return {
    parser,
    fail,
    async next(): Promise<Arrival> {
      for (;;) {
        if (failure) throw failure
        const arrival = arrived.shift()
        if (arrival) return arrival
        await bell.promise
      }
    },
  }
}

function openParser({ headers }: IncomingMessage, mostBytes: number): BusboyInstance {
  const { 'content-type': type = '' } = headers
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': type },
      limits: {
        fileSize: mostBytes,
        parts: MAX_PARTS,
        fieldSize: LONGEST_FIELD,
        headerPairs: MAX_HEADERS,
      },
    })
  } catch (error) {
    throw new AppError('invalid_request', 'The form has no boundary', { cause: error })
  }
}

function malformed(cause?: unknown): AppError {
  return new AppError('invalid_request', 'The form is malformed or incomplete', { cause })
}

function invalid(message: string): AppError {
  return new AppError('invalid_request', message)
}

function tooLarge(mostBytes: number): AppError {
  return new AppError('body_too_large', `The file is larger than ${mostBytes} bytes`, {
    param: 'file',
  })
}

const OTHER = 'other'

/** Put as a route's `constraints`, it has the route answer forms, beside one at the same path for everything else. */
export const MULTIPART = { form: 'multipart' }

/** Tells requests with a form from all others. Where no route takes forms, the route for everything else does. */
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
      mediaTypeOf(headers) === MULTIPART_FORM ? MULTIPART.form : OTHER,
  },
}
