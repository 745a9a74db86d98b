import {
  installErrorMessages,
  issuesOf as namedIssues,
} from '@agent-server/schemas/invalid-request.ts'
import type { z } from 'zod'

// As the server does at its start.
installErrorMessages()

/** What a schema complains about, as `path: message`; nothing where the value fits. */
export function issuesOf(schema: z.ZodType, value: unknown): string[] {
  const result = schema.safeParse(value)
  return (result.error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)
}

/** The dotted paths of what a schema complains about. */
export function pathsOf(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value)
  return error ? namedIssues(error).map(({ field }) => field) : []
}
