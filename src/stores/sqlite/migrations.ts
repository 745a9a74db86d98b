import type { DatabaseSync } from 'node:sqlite'
import { integer } from '../rows.ts'
import { unavailable } from './error.ts'

/** Marks a file as ours ("AgSv"), so that another program's database is never migrated by mistake. */
const APPLICATION_ID = 0x41_67_53_76

/**
 * Step `n` brings a database from version `n` to `n + 1`. A step that has been released is never changed:
 * what it made is on people's disks.
 *
 * Rows refer to a document by its number, which is never used again and orders the list, as clients may
 * choose ids. Texts and chunks carry a revision, so that an old one can serve while its replacement is made;
 * what else the replacement changes waits in `replacements`. `counts` is kept by triggers: it is polled, and
 * must be exact without a scan. So is `metadata`, a row per value: filters look values up there.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    title TEXT,
    url TEXT,
    status TEXT NOT NULL,
    error_code TEXT,
    error_message TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 1,
    chunk_count INTEGER NOT NULL DEFAULT 0,
    characters INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX documents_of_status ON documents (status, number);

  CREATE TABLE contents (
    document INTEGER NOT NULL REFERENCES documents (number),
    revision INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (document, revision)
  ) STRICT;

  CREATE TABLE jobs (
    document INTEGER PRIMARY KEY REFERENCES documents (number),
    revision INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    claim INTEGER
  ) STRICT;
  CREATE INDEX jobs_waiting ON jobs (run_at, document) WHERE claim IS NULL;
  CREATE INDEX jobs_claimed ON jobs (claim) WHERE claim IS NOT NULL;

  CREATE TABLE chunks (
    key INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (number),
    revision INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX chunks_of_document ON chunks (document, revision, ordinal);

  CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES ('next_chunk_key', 1), ('last_claim', 0), ('last_check', 0);

  CREATE TABLE counts (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO counts VALUES
    ('pending', 0), ('processing', 0), ('ready', 0), ('failed', 0), ('chunks', 0), ('jobs', 0);

  CREATE TRIGGER document_added AFTER INSERT ON documents BEGIN
    UPDATE counts SET value = value + 1 WHERE name = new.status;
  END;
  CREATE TRIGGER document_removed AFTER DELETE ON documents BEGIN
    UPDATE counts SET value = value - 1 WHERE name = old.status;
    UPDATE counts SET value = value - old.chunk_count WHERE name = 'chunks';
  END;
  CREATE TRIGGER document_moved AFTER UPDATE OF status ON documents
  WHEN new.status <> old.status BEGIN
    UPDATE counts SET value = value - 1 WHERE name = old.status;
    UPDATE counts SET value = value + 1 WHERE name = new.status;
  END;
  CREATE TRIGGER document_chunked AFTER UPDATE OF chunk_count ON documents
  WHEN new.chunk_count <> old.chunk_count BEGIN
    UPDATE counts SET value = value + new.chunk_count - old.chunk_count WHERE name = 'chunks';
  END;
  CREATE TRIGGER job_added AFTER INSERT ON jobs BEGIN
    UPDATE counts SET value = value + 1 WHERE name = 'jobs';
  END;
  CREATE TRIGGER job_removed AFTER DELETE ON jobs BEGIN
    UPDATE counts SET value = value - 1 WHERE name = 'jobs';
  END;
  `,
  `
  ALTER TABLE documents ADD COLUMN metadata TEXT;
  ALTER TABLE documents ADD COLUMN served_revision INTEGER;
  UPDATE documents SET served_revision = revision WHERE status = 'ready';

  CREATE TABLE replacements (
    document INTEGER PRIMARY KEY REFERENCES documents (number),
    title TEXT,
    url TEXT,
    metadata TEXT,
    characters INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE idempotency_keys (
    key TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (number)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_keys_of_document ON idempotency_keys (document);

  CREATE TABLE metadata (
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    value ANY NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (number),
    PRIMARY KEY (name, kind, value, document)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX metadata_of_document ON metadata (document);

  CREATE TRIGGER metadata_added AFTER INSERT ON documents
  WHEN new.metadata IS NOT NULL BEGIN
    INSERT INTO metadata (name, kind, value, document)
    SELECT key,
      CASE WHEN type = 'text' THEN 'string' WHEN type IN ('true', 'false') THEN 'boolean' ELSE 'number' END,
      value, new.number
    FROM json_each(new.metadata);
  END;
  CREATE TRIGGER metadata_changed AFTER UPDATE OF metadata ON documents
  WHEN new.metadata IS NOT old.metadata BEGIN
    DELETE FROM metadata WHERE document = new.number;
    INSERT INTO metadata (name, kind, value, document)
    SELECT key,
      CASE WHEN type = 'text' THEN 'string' WHEN type IN ('true', 'false') THEN 'boolean' ELSE 'number' END,
      value, new.number
    FROM json_each(new.metadata);
  END;
  CREATE TRIGGER metadata_removed AFTER DELETE ON documents
  WHEN old.metadata IS NOT NULL BEGIN
    DELETE FROM metadata WHERE document = old.number;
  END;
  `,
  // The index on the key lists the keys without reading the vectors. The next vectors are made beside those in use.
  `
  CREATE TABLE vectors (
    key INTEGER PRIMARY KEY REFERENCES chunks (key) ON DELETE CASCADE,
    vector BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX vectors_key ON vectors (key);

  CREATE TABLE next_vectors (
    key INTEGER PRIMARY KEY REFERENCES chunks (key) ON DELETE CASCADE,
    vector BLOB NOT NULL
  ) STRICT;

  CREATE TABLE embeddings (
    vectors TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES ('vectors_generation', 1);
  `,
  // A file without a document is one that is being sent. In pieces, so that none is ever in memory whole.
  `
  ALTER TABLE documents ADD COLUMN file TEXT;
  ALTER TABLE replacements ADD COLUMN file TEXT;
  ALTER TABLE chunks ADD COLUMN page INTEGER;
  ALTER TABLE chunks ADD COLUMN page_end INTEGER;

  CREATE TABLE files (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER REFERENCES documents (number),
    revision INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX files_of_document ON files (document, revision);

  CREATE TABLE file_pieces (
    file INTEGER NOT NULL REFERENCES files (number) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (file, ordinal)
  ) STRICT;
  `,
  // Tables are few among documents, and asked for by name; `filter.ts` has the same condition.
  `
  CREATE INDEX documents_tables ON documents (number)
  WHERE lower(substr(coalesce(json_extract(file, '$.name'), title), -4))
    IN ('.csv', '.tsv', 'xlsx', 'quet', 'sonl', 'json');
  `,
  // Written by a trigger, and so in the transaction that ends an ingestion, whoever ends it.
  `
  CREATE TABLE announcements (
    document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
    id TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    status TEXT NOT NULL,
    error_code TEXT,
    error_message TEXT,
    ended_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX announcements_due ON announcements (due_at);
  INSERT INTO meta VALUES ('announcing', 0);

  CREATE TRIGGER document_ended AFTER UPDATE OF status ON documents
  WHEN new.status <> old.status AND new.status IN ('ready', 'failed')
    AND (SELECT value FROM meta WHERE name = 'announcing') = 1 BEGIN
    INSERT OR REPLACE INTO announcements
      (document, id, revision, status, error_code, error_message, ended_at, due_at)
    VALUES (new.number, 'msg_' || lower(hex(randomblob(16))), new.revision, new.status,
      new.error_code, new.error_message, new.updated_at, new.updated_at);
  END;
  `,
  // Tells this database from every other: an index that was made of another one is of no use.
  `
  INSERT INTO meta VALUES ('identity', abs(random() >> 11));
  `,
]

export interface Migration {
  from: number
  to: number
}

/** Brings the database to the newest version, each step in a transaction of its own. Throws as `schemaVersion`. */
export function migrate(database: DatabaseSync, steps: readonly string[] = MIGRATIONS): Migration {
  const from = schemaVersion(database, steps.length)
  for (const [version, step] of steps.entries()) {
    if (version >= from) apply(database, step, version + 1)
  }
  return { from, to: steps.length }
}

/** Reads the version and changes nothing. Throws `store_unavailable` for a database of a newer server or of another program. */
export function schemaVersion(database: DatabaseSync, known: number = MIGRATIONS.length): number {
  const version = integer(database.prepare('PRAGMA user_version').get(), 'user_version')
  const owner = integer(database.prepare('PRAGMA application_id').get(), 'application_id')
  const tables = integer(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get(), 'n')
  const isNew = owner === 0 && version === 0 && tables === 0
  if (owner !== APPLICATION_ID && !isNew) {
    throw unavailable('It belongs to another program. Set DATA_DIR to a directory of its own.')
  }
  if (version > known) {
    throw unavailable(
      `It was written by a newer server (schema ${version}; this one knows up to ${known}). Start the newer server again, or restore a backup made before the upgrade.`,
    )
  }
  return version
}

function apply(database: DatabaseSync, step: string, version: number): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    database.exec(step)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`)
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
