import type { ModelTest } from '../../packages/client/src/agent-server.ts'
import { formatSeconds } from '../format.ts'
import { ErrorNote, Status } from '../parts/notes.tsx'

const TOOLS = {
  called: 'calls tools',
  ignored: 'was offered a tool but did not call it',
  none: 'does not support tools',
}

function chatFacts(chat: NonNullable<ModelTest['chat']>) {
  const { firstMilliseconds, promptTokens, streams, tokensPerSecond, tools, window } = chat
  return [
    firstMilliseconds !== undefined && `first words after ${formatSeconds(firstMilliseconds)}`,
    streams ? 'streams' : 'does not stream',
    tokensPerSecond !== undefined && `writes ${tokensPerSecond} tokens a second`,
    TOOLS[tools],
    `window of ${window} tokens`,
    promptTokens !== undefined && `the first question uses ${promptTokens}`,
  ]
}

/** What a model did when it was asked. */
export function Found({
  test: { ok, error, model, milliseconds, chat, embedding, reranking },
}: {
  test: ModelTest
}) {
  const facts = [
    formatSeconds(milliseconds),
    ...(chat ? chatFacts(chat) : []),
    embedding && `${embedding.dimension} dimensions`,
    reranking && (reranking.ranksRight ? 'ranks correctly' : 'ranks the wrong passage first'),
  ]
  return (
    <div role="status" class="stack">
      <Status tone={ok ? 'good' : 'bad'}>
        {model} {ok ? 'works' : 'fails'}: {facts.filter(Boolean).join(', ')}
      </Status>
      {chat && chat.leftOut.length > 0 && (
        <p class="hint">The window has no room for these tools: {chat.leftOut.join(', ')}.</p>
      )}
      {chat?.answer && <blockquote>{chat.answer}</blockquote>}
      {error && <ErrorNote message={error} />}
    </div>
  )
}
