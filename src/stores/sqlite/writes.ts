import type { DatabaseSync } from 'node:sqlite'
import { createCompletionWrites } from './completion-writes.ts'
import { createDocumentWrites } from './document-writes.ts'
import { createFileWrites } from './file-writes.ts'
import { createClaimWrites, createOutcomeWrites } from './job-writes.ts'
import { createMetaWrites } from './meta-writes.ts'
import { createOutboxWrites } from './outbox-writes.ts'
import { createVectorWrites } from './vector-writes.ts'

/** Everything that changes the database, by name. */
export type Writes = ReturnType<typeof createWrites>
export type WriteName = keyof Writes
export type WriteInput = { [Name in WriteName]: Parameters<Writes[Name]>[0] }
export type WriteOutput = { [Name in WriteName]: ReturnType<Writes[Name]> }

/** One change on its way to the writer's thread. */
export type Write<Name extends WriteName = WriteName> = {
  [Each in Name]: { name: Each; input: WriteInput[Each] }
}[Name]

export function createWrites(database: DatabaseSync, queueLimit: number) {
  const sql = database.createTagStore()
  return {
    ...createDocumentWrites(sql, queueLimit),
    ...createFileWrites(sql),
    ...createClaimWrites(sql),
    ...createCompletionWrites(database, sql),
    ...createOutcomeWrites(sql),
    ...createMetaWrites(sql),
    ...createOutboxWrites(sql),
    ...createVectorWrites(sql),
  }
}

export function runWrite<Name extends WriteName>(
  writes: { [Each in WriteName]: (input: WriteInput[Each]) => WriteOutput[Each] },
  write: Write<Name>,
): WriteOutput[Name] {
  return writes[write.name](write.input)
}
