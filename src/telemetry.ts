import { startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import {
  context,
  DiagLogLevel,
  diag,
  logs,
  metrics,
  propagation,
  trace,
} from '@agent-server/lib/telemetry-api.ts'
import { showContent } from '@agent-server/lib/tracing.ts'
import type { FastifyBaseLogger } from 'fastify'
import { z } from 'zod'

/** How long unsent telemetry gets at shutdown to be sent. */
const FLUSH_MS = 5_000
/** Pino's levels are 10, 20 and so on; OpenTelemetry has four severity numbers for each. */
const LEVEL = 10
const NUMBERS_OF_LEVEL = 4

const SIGNALS = ['TRACES', 'METRICS', 'LOGS'] as const

/** Whether the standard `OTEL_*` variables ask for a signal to be exported. */
function isAsked(environment: NodeJS.ProcessEnv, signal: (typeof SIGNALS)[number]): boolean {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false
  const exporter = environment[`OTEL_${signal}_EXPORTER`]
  if (exporter) return exporter !== 'none'
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all } = environment
  return Boolean(all || environment[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`])
}

/** Whether spans quote messages, as the instrumentations of OpenTelemetry itself are asked to. */
function asksForContent(environment: NodeJS.ProcessEnv): boolean {
  const setting = environment.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT ?? ''
  return /^(true|span_only|span_and_event)$/i.test(setting)
}

interface Telemetry {
  isTraced: boolean
  /** Sends what is still unsent. */
  close(): Promise<void>
  /** Like `close`, but first logs why the start failed. */
  fail(error: unknown): Promise<void>
}

/**
 * Exports traces, metrics and logs as the `OTEL_*` variables say, which OpenTelemetry itself reads. If they name no
 * exporter, loads nothing and returns undefined. Instruments must be created after this call.
 */
export async function startTelemetry(
  environment: NodeJS.ProcessEnv,
  log: FastifyBaseLogger,
): Promise<Telemetry | undefined> {
  const signals = SIGNALS.filter((signal) => isAsked(environment, signal))
  if (signals.length === 0) return undefined
  environment.OTEL_SERVICE_NAME ??= 'agent-server'
  for (const signal of SIGNALS) {
    if (!signals.includes(signal)) environment[`OTEL_${signal}_EXPORTER`] = 'none'
  }
  showContent(asksForContent(environment))
  const { startNodeSdk } = await import('@opentelemetry/sdk-node')
  const sdk = startNodeSdk()
  const warn = (message: string) => log.warn({ telemetry: message }, 'sending telemetry failed')
  const quiet = () => undefined
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  log.info({ sent: signals.map((signal) => signal.toLowerCase()) }, 'sending telemetry')
  let closed: Promise<void> | undefined
  const shutDown = async () => {
    using deadline = startDeadline(FLUSH_MS)
    await untilAborted(sdk.shutdown(), deadline.signal).catch((error: unknown) =>
      warn(String(error)),
    )
    showContent(false)
    // A server that starts after this one in the same process could not register its own otherwise.
    for (const api of [trace, metrics, logs, context, propagation, diag]) api.disable()
  }
  const close = () => {
    closed ??= shutDown()
    return closed
  }
  return {
    isTraced: signals.includes('TRACES'),
    close,
    fail(error) {
      if (!closed) log.fatal({ err: error }, 'the start failed')
      return close()
    },
  }
}

const LogLine = z
  .object({ level: z.number(), time: z.number(), msg: z.string().optional() })
  .catchall(z.json())

/** A pino stream that passes log lines on to OpenTelemetry as log records; undefined if logs are not exported. */
export function createLogSender(environment: NodeJS.ProcessEnv) {
  if (!isAsked(environment, 'LOGS')) return undefined
  return {
    write(line: string): void {
      const parsed = LogLine.parse(JSON.parse(line))
      const { level, time, msg: body, pid: _pid, hostname: _host, ...attributes } = parsed
      // Skip lines that report a failed export: exporting them would fail and be logged again,
      // for ever.
      if (attributes.telemetry !== undefined) return
      const severityNumber = (level / LEVEL - 1) * NUMBERS_OF_LEVEL + 1
      logs.getLogger('agent-server').emit({ timestamp: time, severityNumber, body, attributes })
    },
  }
}
