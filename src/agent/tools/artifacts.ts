import { createHmac } from 'node:crypto'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { isSameSecret } from '@agent-server/lib/same-secret.ts'
import type { Artifact } from '@agent-server/schemas/artifact.ts'
import type { ArtifactStore, NewArtifact, StoredArtifact } from '@agent-server/stores'

/** Maximum number of files that the tools of one run may create. */
const MAX_ARTIFACTS = 50

/** Reads an artifact by its id; undefined if it no longer exists. */
export type ArtifactReader = Pick<ArtifactStore, 'read'>

export type Artifacts = ReturnType<typeof createArtifacts>

/** Collects the files that the tools of a run create, for the key `owner`; `before` are those from before a pause. */
export function createArtifacts(
  store: Pick<ArtifactStore, 'add' | 'maximumBytes'>,
  before: readonly Artifact[] = [],
  owner?: string,
) {
  const made = [...before]
  let count = made.length

  return {
    /** Throws `Refusal` if the file is too large or there are too many files. */
    async add(file: NewArtifact): Promise<Artifact> {
      if (file.bytes.length > store.maximumBytes) {
        throw new Refusal(`A file may have at most ${store.maximumBytes} bytes`)
      }
      if (count >= MAX_ARTIFACTS) {
        throw new Refusal(`At most ${MAX_ARTIFACTS} files can be made for one question`)
      }
      count += 1
      const artifact = toArtifact(await store.add({ ...file, owner }))
      made.push(artifact)
      return artifact
    },
    all: () => [...made],
  }
}

function toArtifact({ expiresAt, ...artifact }: StoredArtifact): Artifact {
  return {
    ...artifact,
    url: `/artifacts/${artifact.id}`,
    expiresAt: new Date(expiresAt).toISOString(),
  }
}

/** How long a link gives access to its file without an API key: it may outlive a right for as long. */
const LINK_MS = 600_000
/** By how much the clock of the server that signed may be ahead. */
const SKEW_MS = 60_000

interface SignedLink {
  until: string
  signature: string
  for?: string | undefined
}

export type ArtifactLinks = ReturnType<typeof createArtifactLinks>

/** Signed links that give access to one file without an API key, for ten minutes; signed with the server's key. */
export function createArtifactLinks(serverKey: string, now = Date.now) {
  const sign = (...parts: (string | undefined)[]) =>
    createHmac('sha256', serverKey)
      .update(`artifact ${JSON.stringify(parts)}`)
      .digest('base64url')
  /** Names the person for whom it was made; a key has none. */
  const linkFor = (id: string, person: string | undefined): string => {
    const until = String(now() + LINK_MS)
    const query = { until, ...(person && { for: person }), signature: sign(id, until, person) }
    return `/artifacts/${id}?${new URLSearchParams(query)}`
  }

  return {
    linkFor,
    /** Wraps a store so that new files come with a link. */
    withLinks: <Store extends Pick<ArtifactStore, 'add'>>(store: Store): Store => ({
      ...store,
      async add(file: Parameters<Store['add']>[0]) {
        const artifact = await store.add(file)
        const person = file.owner?.startsWith('user:') ? file.owner : undefined
        return { ...artifact, link: linkFor(artifact.id, person) }
      },
    }),
    /** Whether a link is valid: signed with the server's key and not expired. */
    opens(id: string, { until, signature, for: person }: SignedLink): boolean {
      const left = Number(until) - now()
      return (
        isSameSecret(signature, sign(id, until, person)) && left > 0 && left <= LINK_MS + SKEW_MS
      )
    },
  }
}

const MAX_CHARACTERS = 60

/** Makes the first part of a file name from a text; the store makes the whole name safe. */
export function safeFileName(words: string): string {
  const plain = words.normalize('NFC').replaceAll(/[^\p{L}\p{N}]+/gu, '-')
  return (
    [...plain]
      .slice(0, MAX_CHARACTERS)
      .join('')
      .replaceAll(/^-+|(?<!-)-+$/g, '') || 'file'
  )
}
