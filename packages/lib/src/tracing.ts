import type { Attributes, Span } from '@opentelemetry/api'
import { codeOf } from './system-error.ts'
import {
  context,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from './telemetry-api.ts'

/** Without an exporter, its spans are the API's no-op spans, which record nothing and cost next to nothing. */
const tracer = () => trace.getTracer('agent-server')

interface SpanOptions {
  attributes: Attributes
  /** Whether another server does the work. */
  isRemote?: boolean
}

/** Characters of each text that a span quotes. */
const MAX_QUOTED = 20_000
let isContentShown = false

/** Whether spans quote what people, models and tools say, from now on. */
export function showContent(isShown: boolean): void {
  isContentShown = isShown
}

export const showsContent = (): boolean => isContentShown

/** An attribute that quotes content, as JSON: none unless content is to be shown. */
export function quote(name: string, content: () => unknown): Attributes {
  if (!isContentShown) return {}
  const cut = (_name: string, value: unknown) =>
    typeof value === 'string' ? value.slice(0, MAX_QUOTED) : value
  return { [name]: JSON.stringify(content(), cut) }
}

/** The meter for metrics; counts nothing unless OpenTelemetry was started before. */
export const meter = () => metrics.getMeter('agent-server')

/** Does the work in its own span. The span holds the kind of an error, never its message, which may quote content. */
export function inSpan<Result>(
  name: string,
  { attributes, isRemote }: SpanOptions,
  work: (span: Pick<Span, 'setAttributes'>) => Promise<Result>,
): Promise<Result> {
  return tracer().startActiveSpan(name, { attributes, kind: kindOf(isRemote) }, async (span) => {
    try {
      return await work(span)
    } catch (error) {
      fail(span, error)
      throw error
    } finally {
      span.end()
    }
  })
}

export type StreamSpan = ReturnType<typeof openSpan>

/** Like `inSpan`, for a stream: its span is a child of the caller's, whoever reads it. The stream must end it. */
export function openSpan(name: string, { attributes, isRemote }: SpanOptions) {
  const parent = context.active()
  const span = tracer().startSpan(name, { attributes, kind: kindOf(isRemote) }, parent)
  const within = trace.setSpan(parent, span)
  return {
    setAttributes: (more: Attributes) => void span.setAttributes(more),
    fail: (error: unknown) => fail(span, error),
    end: () => span.end(),
    /** The same stream, whose work has the span as its parent. */
    around<Value, Result>(values: AsyncGenerator<Value, Result>): AsyncGenerator<Value, Result> {
      if (!span.isRecording()) return values
      const [next, leave] = [values.next.bind(values), values.return.bind(values)]
      return Object.assign(values, {
        next: () => context.with(within, next),
        return: (result: Result) => context.with(within, leave, undefined, result),
      })
    },
  }
}

function kindOf(isRemote = false) {
  return isRemote ? SpanKind.CLIENT : SpanKind.INTERNAL
}

function fail(span: Span, error: unknown): void {
  const name = error instanceof Error ? error.name : 'unknown'
  failAs(span, codeOf(error) ?? name)
}

function failAs(span: Span, kind: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.setAttribute('error.type', kind)
}

/**
 * The headers that tell another server which trace its work belongs to (W3C Trace Context). A caller's baggage is not
 * passed on.
 */
export function traceHeaders(): Record<string, string> {
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  const { baggage: _own, ...headers } = carrier
  return headers
}

/** Starts the span of an incoming request, within the trace that the request names, if any. */
export function startRequestSpan(
  name: string,
  attributes: Attributes,
  headers: Record<string, unknown>,
) {
  const parent = propagation.extract(ROOT_CONTEXT, headers)
  const span = tracer().startSpan(name, { attributes, kind: SpanKind.SERVER }, parent)
  const within = trace.setSpan(parent, span)
  return {
    traceId: span.spanContext().traceId,
    run: (work: () => void) => context.with(within, work),
    end(status: number) {
      span.setAttribute('http.response.status_code', status)
      if (status >= 500) failAs(span, String(status))
      span.end()
    },
  }
}
