import { createRequire } from 'node:module'

/**
 * The API of OpenTelemetry as prom-client loads it: an `import` would load it a second time, 51 modules. Both know the
 * same exporters.
 */
export const {
  context,
  DiagLogLevel,
  diag,
  logs,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
}: typeof import('@opentelemetry/api') = createRequire(import.meta.url)('@opentelemetry/api')
