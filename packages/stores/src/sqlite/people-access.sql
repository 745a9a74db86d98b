-- Who may read a document: its creator, whoever `access` includes or, without one, whoever its collection includes. The
-- entries of equal lists are stored once, under a digest (`access_list`). Once released, this file is never changed: see
-- `migrate.ts`.

ALTER TABLE documents ADD COLUMN creator TEXT;
ALTER TABLE documents ADD COLUMN access TEXT;
ALTER TABLE documents ADD COLUMN access_list TEXT;
ALTER TABLE replacements ADD COLUMN access TEXT;
CREATE INDEX documents_of_creator ON documents (creator, number) WHERE creator IS NOT NULL;
CREATE INDEX documents_of_access ON documents (access_list, number) WHERE access_list IS NOT NULL;

CREATE TABLE access_entries (
  principal TEXT NOT NULL,
  list TEXT NOT NULL,
  PRIMARY KEY (principal, list)
) STRICT, WITHOUT ROWID;

-- Collections that people share; the documents of others are seen by administrators alone.
CREATE TABLE collections (
  name TEXT PRIMARY KEY,
  creator TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Names that keys, folders and administrators use: no person can take them, also when no document is left.
CREATE TABLE reserved_collections (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO reserved_collections (name)
  SELECT collection FROM documents WHERE length(collection) <= 64
  UNION SELECT collection FROM replacements WHERE length(collection) <= 64
  UNION SELECT value FROM api_keys, json_each(collections) WHERE length(value) <= 64;

CREATE TABLE collection_access (
  collection TEXT NOT NULL REFERENCES collections (name) ON DELETE CASCADE,
  principal TEXT NOT NULL,
  role TEXT NOT NULL,
  PRIMARY KEY (principal, collection, role)
) STRICT, WITHOUT ROWID;
CREATE INDEX collection_access_of_collection ON collection_access (collection);
