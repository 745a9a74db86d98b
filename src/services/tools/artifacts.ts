import { createHmac } from 'node:crypto'
import { isSameSecret } from '../../lib/same-secret.ts'
import type { Artifact } from '../../schemas/artifact.ts'
import type { ArtifactStore, NewArtifact, StoredArtifact } from '../../stores/artifact-store.ts'
import { ToolFailure } from './tool-error.ts'

/** Files that the tools of one run may make. */
const MAX_ARTIFACTS = 50

/** What was made before, by its identifier; nothing where it is gone. */
export type ArtifactReader = Pick<ArtifactStore, 'read'>

export type Artifacts = ReturnType<typeof createArtifacts>

/** The files that the tools of one run made, for the key `owner`, after those that it made before it was paused. */
export function createArtifacts(
  store: Pick<ArtifactStore, 'add' | 'maximumBytes'>,
  before: readonly Artifact[] = [],
  owner?: string,
) {
  const made = [...before]
  let begun = made.length

  return {
    /** Throws `ToolFailure` where the file is too large or one too many. */
    async add(file: NewArtifact): Promise<Artifact> {
      if (file.bytes.length > store.maximumBytes) {
        throw new ToolFailure(`A file may have at most ${store.maximumBytes} bytes`)
      }
      if (begun >= MAX_ARTIFACTS) {
        throw new ToolFailure(`At most ${MAX_ARTIFACTS} files can be made for one question`)
      }
      begun += 1
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

/** How long a link opens its file without a key. */
const LINK_MS = 3_600_000

export type ArtifactLinks = ReturnType<typeof createArtifactLinks>

/** Paths that open one file without a key: signed with a key of the server's own, and for an hour. */
export function createArtifactLinks(serverKey: string, now = Date.now) {
  const sign = (id: string, until: string) =>
    createHmac('sha256', serverKey).update(`artifact ${id} until ${until}`).digest('base64url')

  return {
    /** The store, whose new files come with their links. */
    withLinks: <Store extends Pick<ArtifactStore, 'add'>>(store: Store): Store => ({
      ...store,
      async add(file: Parameters<Store['add']>[0]) {
        const artifact = await store.add(file)
        const until = String(now() + LINK_MS)
        const query = `until=${until}&signature=${sign(artifact.id, until)}`
        return { ...artifact, link: `/artifacts/${artifact.id}?${query}` }
      },
    }),
    /** Whether this server has given this link, less than an hour ago. */
    opens: (id: string, { until, signature }: { until: string; signature: string }): boolean =>
      isSameSecret(signature, sign(id, until)) && Number(until) > now(),
  }
}

const MAX_CHARACTERS = 60

/** The beginning of a file name from words; the store makes the rest of it safe. */
export function safeFileName(words: string): string {
  const plain = words.normalize('NFC').replaceAll(/[^\p{L}\p{N}]+/gu, '-')
  return (
    [...plain]
      .slice(0, MAX_CHARACTERS)
      .join('')
      .replaceAll(/^-+|-+$/g, '') || 'file'
  )
}
