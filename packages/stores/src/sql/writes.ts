import { createAcceptedWrites } from './accepted.ts'
import { createArtifactWrites } from './artifacts.ts'
import { createAuditWrites } from './audit.ts'
import { createKeyWrites, createVectorWrites } from './chunks.ts'
import { createClock } from './clock.ts'
import { createNameWrites } from './collection-names.ts'
import { createCollectionWrites } from './collections.ts'
import { createContextWrites } from './contexts.ts'
import { createConversationWrites } from './conversations.ts'
import type { Dialect } from './dialect.ts'
import { createDocumentWrites, createEndWrites } from './documents.ts'
import { createQuestionWrites } from './evaluation.ts'
import { createEvaluationWrites } from './evaluation-runs.ts'
import { createFeedbackWrites } from './feedback.ts'
import { createForgottenFiles, FILE_WRITES } from './files.ts'
import { createClaimEndWrites, createClaimWrites, createCompletionWrites } from './jobs.ts'
import { createApiKeyWrites } from './keys.ts'
import { MCP_ACCOUNT_WRITES } from './mcp-accounts.ts'
import { createOutboxWrites } from './outbox.ts'
import { createPeopleWrites } from './people.ts'
import type { Tx } from './query.ts'
import { createRunWrites } from './runs.ts'
import { createSourceWrites } from './sources.ts'
import { createUsageWrites } from './usage.ts'

/** Everything that changes the database, by name; each is one transaction. */
export function createWrites(dialect: Dialect, queueLimit: number) {
  const clock = createClock()
  return {
    check: clock.check,
    ...createClaimWrites(dialect),
    ...createClaimEndWrites(dialect),
    ...createCompletionWrites(dialect),
    ...createDocumentWrites(dialect, queueLimit),
    ...createEndWrites(dialect),
    ...FILE_WRITES,
    dropForgotten: createForgottenFiles(clock),
    ...createNameWrites(dialect),
    ...createCollectionWrites(dialect),
    ...createAcceptedWrites(dialect),
    ...createApiKeyWrites(dialect, clock),
    ...createArtifactWrites(dialect, clock),
    ...createAuditWrites(clock),
    ...createContextWrites(dialect),
    ...createConversationWrites(dialect, clock),
    ...createEvaluationWrites(dialect),
    ...createFeedbackWrites(dialect),
    ...createKeyWrites(dialect),
    ...MCP_ACCOUNT_WRITES,
    ...createOutboxWrites(dialect, clock),
    ...createPeopleWrites(dialect),
    ...createQuestionWrites(dialect),
    ...createRunWrites(dialect, clock),
    ...createSourceWrites(dialect, clock),
    ...createUsageWrites(dialect, clock),
    ...createVectorWrites(dialect),
  }
}

export type Writes = ReturnType<typeof createWrites>
export type WriteName = keyof Writes
type Calls = {
  [Name in WriteName]: Writes[Name] extends (tx: Tx, ...input: infer Input) => Promise<infer Output>
    ? { input: Input; output: Output }
    : never
}
type WriteInput<Name extends WriteName> = Calls[Name]['input']
type WriteOutput<Name extends WriteName> = Calls[Name]['output']

/** One change with its input. */
export type Write<Name extends WriteName = WriteName> = {
  [Each in Name]: { name: Each; input: WriteInput<Each> }
}[Name]

/** The writes as functions. Each runs in a transaction, and resolves once that is durable. */
export type WriteCalls = {
  [Name in WriteName]: (...input: WriteInput<Name>) => Promise<WriteOutput<Name>>
}

/**
 * Whether a write may change what somebody sees, that is chunks, documents, collections and who has a role in them,
 * and whose a conversation is: after it, all that is known of this is read anew. New conversations and items may push
 * out old ones without it: what is known may then name documents of these, but each is checked again as it is read.
 */
const CHANGES_VIEW: Record<WriteName, boolean> = {
  acceptTools: false,
  add: true,
  addArtifact: false,
  addCollection: true,
  addContexts: true,
  addConversation: false,
  addItems: false,
  addKey: false,
  addKeyUse: false,
  addNextVectors: false,
  addPiece: false,
  addRuns: false,
  addSession: false,
  addUsage: false,
  addVectors: false,
  appendAudit: false,
  beginEvaluation: false,
  beginFile: false,
  beginVectors: false,
  changeCollection: true,
  changeConversation: false,
  check: false,
  claimJobs: false,
  claimMcpAccount: false,
  claimSessionCheck: false,
  completeJob: true,
  completeStaged: true,
  delete: true,
  dropForgotten: false,
  dropStaged: false,
  enableOutbox: false,
  endAnswer: false,
  endEvaluation: false,
  endLeases: false,
  failJob: true,
  forgetAccess: false,
  heartbeatEvaluation: false,
  holdUsage: false,
  keepSkills: false,
  limitPerson: false,
  nameCollection: false,
  noteFile: false,
  noteSource: false,
  patchLabels: true,
  postponeEvent: false,
  put: true,
  putFeedback: false,
  putQuestions: false,
  recoverJobs: false,
  releaseJob: false,
  removeArtifact: false,
  removeCollection: true,
  removeConversation: true,
  removeEvent: false,
  removeFeedback: false,
  removeItem: false,
  removeKey: true,
  removeMcpAccount: false,
  removeOldAudit: false,
  removeOldKey: true,
  removeOldSessions: false,
  removePerson: true,
  removeQuestion: false,
  removeSession: false,
  removeSessionsOf: false,
  removeUsageBefore: false,
  renewClaims: false,
  renewKey: false,
  renewMcpAccount: false,
  renewSession: false,
  reopenAnswer: false,
  reserveChunkKeys: false,
  reserveCollections: false,
  retireChunkKeys: false,
  retry: true,
  saveMcpAccount: false,
  seePerson: false,
  seeTools: false,
  swapVectors: false,
  takeEvents: false,
  takeSources: false,
  useSession: false,
  writeAnswer: false,
}

/** Whether `noteChange` must follow in the same transaction. */
export const isVisible = ({ name }: Write) => CHANGES_VIEW[name]

/** Runs a write within the caller's transaction. */
export function runWrite<Name extends WriteName>(
  writes: {
    [Each in WriteName]: (tx: Tx, ...input: WriteInput<Each>) => Promise<WriteOutput<Each>>
  },
  tx: Tx,
  { name, input }: Write<Name>,
): Promise<WriteOutput<Name>> {
  return writes[name](tx, ...input)
}

/** Makes functions of the writes; `run` returns what `runWrite` has returned for the same write. */
export function callsOf(writes: Writes, run: (write: Write) => Promise<unknown>): WriteCalls {
  const calls = Object.keys(writes).map((name) => [
    name,
    (...input: unknown[]) => run({ name, input } as Write),
  ])
  // The types cannot say that each name comes with its own input and output.
  return Object.fromEntries(calls) as WriteCalls
}
