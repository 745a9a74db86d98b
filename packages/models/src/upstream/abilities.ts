/** What a server accepts of each protocol, as far as is known. */
export interface Abilities {
  tools: boolean
  images: boolean
  /** Whether the model takes instructions, and messages in any order, rather than a user and an assistant in turn. */
  roles: boolean
  /** Whether an answer with which the conversation ends is continued. */
  continues: boolean
  /** Whether the conversation may have calls where no tools are offered. */
  bareCalls: boolean
  /** Whether a message of calls may have no text, and whether it may have some. */
  textOfCalls: 'any' | 'filled' | 'none'
  /** Whether a tool choice by name is followed; some servers read it as `auto`. */
  namedChoice: boolean
  /** Whether the model's reasoning may be sent back with the tool results. */
  reasoning: boolean
  /** How an answer is held to JSON: by its schema, as any object, or by instructions alone. */
  format: 'schema' | 'object' | 'instructions'
  /** Whether a call is insisted on by a schema of the answer, as llama.cpp follows `required` in few templates only. */
  choiceBySchema: boolean
  /** Whether the server tells how much of the prompt it has read (llama.cpp). */
  progress: boolean
  /** `max_tokens` is tried first: servers that do not know it report an error, while many ignore its successor. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Whether to request the usage in a stream; some servers always report it, others never. */
  streamUsage: boolean
  /** Whether to send the key of the server's cache; servers other than OpenAI's may refuse the field. */
  cacheKey: boolean
  /** Whether the prompt may have marks of what to cache (Anthropic). */
  cacheMarks: boolean
  /** How thinking is requested from a model (Anthropic). */
  thinking: 'adaptive' | 'budget'
  /** Whether thinking can be switched off (Anthropic). */
  noThinking: boolean
  /** Whether a model that thinks refuses earlier calls without the reasoning that led to them (Anthropic). */
  needsReasoning: boolean
  /** Whether a call can be required, and whether thinking must be switched off for it (Anthropic). */
  forcedChoice: 'plain' | 'without-thinking' | 'none'
  /** The limit of an answer in tokens, as a refusal reported it. */
  maxTokens: number | undefined
  /** The tokens of the window and of a prompt of so many characters, as a refusal told that left the answer no room. */
  room: { window: number; promptTokens: number; characters: number } | undefined
  /** Whether tools are only taken together with an effort of `none`. */
  toolsWithoutEffort: boolean
  /** Whether tools are only taken with short descriptions and the simplest of schemas. */
  simpleTools: boolean
  /** Whether names of tools may have hyphens. */
  hyphens: boolean
  /** Whether calls are only taken with identifiers of nine letters and digits (Mistral). */
  shortCallIds: boolean
  /** What calls of other models must have as well: a signature (Gemini), or reasoning, if only empty (DeepSeek). */
  foreignCalls: 'plain' | 'signed' | 'reasoned'
  /** Whether the server streams; some do not, or not to everyone. */
  stream: boolean
  /**
   * What the server has refused and is left out from then on: fields, by path, or the value of one, after an equals
   * sign.
   */
  omitted: Set<string>
  /** The omitted fields that no refusal named; the next refusal that names none restores them. */
  guessed: Set<string>
}

export function createAbilities(): Abilities {
  return {
    tools: true,
    images: true,
    roles: true,
    continues: true,
    bareCalls: true,
    textOfCalls: 'any',
    namedChoice: true,
    reasoning: true,
    format: 'schema',
    choiceBySchema: false,
    progress: false,
    maxTokensField: 'max_tokens',
    streamUsage: true,
    cacheKey: false,
    cacheMarks: true,
    thinking: 'adaptive',
    noThinking: true,
    needsReasoning: false,
    forcedChoice: 'plain',
    maxTokens: undefined,
    room: undefined,
    toolsWithoutEffort: false,
    simpleTools: false,
    hyphens: true,
    shortCallIds: false,
    foreignCalls: 'plain',
    stream: true,
    omitted: new Set(),
    guessed: new Set(),
  }
}
