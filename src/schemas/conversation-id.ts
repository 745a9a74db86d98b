import { z } from 'zod'

export const ConversationId = z
  .string()
  .max(128)
  .regex(
    /^[A-Za-z0-9._:-]+$/,
    'must be 1 to 128 letters, digits, dots, colons, hyphens or underscores',
  )
  .meta({
    description:
      'Names the conversation, so that what tools keep for it (such as a sandbox) is found again by the next request. Without it nothing is kept.',
  })
