import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { startHttp } from './mcp-servers.ts'

const Value = z.union([
  z.object({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
  z
    .object({ intValue: z.union([z.number(), z.string()]) })
    .transform(({ intValue }) => Number(intValue)),
  z.object({ doubleValue: z.number() }).transform(({ doubleValue }) => doubleValue),
  z.looseObject({}),
])
const Attributes = z
  .array(z.object({ key: z.string(), value: Value }))
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value])))
const Span = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes: Attributes,
  status: z.looseObject({ code: z.number().optional() }),
})
export type ReceivedSpan = z.output<typeof Span>
const Metric = z.looseObject({ name: z.string() })
const Record = z.looseObject({
  severityNumber: z.number(),
  body: Value,
  attributes: Attributes,
  traceId: z.string().optional(),
})
type ReceivedRecord = z.output<typeof Record>
const Export = z.object({
  resourceSpans: z
    .array(
      z.looseObject({
        resource: z.looseObject({ attributes: Attributes }),
        scopeSpans: z.array(z.looseObject({ spans: z.array(Span) })),
      }),
    )
    .optional(),
  resourceMetrics: z
    .array(z.object({ scopeMetrics: z.array(z.object({ metrics: z.array(Metric) })) }))
    .optional(),
  resourceLogs: z
    .array(z.object({ scopeLogs: z.array(z.object({ logRecords: z.array(Record) })) }))
    .optional(),
})

/** A receiver of OTLP over HTTP in JSON on the loopback, in the place of a collector. */
export async function startOtlpReceiver() {
  const spans: ReceivedSpan[] = []
  const services = new Set<unknown>()
  let text = ''
  const metrics = new Map<string, unknown>()
  const records: ReceivedRecord[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await json(request)
    text += JSON.stringify(body)
    const { resourceSpans = [], resourceMetrics = [], resourceLogs = [] } = Export.parse(body)
    for (const { resource, scopeSpans } of resourceSpans) {
      services.add(resource.attributes['service.name'])
      spans.push(...scopeSpans.flatMap((scope) => scope.spans))
    }
    for (const metric of resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics))
      for (const { name, ...value } of metric.metrics) metrics.set(name, value)
    for (const { scopeLogs } of resourceLogs)
      records.push(...scopeLogs.flatMap(({ logRecords }) => logRecords))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }
  const { url } = await startHttp((request, response) => {
    receive(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    )
  })
  return {
    spans,
    services,
    /** What was told last of each metric. */
    metrics,
    records,
    /** All that was sent. */
    sent: () => text,
    /** What has a server send its traces, metrics and logs here, soon. */
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_BLRP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '200',
      OTEL_METRIC_EXPORT_TIMEOUT: '200',
    },
  }
}
