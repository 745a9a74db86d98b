-- What clients call collections. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE collection_names (
  collection text COLLATE "C" PRIMARY KEY,
  name text NOT NULL
);
