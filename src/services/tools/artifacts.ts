import type { Artifact } from '../../schemas/artifact.ts'
import type { ArtifactStore, NewArtifact, StoredArtifact } from '../../stores/artifact-store.ts'
import { ToolFailure } from './tool-error.ts'

/** Files that the tools of one run may make. */
const MAXIMUM_ARTIFACTS = 50

/** The files that the tools of one run made. */
export interface Artifacts {
  /** Throws `ToolFailure` where the file is too large or one too many. */
  add(file: NewArtifact): Promise<Artifact>
  all(): Artifact[]
}

export function createArtifacts(store: Pick<ArtifactStore, 'add' | 'maximumBytes'>): Artifacts {
  const made: Artifact[] = []
  let begun = 0

  return {
    async add(file) {
      if (file.bytes.length > store.maximumBytes) {
        throw new ToolFailure(`A file may have at most ${store.maximumBytes} bytes`)
      }
      if (begun >= MAXIMUM_ARTIFACTS) {
        throw new ToolFailure(`At most ${MAXIMUM_ARTIFACTS} files can be made for one question`)
      }
      begun += 1
      const artifact = toArtifact(await store.add(file))
      made.push(artifact)
      return artifact
    },
    all: () => [...made],
  }
}

export function toArtifact({ expiresAt, ...artifact }: StoredArtifact): Artifact {
  return {
    ...artifact,
    url: `/artifacts/${artifact.id}`,
    expiresAt: new Date(expiresAt).toISOString(),
  }
}
