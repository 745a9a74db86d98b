import type { ModelTest } from '../../packages/client/src/agent-server.ts'
import { formatDay, formatNumber, formatSeconds } from '../format.ts'
import { ErrorNote, Status } from '../parts/notes.tsx'

const TOOLS = {
  called: 'calls tools',
  ignored: 'was offered a tool but did not call it',
  none: 'does not support tools',
}

const IMAGES = {
  seen: 'sees images',
  ignored: 'accepts images but did not see the one it was shown',
  none: 'does not accept images',
}

const REASONING = {
  none: 'shows no reasoning',
  summary: 'shows summaries of its reasoning',
  text: 'shows its reasoning',
}

const APIS = {
  responses: 'Responses API',
  'chat-completions': 'chat completions',
  messages: 'Messages API',
}

function chatFacts(chat: NonNullable<ModelTest['chat']>) {
  const { api, firstMilliseconds, promptTokens, streams, tokensPerSecond, reasoning } = chat
  const estimated = chat.promptTokensEstimated ? 'about ' : ''
  return [
    api && APIS[api],
    firstMilliseconds !== undefined && `first words after ${formatSeconds(firstMilliseconds)}`,
    streams ? 'streams' : 'does not stream',
    tokensPerSecond !== undefined && `writes ${tokensPerSecond} tokens a second`,
    TOOLS[chat.tools],
    IMAGES[chat.images],
    reasoning && REASONING[reasoning],
    `window of ${formatNumber(chat.window)} tokens`,
    promptTokens !== undefined &&
      `a first question costs ${estimated}${formatNumber(promptTokens)} tokens`,
  ]
}

/** The result of testing a model. */
export function TestResult({
  test: { ok, error, model, milliseconds, closesOn, warning, chat, embedding, reranking },
}: {
  test: ModelTest
}) {
  const facts = [
    formatSeconds(milliseconds),
    ...(chat ? chatFacts(chat) : []),
    embedding && `${embedding.dimension} dimensions`,
    closesOn && !warning && `the provider closes it on ${formatDay(closesOn)}`,
    reranking && (reranking.ranksRight ? 'ranks correctly' : 'ranks the wrong passage first'),
  ]
  return (
    <div role="status" class="stack">
      <Status tone={ok ? 'good' : 'bad'}>
        {model} {ok ? 'works' : 'fails'}: {facts.filter(Boolean).join(', ')}
      </Status>
      {warning && <Status tone="bad">{warning}</Status>}
      {chat && chat.leftOut.length > 0 && (
        <p class="hint">The window has no room for these tools: {chat.leftOut.join(', ')}.</p>
      )}
      {chat?.answer && <blockquote>{chat.answer}</blockquote>}
      {error && <ErrorNote message={error} />}
    </div>
  )
}
