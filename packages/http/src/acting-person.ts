import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '@agent-server/lib/errors.ts'
import { composed } from '@agent-server/lib/fields.ts'
import { keepNewest } from '@agent-server/lib/keep-newest.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import {
  type Caller,
  checkScope,
  MAX_GROUP_LENGTH,
  MAX_GROUPS,
  MAX_PERSON_LENGTH,
  type Person,
} from '@agent-server/schemas/operator/api-key.ts'

const USER = 'agent-user'
const GROUPS = 'agent-user-groups'

/**
 * The caller as the person for whom its program speaks, if the headers name one. Throws `insufficient_scope` unless
 * the key is trusted to. The person has what the key permits, but never administers or speaks for others.
 */
export function actingFor(caller: Caller, headers: IncomingHttpHeaders): Caller {
  if (headers[USER] === undefined && headers[GROUPS] === undefined) return caller
  if (caller.person) {
    throw new AppError('insufficient_scope', 'Only a program with a key can act for people')
  }
  checkScope(caller, 'act-as')
  const person = personIn(headers)
  const scopes = caller.scopes.filter((scope) => scope !== 'admin' && scope !== 'act-as')
  return { ...caller, person, scopes }
}

function personIn(headers: IncomingHttpHeaders): Person {
  const id = headerOf(headers, USER)
  // Two headers with this name arrive as one, with a comma.
  if (!id || id.includes(',')) {
    throw refusal('Agent-User', 'must be the id of one person; send %2C for a comma in it')
  }
  return {
    id: `user:${decoded('Agent-User', id, MAX_PERSON_LENGTH)}`,
    groups: groupsIn(headerOf(headers, GROUPS) ?? ''),
    isAdministrator: false,
  }
}

/** The parsed values of the latest headers: a person sends the same with each request. */
const lastGroups = new Map<string, readonly string[]>()
const MAX_LAST_GROUPS = 500

function groupsIn(header: string): readonly string[] {
  const last = lastGroups.get(header)
  if (last) return last
  const named = header
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '')
  if (named.length > MAX_GROUPS) {
    throw refusal('Agent-User-Groups', `must be at most ${MAX_GROUPS} groups`)
  }
  const groups = named.map((group) => decoded('Agent-User-Groups', group, MAX_GROUP_LENGTH))
  const different = [...new Set(groups)]
  keepNewest(lastGroups, header, different, MAX_LAST_GROUPS)
  return different
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  return headers[name]?.toString().trim()
}

function decoded(field: string, encoded: string, most: number): string {
  const text = composed(percentDecoded(field, encoded))
  if (text.trim() === '' || text.length > most) {
    throw refusal(field, `must have 1 to ${most} characters each`)
  }
  if (/\p{Cc}/u.test(text)) throw refusal(field, 'must not contain control characters')
  return text
}

function percentDecoded(field: string, text: string): string {
  try {
    // Headers are read as Latin-1: other bytes would become other characters.
    if (/^[\x20-\x7e]*$/.test(text)) return decodeURIComponent(text)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
  }
  const message = `${field}: must be ASCII, with everything else, and %, percent-encoded as UTF-8`
  throw new AppError('invalid_request', message, { param: field })
}
