import { expect } from 'vitest'
import {
  chunk,
  DONE,
  errorReply,
  event,
  rawReply,
  streamReply,
} from '../../../../test/support/upstream-replies.ts'
import { ANSWER, ANSWERED, inCompletions } from './recorded.ts'

const page = (status: number, title: string, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': 'text/html; charset=UTF-8', ...headers },
  steps: [
    {
      send: `<!DOCTYPE html><html lang="en-US"><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`,
    },
  ],
})
const nginx = (status: number, title: string, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  steps: [
    {
      send: `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>nginx/1.26.1</center>\r\n</body>\r\n</html>\r\n`,
    },
  ],
})
const NOW = { 'retry-after-ms': '1' }

export const RECORDED = inCompletions([
  {
    name: 'Cloudflare wants to see a browser',
    source: 'anthropics/claude-code#30437',
    replies: [page(403, 'Just a moment...')],
    expected: { code: 'upstream_failed', message: /proxy.*web page \(403\).*CHAT_BASE_URL/ },
  },
  {
    name: 'Cloudflare has blocked the address',
    source: 'OpenHands/OpenHands#4480',
    replies: [page(403, 'Attention Required! | Cloudflare')],
    expected: { code: 'upstream_failed', message: /proxy/, requests: 1 },
  },
  {
    name: 'Cloudflare asks for a moment with status 200',
    source: 'agentscope-ai/QwenPaw#7587',
    replies: [page(200, 'Just a moment...')],
    expected: { code: 'upstream_failed', message: /web page.*CHAT_BASE_URL/ },
  },
  {
    name: 'Cloudflare has waited for too long',
    source: 'acheong08/ChatGPT#1485',
    replies: [page(524, 'A timeout occurred', NOW)],
    expected: {
      code: 'upstream_timeout',
      message: /did not respond in time.*try again/,
      requests: 3,
    },
  },
  {
    name: 'nginx has waited for too long',
    source: 'BerriAI/litellm#9551',
    replies: [nginx(504, '504 Gateway Time-out', NOW)],
    expected: {
      code: 'upstream_timeout',
      message: /did not respond in time.*try again/,
      requests: 3,
    },
  },
  {
    name: 'nginx takes no more than a megabyte',
    source: 'open-webui/open-webui#3273',
    replies: [nginx(413, '413 Request Entity Too Large')],
    expected: { code: 'context_length_exceeded', message: /larger than .* accepts: shorten/ },
  },
  {
    name: 'nginx does not reach the server at the moment',
    source: 'honoki/bbrf-server#6',
    replies: [nginx(502, '502 Bad Gateway', NOW), ANSWER],
    expected: ANSWERED,
  },
  {
    name: 'nginx cannot keep the body of the request',
    source: 'mcdonc/klangk#1682',
    replies: [nginx(500, '500 Internal Server Error', NOW)],
    expected: { code: 'upstream_failed', message: /failed \(500\).*try again/, requests: 3 },
  },
  {
    name: 'A gateway keeps the connection with comments and a single line feed',
    source: 'theopenco/llmgateway#2334',
    replies: [
      rawReply(
        `id: 1\n${chunk({ content: 'At nine' }).send}: ping\n: ping\n\nid: 2\n: ping\n\n${chunk({}, 'stop').send}data: [DONE]\n\n`,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'A gateway keeps the connection with named events that have no data',
    source: 'diegosouzapw/OmniRoute#1146',
    replies: [
      rawReply(
        `event: keepalive\n\n${chunk({ content: 'At nine' }).send}event: ping\n\n${chunk({}, 'stop').send}data: [DONE]\n\n`,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'A gateway keeps the connection with named events of no text',
    source: 'caozhiyuan/copilot-api#88',
    replies: [
      rawReply(
        `event: ping\ndata:\n\n${chunk({ content: 'At nine' }).send}data: \n\n${chunk({}, 'stop').send}data: [DONE]\n\n`,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'A gateway puts comments of its own before the mark of the end',
    source: 'diegosouzapw/OmniRoute#7031',
    replies: [
      rawReply(
        `: keepalive\r\n\r\n${chunk({ content: 'At nine' }).send.replaceAll('\n', '\r\n')}${chunk({}, 'stop').send.replaceAll('\n', '\r\n')}: cache-hit=false\r\n: latency-ms=337\r\ndata: [DONE]\r\n\r\n`,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'A gateway writes the fields of events without a space',
    source: 'justlovemaki/AIClient2API#695',
    replies: [
      rawReply(
        `: ping\n\nevent:message\ndata:{"choices":[{"delta":{"content":"At nine"}}]}\n\nevent:message\ndata:{"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata:[DONE]\n\n`,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'A gateway closes the connection in the middle of the answer',
    source: 'anomalyco/opencode#39968',
    replies: [streamReply(chunk({ content: 'At' }))],
    expected: { code: 'upstream_failed', message: /ended early: try again/ },
  },
  {
    name: 'A gateway closes the connection in the middle of a call',
    source: 'CommandCodeAI/command-code#785',
    replies: [
      streamReply(
        chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'x', arguments: '{"a"' } }] }),
      ),
    ],
    expected: { code: 'upstream_failed', message: /ended early: try again/ },
  },
  {
    name: 'A gateway never gives a finish reason, but the mark of the end',
    source: 'anomalyco/opencode#43882',
    replies: [streamReply(chunk({ content: 'At nine' }), chunk({ content: '' }), DONE)],
    // It is believed from the next answer on.
    expected: { code: 'upstream_failed', message: /ended early: try again/ },
  },
  {
    name: 'A gateway tells of a spent quota within the stream, and ends it well',
    source: 'apache/rocketmq-dashboard#2178',
    replies: [
      streamReply(chunk({ content: 'At' }), event({ error: { message: 'quota exceeded' } }), DONE),
    ],
    expected: { code: 'upstream_failed', message: /failed \(500\).*try again/ },
  },
  {
    name: 'A gateway lost its provider in the middle',
    source: 'Augustas11/macprovider#186',
    replies: [
      streamReply(
        chunk({ content: 'At' }),
        event({
          error: {
            message: 'Provider disconnected during streaming',
            type: 'server_error',
            code: 'provider_disconnected',
          },
        }),
        DONE,
      ),
    ],
    expected: { code: 'upstream_failed', message: /failed \(500\).*try again/ },
  },
  {
    name: 'DeepInfra refuses within the stream, in fields of its own',
    source: 'NousResearch/hermes-agent#65738',
    replies: [
      streamReply(
        event({
          id: 'x',
          object: 'chat.completion.chunk',
          choices: null,
          error_type: 'BadRequestError',
          error_message:
            "This model's maximum context length is 8000 tokens. However, you requested 9265 tokens.",
        }),
      ),
    ],
    expected: { code: 'context_length_exceeded', message: /shorten it/ },
  },
  {
    name: 'NVIDIA has taken the model away',
    source: 'NVIDIA/NemoClaw#11902',
    replies: [
      {
        status: 410,
        headers: { 'content-type': 'application/problem+json' },
        steps: [
          {
            send: JSON.stringify({
              type: 'about:blank',
              title: 'Gone',
              status: 410,
              detail:
                "The model 'deepseek-ai/deepseek-v4-pro' has reached its end of life on 2026-08-07 and is no longer available.",
            }),
          },
        ],
      },
    ],
    expected: { code: 'upstream_model_not_found', message: /no longer offered.*CHAT_MODEL/ },
  },
  {
    name: 'A gateway names what replaces a model that it has taken away',
    source: 'getkimchi/kimchi#1176',
    replies: [
      errorReply(410, {
        code: 410,
        type: 'model_gone',
        message: 'Model kimi-k2.5 has been retired.',
        replacement: 'kimi-k3',
      }),
    ],
    expected: { code: 'upstream_model_not_found', message: /no longer offered.*CHAT_MODEL/ },
  },
  {
    name: 'A gateway tells of a deprecated model',
    source: 'epam/ai-dial-chat#5147',
    replies: [
      errorReply(400, {
        message:
          'The model associated with the deployment is deprecated and no longer available for use. Please select another model.',
      }),
    ],
    expected: { code: 'upstream_model_not_found', message: /no longer offered.*CHAT_MODEL/ },
  },
  {
    name: 'A gateway tells when to retry, as a date',
    source: 'BobTheBuidler/dank_mids#78',
    replies: [
      errorReply(429, 'Too Many Requests', {
        'retry-after': new Date(Date.now() + 90_000).toUTCString(),
      }),
    ],
    expected: {
      code: 'upstream_rate_limited',
      // Counted from when this file was loaded.
      message: /try again in (?:[3-8]\d|90) seconds/,
      retryAfter: expect.closeTo(60, -1.78),
    },
  },
  {
    name: 'A gateway tells when to retry, in milliseconds',
    source: 'NikkeTryHard/zerogravity#19',
    replies: [errorReply(429, 'Too Many Requests', { 'retry-after-ms': '12000' })],
    expected: { code: 'upstream_rate_limited', message: /try again in 12 seconds/, retryAfter: 12 },
  },
  {
    name: 'A gateway fails with an error of its own',
    source: 'coder/aibridge#56',
    replies: [{ status: 200, headers: { 'content-type': 'text/event-stream' }, steps: [] }],
    expected: { code: 'upstream_failed', message: /ended early: try again/ },
  },
])
