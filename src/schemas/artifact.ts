import { z } from 'zod'

export const Artifact = z
  .object({
    id: z.string(),
    name: z.string().describe('A file name without folders.'),
    mediaType: z.string(),
    size: z.int().describe('In bytes.'),
    url: z.string().describe('Path of this server, behind the key.'),
    link: z
      .string()
      .optional()
      .describe(
        'Path of this server that gives the file to whoever has it, without a key, for an hour.',
      ),
    expiresAt: z.iso
      .datetime()
      .describe('From then on it is gone; earlier, where newer artifacts need the room.'),
  })
  .meta({
    id: 'Artifact',
    description: 'A file that a tool made.',
    examples: [
      {
        id: 'art_0198c5f28f2e7c1b9d580c9f5f0f4a11',
        name: 'sales.png',
        mediaType: 'image/png',
        size: 6_021,
        url: '/artifacts/art_0198c5f28f2e7c1b9d580c9f5f0f4a11',
        expiresAt: '2026-11-28T09:30:00.000Z',
      },
    ],
  })

/** Present in an answer only if tools made files. */
export const ARTIFACTS = z
  .array(Artifact)
  .optional()
  .describe('The files that tools made in the run. Absent where there are none.')

export const ArtifactParams = z.object({ id: z.string().min(1).max(64) })
/** The query string of a `link`. */
export const ArtifactLink = z.object({
  until: z.string().max(16).optional(),
  signature: z.string().max(64).optional().describe('In place of a key.'),
})

export type Artifact = z.output<typeof Artifact>
