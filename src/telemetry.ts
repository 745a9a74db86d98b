import { DiagLogLevel, diag } from '@opentelemetry/api'
import type { FastifyBaseLogger } from 'fastify'
import { startDeadline, untilAborted } from './lib/abort.ts'

/** What is left to be sent gets this long at the end. */
const FLUSH_MS = 5_000

/** Whether the standard variables ask for traces to be sent somewhere. */
function isAsked(environment: NodeJS.ProcessEnv): boolean {
  const { OTEL_SDK_DISABLED: off, OTEL_TRACES_EXPORTER: exporter } = environment
  if (off?.toLowerCase() === 'true' || exporter === 'none') return false
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = environment
  return Boolean(exporter || all || own)
}

/**
 * Sends traces as the `OTEL_*` variables say, which OpenTelemetry itself reads; nothing, and nothing loaded, where none
 * names an exporter. Metrics are at `/metrics`, logs on standard output. Answers what is sent at the end.
 */
export async function startTelemetry(
  environment: NodeJS.ProcessEnv,
  log: FastifyBaseLogger,
): Promise<{ close: () => Promise<void> } | undefined> {
  if (!isAsked(environment)) return undefined
  environment.OTEL_SERVICE_NAME ??= 'agent-server'
  environment.OTEL_METRICS_EXPORTER ??= 'none'
  environment.OTEL_LOGS_EXPORTER ??= 'none'
  const { startNodeSdk } = await import('@opentelemetry/sdk-node')
  const sdk = startNodeSdk()
  const warn = (message: string) => log.warn({ telemetry: message }, 'traces are not sent')
  const quiet = () => undefined
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  log.info('traces are sent')
  return {
    async close() {
      using deadline = startDeadline(FLUSH_MS)
      await untilAborted(sdk.shutdown(), deadline.signal).catch((error: unknown) =>
        warn(String(error)),
      )
    },
  }
}
