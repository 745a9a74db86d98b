import type { Artifact } from '@agent-server/schemas/artifact.ts'

/** An artifact that no store has. */
export const ARTIFACT: Artifact = {
  id: 'art_1',
  name: 'chart.png',
  mediaType: 'image/png',
  size: 3,
  url: '/artifacts/art_1',
  expiresAt: '2026-11-28T09:30:00.000Z',
}

/** What stands at the end of a run of which there is nothing more to say. */
export const NOTHING_MORE = {
  artifacts: [],
  limitsReached: [],
  degraded: false,
  citations: [],
  unknownCitations: [],
}
