import { isLoopback } from '@agent-server/lib/origins.ts'
import { z } from 'zod'

export const MAX_URI = 500

/** A refusal in the words of RFC 6749, 7591 or 8707; its text is for the client's developer. */
export class OAuthRefusal extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Hosts of plain letters, which need no quotes in a Content-Security-Policy. */
export const RedirectUri = z
  .string()
  .max(MAX_URI)
  .refine((text) => {
    const url = URL.parse(text)
    const isPlain =
      url && /^([a-z0-9.-]+|\[::1\])$/.test(url.hostname) && !url.username && !url.hash
    return isPlain && !url.password && (url.protocol === 'https:' || isLoopback(url))
  }, 'must be https, or http on this machine, without user and fragment')

export const Registration = z.object({
  client_name: z
    .string()
    .min(1)
    .max(80)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]+$/u, 'must be plain text')
    .default('A program'),
  redirect_uris: z.array(RedirectUri).min(1).max(5),
})
