import type { JsonObject } from '@agent-server/lib/text/json.ts'

/** Providers' words for a prompt that is longer than the model's window. */
const TOO_LONG = new RegExp(
  [
    'context[ _-]?(?:length|size|window|limit)',
    // Gemini: "exceeds the maximum number of tokens allowed"; vLLM: "longer than the maximum model length".
    'maximum (?:number of tokens allowed|(?:allowed )?(?:prompt|input|model) length)',
    // Anthropic, Z.ai, Bedrock; OpenAI and Groq, of what no minute has room for: "Request too large for model".
    '(?:prompt|input|request) (?:is )?too (?:long|large)',
    'too many (?:input )?tokens|less than \\d+ tokens|too large to process',
    // Groq and Cerebras; Moonshot; Vertex and Copilot; DashScope; Text Generation Inference.
    'reduce the length of the messages|model token limit',
    '\\b(?:over|exceeds?|fit|beyond)\\b[^.]{0,30}\\b(?:window|context)\\b',
    // LM Studio: "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)".
    '>= ?n_ctx',
    // In other languages.
    '(?:слишком длинн|trop long|zu lang|demasiado larg|muito long|troppo lung)[^.]{0,60}\\d{3,}',
    '(?:输入|輸入|上下文|提示词|入力|プロンプト)[^。.]{0,12}(?:过长|太长|過長|超过|超出|超過|長すぎ)',
    // Whatever else tells the prompt's tokens, and then another number of them.
    '(?:prompt|input|conversation|messages)\\b[^.]{0,40}\\b\\d{3,} tokens\\b[^.]{0,60}\\b\\d{3,}',
    'token count (?:is|of) \\d+|range of input length|max_new_tokens. must be',
  ].join('|'),
  'i',
)
const CODES = ['context_length_exceeded', 'exceed_context_size_error']
/** In answers with status 429, which may also mean that the tokens of a minute are used up. */
const NEVER_FITS = /request too large/i
/** "Limit 7000, Used 0, Requested ~12903": no minute has room for it. */
const OF_A_MINUTE = /\blimit (\d+),.*\brequested ~?(\d+)/i

interface Refusal {
  kind: string
  status?: number | undefined
  code?: string | undefined
  rawMessage?: string
}

/**
 * Whether the text exceeds the model's window. Ollama reports that with status 400 or 500, Text Embeddings Inference
 * with 413, llama.cpp with 500, OpenAI with 429 where it exceeds the tokens of a minute.
 */
export function isTooLong({ kind, status, code = '', rawMessage = '' }: Refusal): boolean {
  if (kind !== 'status') return false
  if (status === 429) {
    const [, limit, requested] = OF_A_MINUTE.exec(rawMessage) ?? []
    return NEVER_FITS.test(rawMessage) || Number(requested) > Number(limit)
  }
  return status === 413 || CODES.includes(code) || TOO_LONG.test(rawMessage)
}

/** Not of bytes, as of a body that is too large. */
const COUNT = '(\\d{1,3}(?:,\\d{3})+|\\d{3,8})(?!,?\\d| ?(?:bytes|[kmg]i?b)\\b)'
/** The size of the window: "… maximum context length is 8192", "[1, 8192]", "9000 tokens > 8192 maximum". */
const WINDOW = new RegExp(
  `(?:context (?:length|size|window)(?! by)|maximum|max (?:size|input tokens)|limit(?!: \\d+ \\+)|supports up to|less than|cannot exceed|[<>]=?|\\[1,)\\D{0,40}?${COUNT}|${COUNT} maximum`,
  'i',
)
/** The size of the prompt: "your messages resulted in 9000 tokens", "the input token count (9000)", "Given: 9000". */
const PROMPT = new RegExp(
  `(?:resulted in|requested:?|passed(?: in)?|contains?|has|given:?|received|too long:|token count:?(?: is| of)?|input length|current length is|keep the first|n_keep|(?:prompt|input|request)(?= \\())(?: at least| about| a total of)? ?\\(?(?:length )?${COUNT}`,
  'i',
)

/** The sizes that a refusal tells, in tokens: llama.cpp has fields for them, others only words. */
export function sizesIn({ n_ctx, n_prompt_tokens }: JsonObject, words: string) {
  const window = Number(n_ctx ?? countIn(WINDOW, words))
  const promptTokens = Number(n_prompt_tokens ?? countIn(PROMPT, words))
  return { ...(window > 0 && { window }), ...(promptTokens > 0 && { promptTokens }) }
}

function countIn(pattern: RegExp, words: string): string | undefined {
  const [, ...counts] = pattern.exec(words) ?? []
  return counts.find((count) => count !== undefined)?.replaceAll(',', '')
}
