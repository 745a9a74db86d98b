import { openSpan, quote, type StreamSpan } from '@agent-server/lib/tracing.ts'
import { spanAnswer, spanMessages } from '@agent-server/models'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { Agent, AgentEvent, AgentRequest, RunEnd } from '@agent-server/wire'
import type { CallerSearch, Retrieval } from '../../retrieval/search.ts'
import { type OpenRun, openRun } from './open-run.ts'
import { answerQuery, type Query, type QueryAnswer } from './query.ts'
import { Rounds } from './rounds.ts'
import { begin, type Dependencies, type RunContext } from './run-context.ts'

/** The agent, which also answers searches alone. */
export interface SearchingAgent extends Agent {
  /** Searches what the caller may see, with no answer. Throws AppError like `run`. */
  query(
    query: Query,
    from: { caller: Caller; retrieval: Retrieval<CallerSearch> },
    signal: AbortSignal,
  ): Promise<QueryAnswer>
}

export function createAgent(parts: Dependencies): SearchingAgent {
  return {
    query: (query, from, signal) => answerQuery({ ...parts, ...from }, query, signal),
    run(request, signal) {
      const attributes = {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': parts.name,
        'gen_ai.conversation.id': request.sessionId ?? request.conversationId,
        ...quote('gen_ai.input.messages', () => spanMessages(request.messages)),
      }
      const span = openSpan(`invoke_agent ${parts.name}`, { attributes })
      return span.around(run(parts, request, span, signal))
    },
  }
}

/** The one generator between the model's and the protocol's: what comes in one batch of the model leaves as one. */
async function* run(
  parts: Dependencies,
  request: AgentRequest,
  span: StreamSpan,
  signal: AbortSignal,
): AsyncGenerator<readonly AgentEvent[]> {
  using _held = parts.hold?.()
  let opened: OpenRun | undefined
  let context: RunContext | undefined
  let rounds: Rounds | undefined
  try {
    opened = await openRun(parts, request, signal)
    context = yield* begin(parts, request, opened, signal)
    yield context.searches.splice(0)
    rounds = new Rounds(parts, request, context, signal)
    while (!rounds.isOver) {
      if (rounds.hasCalls) {
        yield rounds.beginCalls()
        yield* rounds.runCalls()
        continue
      }
      const next = await rounds.beginTurn()
      if (!next) {
        yield await rounds.stopped()
        continue
      }
      const { turn, batches } = next
      try {
        for await (const batch of batches) yield turn.take(batch)
        yield turn.end()
      } catch (error) {
        yield turn.breakOff(error)
        rounds.refit(turn, error)
      } finally {
        await turn.charge()
      }
      yield await rounds.endTurn(turn)
    }
    yield await rounds.judge()
  } catch (error) {
    opened?.slot.fail(error, signal)
    span.fail(error)
    throw error
  } finally {
    opened?.close(rounds?.end)
    endSpan(span, context, rounds?.end)
  }
}

function endSpan(span: StreamSpan, context: RunContext | undefined, end: RunEnd | undefined): void {
  const content = context?.answerText.shown ?? ''
  const answer = () => spanAnswer({ role: 'assistant', content }, end?.reason)
  span.setAttributes(quote('gen_ai.output.messages', answer))
  span.end()
}
