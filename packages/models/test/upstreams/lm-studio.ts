import { chunk, DONE, jsonReply, streamReply } from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { ANSWER, ANSWERED, inCompletions, WITH_TOOLS } from './recorded.ts'

const refusal = (error: string, status = 400) => jsonReply({ error }, status)

export const RECORDED = inCompletions([
  {
    name: 'LM Studio takes no choice by name',
    source: 'lmstudio-ai/lmstudio-bug-tracker#670',
    request: { tools: [TOOL, { ...TOOL, name: 'other' }], toolChoice: { name: TOOL.name } },
    replies: [
      refusal("Invalid tool_choice type: 'object'. Supported string values: none, auto, required"),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: { tool_choice: 'required', 'tools.0.function.name': TOOL.name, 'tools.1': undefined },
    },
  },
  {
    name: 'LM Studio answers in no JSON without a schema',
    source: 'lmstudio-ai/lmstudio-bug-tracker#307',
    request: { sampling: { format: { type: 'json' } } },
    replies: [refusal("'response_format.type' must be 'json_schema' or 'text'"), ANSWER],
    expected: { ...ANSWERED, sent: { response_format: undefined } },
  },
  {
    name: 'LM Studio could not load the model',
    source: 'charmbracelet/crush#2546',
    replies: [refusal('Failed to load model "qwen/qwen3-coder-30b". Error: Operation canceled.')],
    expected: { code: 'upstream_refused', message: /Failed to load model.*canceled/ },
  },
  {
    name: 'A model of LM Studio writes its call as text',
    source: 'lmstudio-ai/lmstudio-bug-tracker#2115',
    request: WITH_TOOLS,
    replies: [
      streamReply(
        chunk({
          content: `<tool_call>\n<function=${TOOL.name}>\n<parameter=query>\nhours\n</parameter>\n</function>\n</tool_call>`,
        }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { text: '', calls: [[TOOL.name, '{"query":"hours"}']], reason: 'tool_calls' },
  },
  {
    name: 'LM Studio’s model crashes in the middle',
    source: 'lmstudio-ai/lmstudio-bug-tracker#1347',
    replies: [
      streamReply(chunk({ content: 'At' }), {
        send: `event: error\ndata: ${JSON.stringify({ error: { message: 'The model has crashed without additional information. (Exit code: 6)' } })}\n\n`,
      }),
    ],
    expected: { code: 'upstream_failed', message: /failed \(500\).*try again/ },
  },
])
