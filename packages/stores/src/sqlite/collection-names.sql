-- What clients call collections. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE collection_names (
  collection TEXT PRIMARY KEY,
  name TEXT NOT NULL
) STRICT, WITHOUT ROWID;
