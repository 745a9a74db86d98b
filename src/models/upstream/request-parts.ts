const MAX_NAME = 64

/** Models invent names with dots and tags, which servers reject in the next request. */
export function toToolName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME) || 'unnamed'
}

const DETAILS = ['auto', 'low', 'high'] as const

/** How closely a model looks at an image, if it is one of the levels that OpenAI's protocols know. */
export const toImageDetail = (detail: string | undefined) => DETAILS.find((each) => each === detail)

/** The text of a message for a model that takes no images. */
export const withoutImages = (content: string) =>
  `${content}\n[This model cannot see: say so where it matters]`
