import { Readable } from 'node:stream'
import { sendEvents } from '@agent-server/http/event-stream.ts'
import { lineFormat } from '@agent-server/http/ndjson.ts'
import { NDJSON } from '@agent-server/http/request-body.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { shareOf } from '@agent-server/schemas/operator/api-key.ts'
import {
  AuditEntry,
  AuditExportQuery,
  AuditPage,
  AuditQuery,
} from '@agent-server/schemas/operator/audit.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Audit } from '../operator/audit/audit.ts'
import { changeEntry, documentsIn } from '../operator/audit/targets.ts'

/** The audit log, for the operator: nothing here changes it. */
export const auditRoutes: FastifyPluginAsyncZod<{ audit: Audit }> = async (app, { audit }) => {
  app.get('/admin/audit', {
    schema: {
      operationId: 'listAudit',
      summary: 'List who did what',
      description:
        'Returns sign-ins, changes, exports, and which documents people have read, by their ids, for `AUDIT_DAYS`. Nobody can change or delete entries over the API.',
      querystring: AuditQuery,
      response: { 200: AuditPage.describe('A page of entries.'), ...errorResponses() },
    },
    handler: ({ query, caller }) => audit.list(query, shareOf(caller)),
  })

  app.get('/admin/audit/export', {
    schema: {
      operationId: 'exportAudit',
      summary: 'Export who did what',
      description:
        'Returns one `AuditEntry` per line, newest first. If the export fails midway, the last line is an `Error`.',
      querystring: AuditExportQuery,
      response: {
        200: { description: 'The entries.', content: { [NDJSON]: { schema: AuditEntry } } },
        ...errorResponses(),
      },
    },
    handler: ({ query, caller }, reply) => {
      const entries = audit.export(query, shareOf(caller), callSignal(reply))
      return sendEvents(reply, entries, lineFormat())
    },
  })
}

/** Reads that leave the server in one piece. */
const EXPORTS = ['exportAudit', 'exportFeedback', 'exportJudgedQuestions', 'exportUsage']
const READS = ['GET', 'HEAD', 'OPTIONS']
/** Scopes whose requests change what others see. */
const CHANGING = ['ingest', 'admin'] as const

/** Records every change and export that is answered, before the answer is sent. */
export function installAudit(app: FastifyInstance, audit: Pick<Audit, 'record'>): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const action = auditedAction(request)
    // What failed on the side of the server, as the store itself, has changed nothing that was acknowledged.
    if (action === undefined || reply.statusCode >= 500) return payload
    const { caller, ip: address, params, body } = request
    const { statusCode: status } = reply
    const event = changeEntry({ caller, address, action, status, params, body, answer: payload })
    const recording = audit.record(event)
    // A refusal is still returned: nothing was changed without a record.
    if (status >= 400) await recording.catch((error: unknown) => request.log.warn(error, NOT_KEPT))
    else await recording
    if (!(payload instanceof Readable) || EXPORTS.includes(action)) return payload
    return recorded(payload, (documents) =>
      audit.record({ ...event, targets: { ...event.targets, documents } }),
    )
  })
}

const NOT_KEPT = 'a refused request is not in the audit log'

/** A stream of lines, none of which is sent before the documents that it names are in the log. */
function recorded(lines: Readable, record: (documents: string[]) => Promise<void>): Readable {
  async function* each() {
    for await (const chunk of lines) {
      for (const documents of documentsIn(String(chunk))) await record(documents)
      yield chunk
    }
  }
  const stream = Readable.from(each())
  stream.once('close', () => lines.destroy())
  return stream
}

// As the route's schema has read it: a route without one does what it is asked to, whatever the query says.
const DryRun = z.object({ dryRun: z.literal(true) })
const Sharing = z.object({ access: z.array(z.unknown()) })

function auditedAction({
  method,
  routeOptions,
  caller,
  query,
  body,
}: FastifyRequest): string | undefined {
  const { operationId } = routeOptions.schema ?? {}
  const { scopes = [], recordsChanges } = routeOptions.config
  const isTrial = DryRun.safeParse(query).success
  // Who was not let in has done nothing; a link is opened by whoever has it.
  const hasCaller = Boolean(caller)
  if (!hasCaller || isTrial || operationId === undefined) return undefined
  if (EXPORTS.includes(operationId)) return operationId
  if (operationId === 'updateConversation' && Sharing.safeParse(body).success) return operationId
  const changes =
    !(READS.includes(method) || recordsChanges) && CHANGING.some((scope) => scopes.includes(scope))
  return changes ? operationId : undefined
}
