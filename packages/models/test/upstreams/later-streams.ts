import { gzipSync } from 'node:zlib'
import { chunk, DONE, event, rawReply } from '../../../../test/support/upstream-replies.ts'
import { ANSWER, ANSWERED, type Recorded } from './recorded.ts'

const NONE = 'invented: like others, but reported by nobody'
const completions = 'chat-completions' as const
export const RECORDED: readonly Recorded[] = [
  {
    name: 'A proxy compresses the stream unasked',
    source: NONE,
    api: completions,
    replies: [
      {
        headers: { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' },
        steps: [
          {
            send: gzipSync(
              [chunk({ content: 'At nine' }), chunk({}, 'stop'), DONE]
                .map((s) => ('send' in s ? s.send : ''))
                .join(''),
            ),
          },
        ],
      },
    ],
    expected: { text: 'At nine' },
  },
  {
    name: 'Envoy loses the connection to the model',
    source: NONE,
    api: completions,
    replies: [
      {
        status: 503,
        headers: { 'content-type': 'text/plain' },
        steps: [
          {
            send: 'upstream connect error or disconnect/reset before headers. reset reason: connection termination',
          },
        ],
      },
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'A tunnel is offline',
    source: NONE,
    api: completions,
    replies: [
      {
        status: 404,
        headers: { 'content-type': 'text/html' },
        steps: [
          {
            send: '<!DOCTYPE html><html><body>ERR_NGROK_3200: The endpoint abc.ngrok.app is offline.</body></html>',
          },
        ],
      },
    ],
    expected: { code: 'upstream_model_not_found', message: /URL/ },
  },
  {
    name: 'Lines of a stream end with carriage returns alone',
    source: NONE,
    api: completions,
    replies: [
      rawReply(
        'data: {"choices":[{"delta":{"content":"At nine"},"finish_reason":"stop","index":0}]}\r\rdata: [DONE]\r\r',
      ),
    ],
    expected: { text: 'At nine' },
  },
  {
    name: 'An event has its data in two lines',
    source: NONE,
    api: completions,
    replies: [
      rawReply(
        'data: {"choices":\ndata: [{"delta":{"content":"At nine"},"finish_reason":"stop","index":0}]}\n\ndata: [DONE]\n\n',
      ),
    ],
    expected: { text: 'At nine' },
  },
  {
    name: 'The text of a delta comes in parts',
    source: NONE,
    api: completions,
    replies: [
      {
        steps: [
          event({
            choices: [
              {
                index: 0,
                delta: { content: [{ type: 'text', text: 'At nine' }] },
                finish_reason: null,
              },
            ],
          }),
          event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
          DONE,
        ],
      },
    ],
    expected: { text: 'At nine' },
  },
  {
    name: 'Chunks have no choices, or null',
    source: NONE,
    api: completions,
    replies: [
      {
        steps: [
          event({ choices: null }),
          event({ choices: [] }),
          event({ id: 'x' }),
          chunk({ content: 'At nine' }),
          chunk({}, 'stop'),
          DONE,
        ],
      },
    ],
    expected: { text: 'At nine' },
  },
  {
    name: 'A stream has one whole message',
    source: NONE,
    api: completions,
    replies: [
      {
        steps: [
          event({
            choices: [
              {
                index: 0,
                message: { role: 'assistant', content: 'At nine' },
                finish_reason: 'stop',
              },
            ],
          }),
          DONE,
        ],
      },
    ],
    expected: { text: 'At nine' },
  },
  {
    name: 'A proxy finds the request too large',
    source: NONE,
    api: completions,
    replies: [
      {
        status: 413,
        headers: { 'content-type': 'text/html' },
        steps: [{ send: '<html><head><title>413 Request Entity Too Large</title></head></html>' }],
      },
    ],
    expected: { code: 'context_length_exceeded', message: /larger/ },
  },
  {
    name: 'An error in the stream is a string',
    source: NONE,
    api: completions,
    replies: [{ steps: [chunk({ content: 'At' }), event({ error: 'CUDA out of memory' })] }],
    expected: { code: 'upstream_failed', message: /failed/ },
  },
]
