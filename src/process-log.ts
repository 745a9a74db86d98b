import type { Environment } from '@agent-server/lib/environment.ts'
import { logIgnored } from '@agent-server/lib/ignore.ts'
import { hideSecrets } from '@agent-server/lib/secrets.ts'
import { type DestinationStream, pino } from 'pino'
import type { Config } from './config.ts'
import { createLogSender } from './telemetry.ts'

const PRETTY = {
  target: 'pino-pretty',
  options: { ignore: 'pid,hostname,reqId', translateTime: 'SYS:HH:MM:ss', singleLine: true },
}
/** Opened once: a restart within the process continues with it. */
let output: DestinationStream | undefined

/**
 * Logs to standard output (formatted on a terminal, JSON elsewhere), to the activity that the web UI shows, and to
 * OpenTelemetry if asked to.
 */
export function createLog(
  { LOG_LEVEL: level }: Config,
  environment: Environment,
  activity?: Pick<DestinationStream, 'write'>,
) {
  const redact = { paths: ['*.authorization', '*.apiKey', '*.headers.authorization'], remove: true }
  const options = { level, redact }
  output ??= process.stdout.isTTY ? pino.transport(PRETTY) : pino.destination(1)
  const outputs = [output, activity, createLogSender(environment)].filter(
    (each) => each !== undefined,
  )
  const streams = outputs.map((each) => ({ level: 'trace' as const, stream: withoutSecrets(each) }))
  const log = pino(options, pino.multistream(streams))
  logIgnored(log)
  return log
}

/** At the border, since a secret may be in a cause or a stack of whatever is logged. */
function withoutSecrets(to: Pick<DestinationStream, 'write'>): DestinationStream {
  return { write: (line) => void to.write(hideSecrets(line)) }
}
