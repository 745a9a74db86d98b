/** A shorter key is a placeholder, as keyless servers take, and may be a part of any word. */
const SHORTEST_SECRET = 4
const HIDDEN = '[hidden]'

/** Keys in the shapes that providers give them, whole or masked in part, and account names. */
const SECRETS = [
  /\bBearer\s+\S+/gi,
  /\b(?:sk|pk|rk|gsk|xai|nvapi|hf|ghp|org|proj|user)[-_][\w*.-]{6,}/gi,
  /\bAIza[\w-]{10,}/g,
  /\bhttps?:\/\/\S+/gi,
]

/** Takes out of upstream words what nobody may see: `apiKey`, what looks like a key, and addresses. */
export function createRedactor(apiKey: string): (words: string) => string {
  return (words) => {
    const keyless = apiKey.length < SHORTEST_SECRET ? words : words.replaceAll(apiKey, HIDDEN)
    return SECRETS.reduce((text, pattern) => text.replace(pattern, HIDDEN), keyless)
  }
}
