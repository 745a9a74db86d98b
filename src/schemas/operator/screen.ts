import { z } from 'zod'

const Secret = z.string().min(1).max(1_000)

export const SignIn = z.union(
  [z.strictObject({ key: Secret }), z.strictObject({ token: Secret })],
  {
    error: 'must hold either `key` or `token`',
  },
)

export const SessionState = z.object({ signedIn: z.boolean(), version: z.string() })
export const RevealedKey = z.object({ key: z.string() })
export const AssetParams = z.object({ name: z.string().max(100) })
