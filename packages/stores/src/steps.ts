/**
 * The steps of the schema in both databases, each a file in either folder. Step `n` migrates from version `n` to `n + 1`.
 * A released step is never changed: its result is on users' disks.
 */
export const STEP_FILES = [
  './schema.sql',
  './feedback.sql',
  './found-tables.sql',
  './file-digests.sql',
  './chunk-contexts.sql',
  './evaluation.sql',
  './evaluation-runs.sql',
  './picture-chunks.sql',
  './visibility.sql',
  './collection-names.sql',
  './people-access.sql',
  './people.sql',
  './text-digests.sql',
  './runs.sql',
  './shared-conversations.sql',
  './usage.sql',
  './name-owners.sql',
  './artifact-digests.sql',
]
