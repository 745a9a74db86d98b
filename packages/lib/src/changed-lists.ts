import { AppError } from './errors.ts'

/** A store may have the entries of a list in an order of its own. */
const isSameAccess = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && new Set([...one, ...other]).size === one.length

/**
 * Two people who change who may do something at once must not overwrite each other. Throws `edit_conflict` unless a
 * list is as its editor has read it; null stands for no list.
 */
export function refuseChanged(
  field: string,
  now: readonly string[] | null,
  expected: readonly string[] | null | undefined,
): void {
  if (expected === undefined) return
  if (now && expected ? isSameAccess(now, expected) : now === expected) return
  const param = `expected.${field}`
  const message = `${param}: somebody has changed this list meanwhile, so nothing was changed. Read it again`
  throw new AppError('edit_conflict', message, { param })
}
