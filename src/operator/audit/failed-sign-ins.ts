import { createAddressLimit } from '@agent-server/lib/address-limit.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Audit } from './audit.ts'

/** Notes of an address within a minute: nobody who has no account fills the log. */
const MAX_NOTES = 20

export type NoteFailure = ReturnType<typeof createFailureNotes>

/** Notes sign-ins that failed, and why. Without a log, notes nothing. */
export function createFailureNotes(audit: Pick<Audit, 'note'> | undefined) {
  const limit = createAddressLimit(MAX_NOTES)
  return (address: string, error: unknown): void => {
    if (limit.waitSeconds(address) > 0) return
    limit.count(address)
    const code = error instanceof AppError ? error.code : 'internal'
    audit?.note({ who: 'stranger', address, action: 'signInFailed', targets: { code } })
  }
}
