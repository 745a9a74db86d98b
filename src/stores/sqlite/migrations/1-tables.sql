-- Rows refer to a document by its number, which is never used again and orders the list, as clients may choose ids.
-- Texts and chunks carry a revision, so that an old one can serve while its replacement is made. `counts` is kept by
-- triggers: it is polled, and must be exact without a scan.

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
