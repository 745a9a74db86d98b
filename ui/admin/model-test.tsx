import type { ModelTest } from '../../client/src/agent-server.ts'
import { formatSeconds } from '../format.ts'
import { ErrorNote, Status } from '../parts/notes.tsx'

const TOOLS = {
  called: 'calls tools',
  ignored: 'was given a tool and did not call it',
  none: 'takes no tools',
}

/** What a model did when it was asked. */
export function Found({
  test: { ok, error, model, milliseconds, chat, embedding, reranking },
}: {
  test: ModelTest
}) {
  const facts = [
    formatSeconds(milliseconds),
    chat?.firstMilliseconds !== undefined &&
      `first words after ${formatSeconds(chat.firstMilliseconds)}`,
    chat && (chat.streams ? 'streams' : 'answers in one piece'),
    chat && TOOLS[chat.tools],
    embedding && `${embedding.dimension} dimensions`,
    reranking && (reranking.ranksRight ? 'ranks right' : 'ranks the wrong passage first'),
  ]
  return (
    <div role="status" class="stack">
      <Status tone={ok ? 'good' : 'bad'}>
        {model} {ok ? 'works' : 'fails'}: {facts.filter(Boolean).join(', ')}
      </Status>
      {chat?.answer && <blockquote>{chat.answer}</blockquote>}
      {error && <ErrorNote message={error} />}
    </div>
  )
}
