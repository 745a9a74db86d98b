import { invalidRequest } from '@agent-server/schemas/invalid-request.ts'
import type { FormPart } from '@agent-server/schemas/new-document.ts'
import type { FastifyInstance, FastifyReply } from 'fastify'

const MAX_NAMED = 10
/** In characters, of a field name, which the client chose. */
const MAX_NAME = 60

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent, before validation changed it. */
    sentBody?: unknown
  }
}

/**
 * Lists unknown fields of a JSON body in the header `warnings`: a misspelt one would otherwise be ignored silently.
 * With `?strict=true` they are refused with `invalid_request`.
 */
export function installFieldWarnings(app: FastifyInstance): void {
  app.decorateRequest('sentBody', undefined)
  app.addHook('preValidation', async (request) => {
    if (!request.routeOptions.schema?.body) return
    request.sentBody = request.body
  })
  app.addHook('preHandler', async (request, reply) => {
    const names = unknownFields(request.sentBody, request.body)
    request.sentBody = undefined
    nameUnknown(names, reply)
  })
}

/** The parts of a form. Fields that are not among the `known` ones are dealt with as those of a JSON body. */
export async function* withFieldWarnings(
  parts: AsyncIterable<FormPart>,
  known: readonly string[],
  reply: FastifyReply,
): AsyncGenerator<FormPart> {
  const names = new Set<string>()
  for await (const part of parts) {
    // Clients write each member of an object as a field: `expires_after[seconds]`.
    const [name = ''] = part.name.split('[')
    if (part.kind === 'field' && !known.includes(name)) names.add(printable(name))
    yield part
  }
  nameUnknown([...names], reply)
}

function nameUnknown(names: readonly string[], reply: FastifyReply): void {
  const few = names.slice(0, MAX_NAMED)
  if (few.length === 0) return
  if (/[?&]strict=true(?:&|$)/.test(reply.request.url)) {
    const issues = few.map((field) => ({ field, message: 'is not a field of this request' }))
    throw invalidRequest(issues, undefined)
  }
  reply.header('warnings', `unknown fields: ${few.join(', ')}`)
}

const printable = (name: string) => name.replaceAll(/[^\w.$-]/g, '?').slice(0, MAX_NAME)

/** The paths of fields that were sent but are not in the validated value. Null counts as left out. */
function unknownFields(input: unknown, parsed: unknown, path = ''): string[] {
  // A value passed through unchanged may have any depth.
  if (input === parsed || !isObject(input) || !isObject(parsed)) return []
  const entries = Object.entries(input).slice(0, MAX_FIELDS)
  return entries.flatMap(([name, value]) => {
    if (value === parsed[name] && Object.hasOwn(parsed, name)) return []
    const place = path + printable(name)
    if (!Object.hasOwn(parsed, name)) return value === null ? [] : [place]
    return unknownFields(value, parsed[name], `${place}.`)
  })
}

/** Fields of one object, or items of one list, that are checked. */
const MAX_FIELDS = 1_000

/** Whether a value is an object or array parsed from JSON, and not an unread body, which is a stream. */
function isObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
}
