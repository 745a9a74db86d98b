import { z } from 'zod'

export const Artifact = z
  .object({
    id: z.string().describe('Identifier of the artifact.'),
    name: z.string().describe('File name without a path.'),
    mediaType: z.string().describe('Media type of the file.'),
    size: z.int().describe('Size in bytes.'),
    url: z.string().describe('Path on this server; requires a key.'),
    link: z
      .string()
      .optional()
      .describe(
        'Path on this server that works without a key for ten minutes. A stored answer has a new one each time a person reads it.',
      ),
    expiresAt: z.iso
      .datetime()
      .describe(
        'When the file is deleted; it may be deleted earlier to make room for newer artifacts, first of the key that has the most.',
      ),
  })
  .meta({
    id: 'Artifact',
    description: 'A file created by a tool.',
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
  .describe('Files created by tools in this run. Absent if there are none.')

export const ArtifactParams = z.object({
  id: z.string().min(1).max(64).describe('Identifier of the artifact.'),
})
/** The query string of a `link`. */
export const ArtifactLink = z.object({
  until: z.string().max(16).optional().describe('When the link expires, as in `link`.'),
  for: z
    .string()
    .max(300)
    .optional()
    .describe('The person for whom the link was made, as in `link`.'),
  signature: z.string().max(64).optional().describe('Replaces the key.'),
})

export type Artifact = z.output<typeof Artifact>
