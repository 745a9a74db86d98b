-- The index on the key lists the keys without reading the vectors. The next vectors are made beside those in use.

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
