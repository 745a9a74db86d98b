-- Who may read a document: its creator, whoever `access` includes or, without one, whoever its collection includes. The
-- entries of equal lists are stored once, under a digest (`access_list`). Once released, this file is never changed: see
-- `migrate.ts`.

ALTER TABLE documents ADD COLUMN creator text COLLATE "C", ADD COLUMN access text, ADD COLUMN access_list text COLLATE "C";
ALTER TABLE replacements ADD COLUMN access text;
CREATE INDEX documents_of_creator ON documents (creator, number) WHERE creator IS NOT NULL;
CREATE INDEX documents_of_access ON documents (access_list, number) WHERE access_list IS NOT NULL;

CREATE TABLE access_entries (
  principal text COLLATE "C" NOT NULL,
  list text COLLATE "C" NOT NULL,
  PRIMARY KEY (principal, list)
);

-- Collections that people share; the documents of others are seen by administrators alone.
CREATE TABLE collections (
  name text COLLATE "C" PRIMARY KEY,
  creator text COLLATE "C",
  created_at bigint NOT NULL
);

-- Names that keys, folders and administrators use: no person can take them, also when no document is left.
CREATE TABLE reserved_collections (name text COLLATE "C" PRIMARY KEY);
INSERT INTO reserved_collections (name)
  SELECT collection FROM documents WHERE length(collection) <= 64
  UNION SELECT collection FROM replacements WHERE length(collection) <= 64
  UNION SELECT name FROM api_keys, jsonb_array_elements_text(collections::jsonb) AS name WHERE length(name) <= 64;

CREATE TABLE collection_access (
  collection text COLLATE "C" NOT NULL REFERENCES collections (name) ON DELETE CASCADE,
  principal text COLLATE "C" NOT NULL,
  role text NOT NULL,
  PRIMARY KEY (principal, collection, role)
);
CREATE INDEX collection_access_of_collection ON collection_access (collection);
