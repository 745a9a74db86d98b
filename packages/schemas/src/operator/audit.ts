import { optional } from '@agent-server/lib/fields.ts'
import { z } from 'zod'

const Who = z.string().min(1).max(300)
const Action = z.string().min(1).max(64)
const Target = z.string().min(1).max(300)
const At = z.iso.datetime({ offset: true }).max(64)

const FILTERS = {
  who: optional(Who).describe(
    'Only of this person or key: `user:…`, `key:…`, `master`, `stranger`.',
  ),
  action: optional(Action).describe(
    'Only this action, such as `signIn`, `read` or `deleteDocument`.',
  ),
  target: optional(Target).describe(
    'Only what was done to this: the id of a document, a key or a person, or the name of a collection.',
  ),
  since: optional(At).describe('Only from this time on.'),
  until: optional(At).describe('Only before this time.'),
}

export const AuditQuery = z.object({
  ...FILTERS,
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('How many to return.'),
  cursor: optional(z.string().regex(/^\d{1,15}$/, 'is not a cursor')).describe(
    '`nextCursor` of the page before.',
  ),
})

export const AuditExportQuery = z.object(FILTERS)

export const AuditEntry = z
  .object({
    number: z
      .int()
      .describe('Number of the entry, in order; a gap is an entry that was never written.'),
    at: z.iso.datetime().describe('When it happened.'),
    who: z
      .string()
      .describe(
        'The person, `user:…`; the key, `key:…`; `master` for the SERVER_API_KEY; `stranger` for a caller that was refused.',
      ),
    address: z.string().optional().describe('Address of the caller; absent for what a run did.'),
    action: z
      .string()
      .describe(
        'The `operationId` of a change or an export, or `signIn`, `signInFailed`, `signOut`, `read`.',
      ),
    status: z.int().optional().describe('The HTTP status of the answer, if there is one.'),
    targets: z
      .record(z.string(), z.union([z.string(), z.array(z.string())]))
      .describe(
        'Identifiers of the objects concerned, and names of the fields that changed; no content.',
      ),
  })
  .meta({ id: 'AuditEntry' })

export const AuditPage = z
  .object({
    entries: z.array(AuditEntry).describe('The newest first.'),
    nextCursor: z.string().optional().describe('Of the next page; absent on the last one.'),
  })
  .meta({ id: 'AuditPage' })

export type AuditEntry = z.output<typeof AuditEntry>
export type AuditPage = z.output<typeof AuditPage>
export type AuditQuery = z.output<typeof AuditQuery>
export type AuditExportQuery = z.output<typeof AuditExportQuery>
