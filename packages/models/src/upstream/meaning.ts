/** Codes, and words of refusals, by the status that others have for the same. */
const MEANINGS: readonly { status: number; from: readonly number[]; words: RegExp }[] = [
  // Gemini, xAI: a wrong key with status 400.
  {
    status: 401,
    from: [400, 403],
    words:
      /\b(?:incorrect|invalid|expired) api key|\bapi key (?:is )?(?:not valid|invalid|expired)/i,
  },
  {
    status: 402,
    from: [400, 403, 429],
    words:
      /\b(?:credit|insufficient) balance|(?:insufficient|any|all|out of)(?: available)? credits/i,
  },
  // "… has been decommissioned", "… has been retired", "Unable to access non-serverless model …".
  {
    status: 410,
    from: [400, 403, 404, 410, 500],
    words:
      /\bmodel\b[^.]{0,160}\b(?:decommissioned|retired|deprecated|sunset|discontinued|shut down|end of life|no longer (?:available|supported|offered))|non-serverless model/i,
  },
  {
    status: 404,
    from: [400, 403],
    words:
      /^(?:the |that )?model\b[^.]{0,80}\b(?:not found|does(?:n.t| not) exist)\b|\bmodel identifier is invalid|\bsupported (?:api )?model names are|\binvalid model (?:name|id)\b|\bwith a supported [^.]{0,20}model\b/i,
  },
  // OpenRouter: "No endpoints found matching your data policy".
  { status: 400, from: [404], words: /data policy|guardrail|privacy settings/i },
  // The timeouts of proxies.
  { status: 408, from: [504, 522, 524], words: /^/ },
]

interface Refusal {
  status?: number | undefined
  rawMessage?: string
}

/** The status that says most exactly what a server meant. */
export function meaningOf({ status = 500, rawMessage = '' }: Refusal): number {
  const meaning = MEANINGS.find(
    ({ from, words: pattern }) => from.includes(status) && pattern.test(rawMessage),
  )
  return meaning?.status ?? status
}
