import {
  chunk,
  DONE,
  errorReply,
  event,
  jsonReply,
  rawReply,
  streamReply,
} from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { ANSWER, ANSWERED, inCompletions, WITH_TOOLS } from './recorded.ts'

const noEndpoints = (that: string) =>
  errorReply(404, {
    message: `No endpoints found ${that}. To learn more about provider routing, visit: https://openrouter.ai/docs`,
    code: 404,
  })
const DETAIL = {
  type: 'reasoning.encrypted',
  id: 'rs_1',
  format: 'google-gemini-v1',
  data: 'EjQKMg',
  index: 0,
}

export const RECORDED = inCompletions([
  {
    name: 'OpenRouter has no provider that takes tools',
    source: 'Routstr/routstr-core#554',
    request: WITH_TOOLS,
    replies: [noEndpoints('that support tool use'), ANSWER],
    expected: { ...ANSWERED, sent: { tools: undefined, tool_choice: undefined } },
  },
  {
    name: 'OpenRouter has no provider that takes the tool choice',
    source: 'zed-industries/zed#36094',
    request: { tools: [TOOL], toolChoice: 'required' },
    replies: [noEndpoints("that support the provided 'tool_choice' value"), ANSWER],
    expected: {
      ...ANSWERED,
      sent: { 'tools.0.function.name': TOOL.name, tool_choice: undefined },
    },
  },
  {
    name: 'OpenRouter has no provider within the settings of privacy',
    source: 'ShamanicArts/Flow.Launcher.Plugin.AI-Assistant#2',
    replies: [noEndpoints('matching your data policy. Enable prompt training in your settings')],
    expected: { code: 'upstream_refused', message: /data policy.*settings/ },
  },
  {
    name: 'OpenRouter has no credits of the account',
    source: 'Gitlawb/openclaude#43',
    replies: [
      errorReply(402, {
        message: 'Insufficient credits. This account never purchased credits.',
        code: 402,
      }),
    ],
    expected: { code: 'upstream_refused', message: /CHAT_API_KEY has no credit/ },
  },
  {
    name: 'OpenRouter quotes what the provider said',
    source: 'BeehiveInnovations/pal-mcp-server#134',
    replies: [
      errorReply(400, {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          provider_name: 'OpenAI',
          raw: '{"error":{"message":"Your organization must be verified to stream this model.","param":"stream"}}',
        },
      }),
      jsonReply({ choices: [{ message: { content: 'At nine' }, finish_reason: 'stop' }] }),
    ],
    expected: { ...ANSWERED, sent: { stream: false } },
  },
  {
    name: 'OpenRouter reports an error in the stream, as a finish reason as well',
    source: 'damianvtran/local-operator#223',
    replies: [
      streamReply(
        chunk({ content: 'At' }),
        chunk({ content: '' }, 'error', {
          error: { code: 502, message: 'Provider disconnected', metadata: { error_type: 'x' } },
        }),
      ),
    ],
    expected: { code: 'upstream_failed', message: /failed \(502\).*try again/ },
  },
  {
    name: 'OpenRouter reports an error in the stream, next to an empty list of choices',
    source: 'diegosouzapw/OmniRoute#8210',
    replies: [
      streamReply(
        event({
          id: 'gen-1',
          object: 'chat.completion.chunk',
          choices: [],
          error: { code: 502, message: 'Worker local total request limit reached (33/32)' },
        }),
      ),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'OpenRouter refuses within the stream',
    source: 'dcdpr/jp#978',
    replies: [
      streamReply(
        event({
          choices: [],
          error: { code: 400, message: 'prompt is too long: 1284668 tokens > 1000000 maximum' },
        }),
      ),
    ],
    expected: { code: 'context_length_exceeded', message: /shorten it/ },
  },
  {
    name: 'OpenRouter keeps the connection with comments',
    source: 'deepnoodle-ai/dive#206',
    replies: [
      rawReply(
        `: OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n${chunk({ content: 'At nine' }).send}: OPENROUTER PROCESSING\n\n${chunk({}, 'stop').send}data: [DONE]\n\n`,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'A gateway passes the comments of OpenRouter on as data',
    source: 'mnfst/llm-gateway#2053',
    replies: [
      rawReply(
        `data: : OPENROUTER PROCESSING\n\n${chunk({ content: 'At nine' }).send}${chunk({}, 'stop').send}data: [DONE]\n\n`,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'OpenRouter thinks in a field of its own, and gives the same in detail',
    source: 'laravel/ai#813',
    replies: [
      streamReply(
        chunk({
          content: '',
          reasoning: 'Let me see.',
          reasoning_details: [{ type: 'reasoning.text', text: 'Let me see.', index: 0 }],
        }),
        chunk({ content: 'At nine', reasoning: null }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reasoning: 'Let me see.' },
  },
  {
    name: 'OpenRouter gives the reasoning of a call in detail alone',
    source: 'agentjido/req_llm#300',
    request: WITH_TOOLS,
    replies: [
      streamReply(
        chunk({
          content: '',
          reasoning_details: [{ type: 'reasoning.summary', summary: 'I look it up.', index: 0 }],
        }),
        chunk({ reasoning_details: [DETAIL] }),
        chunk({
          tool_calls: [{ index: 0, id: 'c1', function: { name: TOOL.name, arguments: '{}' } }],
        }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    ],
    expected: { calls: [[TOOL.name, '{}']], reasoning: 'I look it up.', reason: 'tool_calls' },
  },
])
