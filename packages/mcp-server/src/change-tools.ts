import { hash } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import { DocumentCreated, isSettled } from '@agent-server/schemas/document.ts'
import { refusalOf } from '@agent-server/schemas/invalid-request.ts'
import { DocumentInput, IdempotencyKey } from '@agent-server/schemas/new-document.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Guard, ToolAnswer } from './corpus-tools.ts'
import type { Corpus, RecordChange } from './services.ts'

const MAX_WAIT_SECONDS = 60

const NewDocument = DocumentInput.safeExtend({
  idempotencyKey: IdempotencyKey.optional().describe(
    'Repeating a call with the same key returns the document that was added first. Default: made of the other fields if `text` is given, so that the same call adds nothing twice; a URL is fetched each time.',
  ),
  wait: z
    .number()
    .min(0)
    .max(MAX_WAIT_SECONDS)
    .default(0)
    .describe('Maximum number of seconds to wait until the document is `ready` or `failed`.'),
  // A misspelt `collection` would show the document to all.
}).strict()

interface Services {
  corpus: Pick<Corpus, 'add' | 'documents'>
  caller: Caller
  /** Where the caller is. */
  address: string
  recordChange: RecordChange
}

/** Adds the tools that change what others see. Each call is in the audit log like the request that does the same. */
export function addChangeTools(server: McpServer, services: Services, guarded: Guard): void {
  const { corpus, caller, address, recordChange } = services
  /** Records an operation of the contract before it is acknowledged, refusals included. */
  const recorded = async (
    action: string,
    body: unknown,
    work: () => Promise<{ status: number; answer: Record<string, unknown>; text: string }>,
  ): Promise<ToolAnswer> => {
    const change = { caller, address, action, body }
    try {
      const { status, answer, text } = await work()
      await recordChange({ ...change, status, answer: JSON.stringify(answer) })
      return { text, structured: answer }
    } catch (error) {
      if (error instanceof AppError) await recordChange({ ...change, status: error.status })
      throw error
    }
  }

  const add = async (
    input: DocumentInput,
    { key, wait }: { key: string | undefined; wait: number },
    signal: AbortSignal,
  ) => {
    const { documents } = corpus
    const added = await corpus.add(input, key, signal)
    // One that was added before: a new one is `pending`.
    const created = added.status === 'failed' ? await documents.retry(added.id) : added
    return documents.awaitCompletion(created, { seconds: wait, goal: 'ready' }, signal)
  }

  server.registerTool(
    'add_document',
    {
      title: 'Add a document',
      description:
        'Adds a document with its text, or the page or file at a URL. It is found by `query` once its status is `ready`.',
      inputSchema: unchecked(NewDocument),
      outputSchema: DocumentCreated,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
    (sent, { mcpReq: { signal } }) => {
      const { data, error } = NewDocument.safeParse(sent)
      const { wait, idempotencyKey, ...input } = data ?? { wait: 0 }
      return guarded(() =>
        recorded('createDocument', data ? input : sent, async () => {
          if (error) throw refusalOf(error)
          const document = await add(input, { key: idempotencyKey ?? keyOf(input), wait }, signal)
          return {
            status: isSettled(document) ? 200 : 202,
            answer: document,
            text: describe(document),
          }
        }),
      )
    },
  )
}

/** None for what is at a URL, which may be different each time. */
const keyOf = (input: DocumentInput) =>
  input.text === undefined ? undefined : hash('sha256', JSON.stringify(input), 'base64url')

const describe = ({ id, status, error }: DocumentCreated) =>
  `Document ${id} is ${status}${error ? `: ${error.message}` : ''}.`

/** A schema that shows clients what to send and refuses nothing: the tool does, since refusals are recorded, too. */
function unchecked(schema: z.ZodType) {
  const { '~standard': standard } = schema
  return { '~standard': { ...standard, validate: (value: unknown) => ({ value }) } }
}
