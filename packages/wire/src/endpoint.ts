import { type FrameFormat, sendEvents } from '@agent-server/http/event-stream.ts'
import { publicOrigin } from '@agent-server/http/public-origin.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import type { ChatModel } from '@agent-server/models'
import type { AgentFields } from '@agent-server/schemas/chat.ts'
import { within } from '@agent-server/schemas/collection.ts'
import type { ErrorBody } from '@agent-server/schemas/error.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyReply } from 'fastify'
import { type Agent, type AgentEvent, type AgentRequest, asksForJson } from './agent-event.ts'
import { type AgentNames, plainName, readModelName } from './models.ts'
import { attachFiles, type ReadFiles, type SentFile } from './sent-files.ts'

/** A protocol in which the agent's answers are streamed to clients. */
export interface StreamDialect<Body, Event, Read extends Exchange<Event> = Exchange<Event>> {
  /**
   * Reads a validated request; `origin` is where the caller can open pages of the server, if that is known. Throws
   * AppError, `invalid_request` among others.
   */
  read(body: Body, caller: Caller, origin?: string): Read | Promise<Read>
  /** Writes an event of a streamed answer, as a server-sent event unless `kind` names another format. */
  encode(event: Event): string
  kind?: FrameFormat<Event>['kind']
  /** Written after the last event of an answer that did not fail. */
  end: string
  /** The end of a streamed answer that failed. */
  encodeFailure(body: ErrorBody): string
}

/** A protocol in which answers are also sent whole. */
export type Dialect<Body, Event, Whole> = StreamDialect<Body, Event, WholeExchange<Event, Whole>>

/** One request in a protocol, and its answer. */
interface Exchange<Event> {
  request: AgentRequest
  /** Files in the messages, to be read before the run begins. */
  files?: readonly SentFile[] | undefined
  /** Called with the request and the text of its files, before the run begins. */
  begin?(request: AgentRequest): void
  /** Converts events of the run, in their order; may hold some back until the answer begins. */
  write(events: readonly AgentEvent[]): Event[] | Promise<Event[]>
  /** The end of a streamed answer that failed, if it depends on what has been written; else the dialect's. */
  encodeFailure?(body: ErrorBody): string
}

interface WholeExchange<Event, Whole> extends Exchange<Event> {
  /** The answer as one object, once `write` has had `run-end`. */
  whole(): Whole
}

/** What a dialect needs to know of the agent. */
export interface DialectSettings extends AgentNames {
  defaultTopK: number
  /** The address at which clients reach the server, if it is configured. */
  publicUrl?: string | undefined
  chatModel: Pick<ChatModel, 'name' | 'generates' | 'supportsTools' | 'supportsImages'>
}

/** What the routes of a dialect are registered with. */
export interface DialectServices {
  agent: Agent
  dialects: DialectSettings
  readFiles: ReadFiles
}

/** Streams answers of the agent; a failure before the first event becomes an HTTP error. */
export function createStream<Body, Event>(
  services: DialectServices,
  dialect: StreamDialect<Body, Event>,
) {
  const { encode, end, kind } = dialect
  return (body: Body, reply: FastifyReply): void => {
    const signal = callSignal(reply)
    let exchange: Exchange<Event> | undefined
    const begin = async () => {
      exchange = await read(services, dialect, body, reply, signal)
      return exchange
    }
    const encodeError = (failure: ErrorBody) =>
      exchange?.encodeFailure?.(failure) ?? dialect.encodeFailure(failure)
    sendEvents(reply, answerEvents(services.agent, begin, signal), {
      encode,
      end,
      encodeError,
      ...(kind && { kind }),
    })
  }
}

/** Answers requests of a dialect with the agent, as a stream or whole. */
export function createEndpoint<Body, Event, Whole>(
  services: DialectServices,
  dialect: Dialect<Body, Event, Whole>,
) {
  return {
    stream: createStream(services, dialect),
    async whole(body: Body, reply: FastifyReply): Promise<Whole> {
      const signal = callSignal(reply)
      const exchange = await read(services, dialect, body, reply, signal)
      for await (const events of services.agent.run(exchange.request, signal)) {
        await exchange.write(events)
      }
      return exchange.whole()
    },
  }
}

async function read<Body, Event, Read extends Exchange<Event>>(
  { dialects: { chatModel, publicUrl }, readFiles }: DialectServices,
  dialect: StreamDialect<Body, Event, Read>,
  body: Body,
  reply: FastifyReply,
  signal: AbortSignal,
): Promise<Read> {
  const { caller } = reply.request
  const exchange = await dialect.read(body, caller, publicOrigin(reply.request, publicUrl))
  const request = await attachFiles(exchange.request, exchange.files ?? [], readFiles, signal)
  exchange.begin?.(request)
  warnOfIgnored(request, chatModel, reply)
  const plain = isSideTask(request) && { isPlain: true, topK: 0 }
  return { ...exchange, request: { ...request, ...plain } }
}

/** How front ends begin what they ask for themselves: titles, tags and follow-ups of Open WebUI, opencode and others. */
const TASK_OF_FRONT_END =
  /^### Task:\s|^Generate a (?:concise |short |brief )?title for (?:this|the following) conversation\b/
const WRITER_OF_TITLES = /^You are a (?:conversation )?title generator\b/

function isSideTask({ messages, instructions, clientTools }: AgentRequest): boolean {
  if (clientTools.length > 0) return false
  const question = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  return (
    TASK_OF_FRONT_END.test(question) || instructions.some((text) => WRITER_OF_TITLES.test(text))
  )
}

/** Names in the header `warnings` what a client asks for and the model cannot do. */
function warnOfIgnored(
  request: AgentRequest,
  { generates, supportsTools, supportsImages }: DialectSettings['chatModel'],
  reply: FastifyReply,
): void {
  const ignored = [
    ...(request.clientTools.length > 0 && !supportsTools ? ['tools'] : []),
    ...(asksForJson(request) && !generates ? ['response format'] : []),
    ...(hasImages(request) && !supportsImages ? ['images'] : []),
    ...(request.files?.length && !generates ? ['files'] : []),
  ]
  if (ignored.length > 0) warn(reply, `ignored by the model: ${ignored.join(', ')}`)
  const foreign = [...new Set(request.foreignTools)].slice(0, MAX_NAMED).map(printable)
  if (foreign.length > 0) warn(reply, `tools of these types are left out: ${foreign.join(', ')}`)
}

/** Types of tools that a header names. */
const MAX_NAMED = 20
const printable = (type: string) => type.replaceAll(/[^\x21-\x7e]/g, '?')

function warn(reply: FastifyReply, warning: string): void {
  const others = reply.getHeader('warnings')
  reply.header('warnings', others === undefined ? warning : `${others}; ${warning}`)
}

const hasImages = ({ messages }: AgentRequest) =>
  messages.some((message) => message.role === 'user' && message.images?.length)

type Start<Event> = Pick<Exchange<Event>, 'request' | 'write'>

/** Runs the agent; yields the protocol's events in non-empty batches. */
export async function* answerEvents<Event>(
  agent: Agent,
  begin: () => Start<Event> | Promise<Start<Event>>,
  signal: AbortSignal,
): AsyncGenerator<Event[]> {
  const { request, write } = await begin()
  for await (const events of agent.run(request, signal)) {
    const written = await write(events)
    if (written.length > 0) yield written
  }
}

/** The part of a run's request that has the same fields in every protocol. */
export function readAgentFields(
  fields: AgentFields & { model?: string | null | undefined },
  { modelName, agents, defaultTopK }: DialectSettings,
) {
  const {
    topK,
    minScore,
    filter,
    rewrite,
    resume,
    mode,
    effort,
    citationCheck,
    conversationId: sessionId,
    model,
  } = fields
  const isPlain = model === plainName(modelName)
  const { agent = modelName, collection } = readModelName(model ?? '', { modelName, agents })
  return {
    ...(isPlain && { isPlain }),
    ...(agent !== modelName && { agent }),
    topK: isPlain ? 0 : (topK ?? defaultTopK),
    minScore,
    filter: within({ filter, collection: fields.collection ?? collection }),
    rewrite,
    resume,
    mode,
    effort,
    citationCheck,
    sessionId,
  }
}
