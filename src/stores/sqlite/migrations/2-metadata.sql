-- What else a replacement changes waits in `replacements`. `metadata`, a row per value, is kept by triggers: filters look
-- values up there.

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
