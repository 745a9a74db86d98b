import { responseReply } from '../../../../test/support/responses-replies.ts'
import { errorReply } from '../../../../test/support/upstream-replies.ts'
import type { ModelRequest, ReasoningPart } from '../../src/chat-model.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { AFTER_CALL, type Recorded, refused } from './recorded.ts'

const EFFORT: Partial<ModelRequest> = { sampling: { effort: 'high' } }
const [QUESTION, CALL, RESULT] = AFTER_CALL.messages ?? []
const turns = (...messages: (ModelRequest['messages'][number] | undefined)[]) => ({
  tools: [TOOL],
  messages: messages.filter((message) => message !== undefined),
})

/** The call, with reasoning that came before it. */
const thought = (...reasoning: readonly ReasoningPart[]) =>
  CALL?.role === 'assistant' ? { ...CALL, reasoning } : undefined

export const RECORDED: readonly Recorded[] = [
  refused(
    ['Bedrock takes no text next to the result of a tool', 'browser-use/browser-use#710'],
    errorReply(
      400,
      'messages.2.content: Conversation blocks and tool result blocks cannot be provided in the same turn.',
    ),
    turns(QUESTION, CALL, RESULT, { role: 'user', content: 'And on Sunday?' }),
  ),
  refused(
    ['Gemini wants a user before each call', 'pydantic/pydantic-ai#3692'],
    errorReply(
      400,
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    ),
    turns(QUESTION, { role: 'assistant', content: 'Let me see.' }, CALL, RESULT),
  ),
  refused(
    ['Perplexity lists the roles that it knows', 'BerriAI/litellm#11665'],
    errorReply(
      400,
      "litellm.BadRequestError: PerplexityException - [\"At body -> messages -> 1 -> content: Field required\", \"At body -> messages -> 2 -> role: Input should be 'system', 'user' or 'assistant'\"]",
    ),
    AFTER_CALL,
    { tools: undefined },
  ),
  refused(
    ['Groq wants no reasoning back', 'SimonSchubert/Kai#265'],
    errorReply(
      400,
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    ),
    turns(QUESTION, thought({ form: 'content', text: 'Hm.' }), RESULT),
    { 'messages.1.reasoning_content': undefined },
  ),
  refused(
    ['A template takes text or thinking with a call', 'ggml-org/llama.cpp#17040'],
    errorReply(
      500,
      'Cannot pass both content and thinking in an assistant message with tool calls! Put the analysis message in one or the other, but not both. at row 290, column 178',
    ),
    turns(
      QUESTION,
      CALL?.role === 'assistant'
        ? { ...CALL, content: 'I will see.', reasoning: [{ form: 'content', text: 'Hm.' }] }
        : undefined,
      RESULT,
    ),
  ),
  refused(
    [
      'A template of TGI wants roles in turn, where a tool answered',
      'huggingface/text-generation-inference#3198',
    ],
    errorReply(
      422,
      'Template error: syntax error: Conversation roles must alternate user/assistant/user/assistant/... (in <string>:1)',
    ),
    AFTER_CALL,
    { tools: undefined },
  ),
  refused(
    ['LocalAI tells of roles deep in a trace', 'sterlp/eclipse-peon-ai#75'],
    errorReply(
      500,
      'rpc error: code = InvalidArgument desc = \n------------\nWhile executing CallExpression at line 46, column 32 in source:\n...== 0) %}\nError: Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.',
    ),
    turns(QUESTION, { role: 'user', content: 'And on Sunday?' }),
  ),
  {
    name: 'OpenAI finds its reasoning twice',
    source: 'vercel/ai#7883',
    api: 'responses',
    request: turns(QUESTION, thought({ form: 'item', data: 'x', id: 'rs_1', summary: [] }), RESULT),
    replies: [
      errorReply(
        400,
        'Duplicate item found with id rs_1. Remove duplicate items from your input and try again.',
      ),
      responseReply({ texts: ['At nine'] }),
    ],
    expected: { text: 'At nine', requests: 2, sent: { 'input.1.type': 'function_call' } },
  },
  {
    name: 'OpenAI wants its own identifiers of reasoning',
    source: 'continuedev/continue#11785',
    api: 'responses',
    request: turns(
      QUESTION,
      thought({ form: 'item', data: 'x', id: 'reasoning_1', summary: [] }),
      RESULT,
    ),
    replies: [
      errorReply(
        400,
        "Invalid 'input[1].id': 'reasoning_1'. Expected an ID that begins with 'rs'.",
      ),
      responseReply({ texts: ['At nine'] }),
    ],
    expected: { text: 'At nine', requests: 2, sent: { 'input.1.type': 'function_call' } },
  },
  refused(
    ['Claude misses the thinking of calls, behind LiteLLM', 'openai/openai-agents-python#678'],
    errorReply(
      400,
      'litellm.BadRequestError: AnthropicException - {"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block. To avoid this requirement, disable `thinking`."}}',
    ),
    { ...AFTER_CALL, ...EFFORT },
    { reasoning_effort: undefined },
  ),
]
