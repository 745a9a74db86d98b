import { createHmac } from 'node:crypto'
import { isSameSecret } from '../../lib/same-secret.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'

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
